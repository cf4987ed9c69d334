// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/schema.hpp"

#include <algorithm>
#include <limits>

namespace tailrace::kernels::seism {

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

void add_plain(core::Schema& schema, const Inputs& inputs) {
    const auto add = [&](const char* name, AttributeScalar value) {
        schema.attributes.push_back({root, name, std::move(value)});
    };
    add("kernel", std::string("seism"));
    add("schema", std::string("tailrace-seism/1"));
    for (const core::Setting& setting : inputs.config.effective()) {
        const bool said_below = setting.key == "fill" || setting.key == "use_function_argc" ||
                                (setting.key == "chunk" && !inputs.chunk);
        if (!said_below) add_setting(schema, setting);
    }
    add("fill", std::string(name(inputs.fill)));
    add("use_function_argc", static_cast<std::uint64_t>(inputs.plugin.arguments.size()));
}

/// 32 bits are all that the classic attribute has; what does not fit is shown as the largest.
template <class Narrow>
Narrow narrow(std::uint64_t value) {
    constexpr std::uint64_t largest = std::numeric_limits<Narrow>::max();
    return static_cast<Narrow>(std::min(value, largest));
}

core::Compound classic_compound(const Inputs& inputs) {
    const core::Config& config = inputs.config;
    const auto number = [&](const char* key) -> std::uint64_t {
        return config.has(key) ? config.number(key) : 0;
    };
    const auto flag = [&](const char* key) -> std::int32_t { return config.flag(key) ? 1 : 0; };
    core::Compound all{"/seismCoreAttributes", 184, {}};
    const auto add = [&](const char* name, std::uint64_t offset,
                         std::variant<AttributeScalar, AttributeArray> value) {
        all.members.push_back({name, offset, std::move(value)});
    };
    const core::Extents none{0, 0, 0};
    add("name", 0, AttributeScalar(std::string("my_attr")));
    add("processor_dims", 8, AttributeArray(inputs.geometry.processor));
    add("chunk_dims", 32, AttributeArray(inputs.chunk.value_or(none)));
    add("domain_dims", 56, AttributeArray(inputs.geometry.domain));
    add("simulation_time", 80, AttributeScalar(narrow<std::uint32_t>(inputs.geometry.steps)));
    add("n_nodes", 84, AttributeScalar(narrow<std::uint32_t>(number("n_nodes"))));
    add("subfile", 88, AttributeScalar(narrow<std::uint32_t>(number("subfile"))));
    add("collective_write", 92, AttributeScalar(flag("collective_write")));
    add("precreate", 96, AttributeScalar(flag("precreate")));
    add("set_collective_metadata", 100, AttributeScalar(flag("set_collective_metadata")));
    add("never_fill", 104, AttributeScalar(flag("never_fill")));
    add("deflate", 108, AttributeScalar(narrow<std::int32_t>(number("deflate"))));
    add("zfp", 112, AttributeScalar(narrow<std::int32_t>(number("zfp"))));
    add("use_function_lib", 120, AttributeScalar(inputs.plugin.library));
    add("use_function_name", 128, AttributeScalar(inputs.plugin.function));
    add("use_function_argc", 136,
        AttributeScalar(narrow<std::int32_t>(inputs.plugin.arguments.size())));
    add("use_function_argv", 144, AttributeScalar(joined(inputs.plugin.arguments)));
    return all;
}

}  // namespace

core::Schema schema_of(const Inputs& inputs) {
    core::Object dataset;
    dataset.path = object_path;
    dataset.type = core::Scalar::f32;
    for (std::uint64_t extent : inputs.geometry.dims()) dataset.dims.push_back({extent, false});
    core::Schema schema{{dataset}, {}};
    add_plain(schema, inputs);
    schema.attributes.push_back({root, "simulation_attributes", classic_compound(inputs)});
    return schema;
}

}  // namespace tailrace::kernels::seism
