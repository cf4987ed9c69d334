// SPDX-License-Identifier: Apache-2.0
#include "formats/hint_list.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"

namespace tailrace::formats {

namespace {

constexpr const char* remedy =
    "write \"PATTERN:KEY=VALUE[:KEY=VALUE...]\", for example \"*:romio_cb_write=disable\"; several "
    "are separated by commas";

core::Error wrong(const std::string& message) {
    return {core::Code::bad_input, message, "", remedy};
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// In a job script the list stands in quotation marks; in a line of input they come with it.
std::string unquoted(const std::string& given) {
    std::string text = trimmed(given);
    const bool marked = text.size() >= 2 && (text[0] == '"' || text[0] == '\'');
    if (!marked) return text;
    if (text.back() != text[0])
        throw wrong("the quotation mark at the begin of " + core::in_quotes(text) +
                    " is not closed");
    return text.substr(1, text.size() - 2);
}

/// "4" of cb_config_list=*:4, "2,b" of a:2,b:2: no key begins so.
bool continues_value(const std::string& part) {
    return !part.empty() && (part[0] == '*' || (part[0] >= '0' && part[0] <= '9'));
}

/// A comma inside a value: what follows is "host:2", and not "pattern:key".
bool continues_specification(const std::string& part) {
    const std::vector<std::string> words = split(part, ':');
    return words.size() == 1 ? continues_value(part)
                             : std::all_of(words.begin() + 1, words.end(), continues_value);
}

std::vector<std::string> specifications(const std::string& text) {
    std::vector<std::string> all;
    for (std::string& part : split(text, ',')) {
        const bool in_value = !all.empty() && all.back().find('=') != std::string::npos;
        if (in_value && continues_specification(part))
            all.back() += "," + part;
        else
            all.push_back(std::move(part));
    }
    return all;
}

bool matches(const std::string& pattern, const std::filesystem::path& file) {
    return ::fnmatch(pattern.c_str(), file.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), file.filename().c_str(), 0) == 0;
}

Hints hints_of_specification(const std::string& specification, std::string& pattern) {
    const std::vector<std::string> words = split(specification, ':');
    pattern = words.front();
    if (pattern.empty())
        throw wrong("no file pattern stands before the first colon of " +
                    core::in_quotes(specification));
    if (words.size() == 1) throw wrong("there is no hint in " + core::in_quotes(specification));
    Hints hints;
    std::string last;
    for (auto word = words.begin() + 1; word != words.end(); ++word) {
        const std::size_t equals = word->find('=');
        if (equals == std::string::npos && !last.empty() && continues_value(*word)) {
            hints[last] += ":" + *word;
            continue;
        }
        last = word->substr(0, equals);
        if (last.empty()) throw wrong("a hint without a name in " + core::in_quotes(specification));
        const std::string value = equals == std::string::npos ? "true" : word->substr(equals + 1);
        if (value.empty()) throw wrong("hint " + last + " has no value");
        hints[last] = value;
    }
    return hints;
}

/// "enable" and "ENABLE"; "Enable" is none of ROMIO's.
bool is_one_of(const std::string& value, const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        std::string upper = word;
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](char c) { return static_cast<char>(c - 'a' + 'A'); });
        return value == word || value == upper;
    });
}

}  // namespace

std::vector<std::string> values_left_out(const Hints& hints) {
    const std::vector<std::string> modes{"enable", "disable", "automatic"};
    const std::vector<std::string> flags{"true", "false"};
    const std::vector<std::pair<std::string, const std::vector<std::string>*>> known{
        {"romio_cb_read", &modes},  {"romio_cb_write", &modes},    {"romio_ds_read", &modes},
        {"romio_ds_write", &modes}, {"romio_no_indep_rw", &flags}, {"direct_read", &flags},
        {"direct_write", &flags},
    };
    std::vector<std::string> found;
    for (const auto& [name, values] : known) {
        const auto given = hints.find(name);
        if (given == hints.end() || is_one_of(given->second, *values)) continue;
        std::string words;
        for (const std::string& word : *values) words += (words.empty() ? "" : ", ") + word;
        found.push_back("ROMIO leaves out the hint " + name + "=" + given->second + ": it knows " +
                        words);
    }
    return found;
}

Hints hints_from_list(const std::string& text, const std::filesystem::path& file) {
    Hints all;
    for (const std::string& specification : specifications(unquoted(text))) {
        std::string pattern;
        const Hints some = hints_of_specification(trimmed(specification), pattern);
        if (!matches(pattern, file)) continue;
        for (const auto& [key, value] : some) all[key] = value;
    }
    return all;
}

}  // namespace tailrace::formats
