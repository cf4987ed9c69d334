// SPDX-License-Identifier: Apache-2.0
#include "runner/describe.hpp"

#include <algorithm>

namespace tailrace::runner {

namespace {

using core::AttributeArray;
using core::AttributeScalar;

constexpr const char* root = "/";

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::vector<std::string> texts_of(const core::Value& value) {
    std::vector<std::string> texts;
    if (const auto* words = std::get_if<core::Words>(&value)) texts = *words;
    if (const auto* lists = std::get_if<std::vector<core::Words>>(&value))
        for (const core::Words& words : *lists) texts.push_back(joined(words));
    if (const auto* pairs = std::get_if<core::NamedValues>(&value))
        for (const auto& [name, text] : *pairs) texts.push_back(name + "=" + text);
    return texts;
}

/// One effective parameter as an attribute; empty lists are left out, not every format has them.
void add_setting(core::Schema& schema, const core::Setting& setting) {
    const auto add = [&](auto&& value) {
        schema.attributes.push_back({root, setting.key, std::forward<decltype(value)>(value)});
    };
    if (const auto* flag = std::get_if<bool>(&setting.value))
        add(AttributeScalar(std::int32_t{*flag ? 1 : 0}));
    else if (const auto* number = std::get_if<std::uint64_t>(&setting.value))
        add(AttributeScalar(*number));
    else if (const auto* real = std::get_if<double>(&setting.value))
        add(AttributeScalar(*real));
    else if (const auto* text = std::get_if<std::string>(&setting.value))
        add(AttributeScalar(*text));
    else if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&setting.value))
        add(AttributeArray(*numbers));
    else if (std::vector<std::string> texts = texts_of(setting.value); !texts.empty())
        add(AttributeArray(std::move(texts)));
}

}  // namespace

void describe(core::Schema& schema, const std::string& kernel, const core::Config& config,
              const std::vector<std::string>& left_out) {
    schema.attributes.push_back({root, "kernel", AttributeScalar(kernel)});
    schema.attributes.push_back({root, "schema", AttributeScalar("tailrace-" + kernel + "/1")});
    for (const core::Setting& setting : config.effective())
        if (std::find(left_out.begin(), left_out.end(), setting.key) == left_out.end())
            add_setting(schema, setting);
}

}  // namespace tailrace::runner
