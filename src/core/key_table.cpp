// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/config_values.hpp"

namespace tailrace::core {

namespace {

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return text;
}

std::string help_of(const Key& key) {
    std::string text = "  " + KeyTable::usage(key);
    text.resize(std::max<std::size_t>(text.size() + 2, 34), ' ');
    text += key.help;
    std::vector<std::string> notes;
    if (key.required) notes.push_back("required");
    if (!key.unit.empty()) notes.push_back("in " + key.unit);
    if (!key.default_text.empty()) notes.push_back("default " + key.default_text);
    if (key.repeatable || key.shape == Shape::pairs) notes.push_back("may be repeated");
    if (!key.used_by.empty()) notes.push_back("format " + joined(key.used_by, ", "));
    if (!notes.empty()) text += " (" + joined(notes, "; ") + ")";
    return text + "\n";
}

}  // namespace

void KeyTable::add(const Key& key) {
    const auto same = std::find_if(x_keys.begin(), x_keys.end(),
                                   [&](const Key& other) { return other.name == key.name; });
    if (same == x_keys.end()) {
        x_keys.push_back(key);
        return;
    }
    if (same->shape != key.shape || same->used_by.empty() || key.used_by.empty())
        throw Error(Code::internal, "key " + in_quotes(key.name) + " is registered twice",
                    "key table", "give one of them another name");
    for (const std::string& format : key.used_by)
        if (std::find(same->used_by.begin(), same->used_by.end(), format) == same->used_by.end())
            same->used_by.push_back(format);
}

const Key* KeyTable::find(std::string_view name) const noexcept {
    for (const Key& key : x_keys)
        if (key.name == name) return &key;
    return nullptr;
}

std::string KeyTable::usage(const Key& key) {
    switch (key.shape) {
        case Shape::flag:
            return key.name;
        case Shape::number:
            return key.name + " N";
        case Shape::real:
            return key.name + " " + (key.unit == "s" ? "SECONDS" : "X");
        case Shape::text:
            return key.name + " TEXT";
        case Shape::choice:
            return key.name + " " + joined(key.choices, "|");
        case Shape::words:
            return key.name + " " + (key.choices.empty() ? "WORDS..." : joined(key.choices, " "));
        case Shape::pairs:
            return key.name + " NAME=VALUE";
        case Shape::tuple:
            break;
    }
    std::string text = key.name;
    static constexpr std::string_view names[] = {"x", "y", "z", "w"};
    for (std::size_t d = 0; d < key.tuple_size; ++d)
        text += " " + upper(std::string(d < 4 ? names[d] : "n"));
    return text;
}

std::string KeyTable::help() const {
    std::vector<std::string> groups;
    for (const Key& key : x_keys)
        if (std::find(groups.begin(), groups.end(), key.group) == groups.end())
            groups.push_back(key.group);
    std::string text;
    for (const std::string& group : groups) {
        text += (text.empty() ? "" : "\n") + group + ":\n";
        for (const Key& key : x_keys)
            if (key.group == group) text += help_of(key);
    }
    return text;
}

}  // namespace tailrace::core
