// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"

#include <algorithm>

#include "core/config_values.hpp"

namespace tailrace::core {

namespace {
bool may_hold_hash(Shape shape) {
    return shape == Shape::text || shape == Shape::words || shape == Shape::pairs;
}

/// The value without a comment behind it. In a file name a '#' inside a word belongs to the word.
std::string_view without_comment(std::string_view value, bool hash_inside_words) {
    for (std::size_t i = 0; i < value.size(); ++i)
        if (value[i] == '#' && (!hash_inside_words || i == 0 || is_blank(value[i - 1])))
            return trimmed(value.substr(0, i));
    return trimmed(value);
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return result;
}

Error unknown(const KeyTable& table, std::string_view name, const std::string& place) {
    std::vector<std::string> names{"DONE"};
    for (const Key& key : table.keys()) names.push_back(key.name);
    std::string message = "unknown key " + in_quotes(name);
    const std::string guess = nearest(name, names);
    const auto equals = name.find('=');
    if (equals != std::string_view::npos && table.find(name.substr(0, equals)))
        return {Code::unknown_key, message, place,
                "key=value belongs on the command line; in a file write `" +
                    KeyTable::usage(*table.find(name.substr(0, equals))) + "`"};
    if (!guess.empty()) message += ". Did you mean " + in_quotes(guess) + "?";
    return {Code::unknown_key, message, place, "--help lists all keys"};
}

std::string_view first_word(std::string_view line) {
    return line.substr(0, std::min(line.find_first_of(" \t#\r"), line.size()));
}

void forbid_zero_bytes(std::string_view text, const std::string& place) {
    if (text.find('\0') != std::string_view::npos)
        throw Error(Code::bad_input, "the line holds a zero byte", place,
                    "give a text file, not a binary one");
}

}  // namespace

std::string_view name(Origin source) noexcept {
    switch (source) {
        case Origin::default_value:
            return "default";
        case Origin::file:
            return "file";
        case Origin::environment:
            return "environment";
        case Origin::command_line:
            return "command line";
    }
    return "default";
}

bool is_done(std::string_view line) noexcept {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    return first_word(line) == "DONE";
}

void Config::add_lines(std::string_view text, const std::string& origin, bool needs_done) {
    std::size_t line_number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        line = trimmed(line);
        const std::string place = origin + ":" + std::to_string(++line_number);
        const std::string_view key = first_word(line);
        if (key.empty()) continue;
        forbid_zero_bytes(line, place);
        if (is_done(line)) return;
        const Key* known = x_table.find(key);
        if (!known) throw unknown(x_table, key, place);
        set(known->name, without_comment(line.substr(key.size()), may_hold_hash(known->shape)),
            true, Origin::file, place);
    }
    if (needs_done)
        throw Error(Code::bad_input,
                    "the input ended after " + std::to_string(line_number) + " lines without DONE",
                    origin, "end the input with a line `DONE`");
}

void Config::add_argument(const std::string& argument) {
    const std::string place = "<command line>";
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const Key* key = x_table.find(name);
    if (!key) throw unknown(x_table, name, place);
    if (equals == std::string::npos && key->shape != Shape::flag)
        throw Error(Code::bad_input, name + " needs a value", place, "write " + name + "=VALUE");
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (equals != std::string::npos && value.empty() && key->shape == Shape::flag)
        throw bad_value(*key, place, name + " is on or off, not " + in_quotes(value));
    set(name, trimmed(value), equals != std::string::npos, Origin::command_line, place);
}

void Config::add_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                             std::string_view prefix) {
    for (const auto& [variable, text] : variables) {
        if (variable.substr(0, prefix.size()) != prefix) continue;
        const std::string name = lower(std::string_view(variable).substr(prefix.size()));
        const Key* key = x_table.find(name);
        if (!key) {
            std::vector<std::string> names;
            for (const Key& known : x_table.keys()) names.push_back(known.name);
            const std::string guess = nearest(name, names);
            throw Error(
                Code::unknown_key,
                "the environment variable stands for no key" +
                    (guess.empty()
                         ? ""
                         : ". Did you mean " + in_quotes(std::string(prefix) + upper(guess)) + "?"),
                variable, "unset it, or take the name of a key that --help lists");
        }
        if (trimmed(text).empty()) continue;  // as if it were not set, for every shape
        if (key->shape != Shape::pairs) {
            set(name, trimmed(text), true, Origin::environment, variable);
            continue;
        }
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find(';', at), text.size());
            const std::string_view one = trimmed(std::string_view(text).substr(at, end - at));
            if (!one.empty()) set(name, one, true, Origin::environment, variable);
            at = end + 1;
        }
    }
}

void Config::add_value(const std::string& name, std::string_view text, Origin source,
                       const std::string& place) {
    if (!x_table.find(name)) throw unknown(x_table, name, place);
    set(name, trimmed(text), true, source, place);
}

void Config::set(const std::string& name, std::string_view text, bool has_value, Origin source,
                 const std::string& place) {
    const Key& key = *x_table.find(name);
    if (has_value) forbid_zero_bytes(text, place);
    Given fresh;
    fresh.value = value_of(key, text, place);
    fresh.text = canonical(fresh.value, text);
    fresh.source = source;
    fresh.place = place;
    if (const auto* pairs = std::get_if<NamedValues>(&fresh.value))
        fresh.pair_places[pairs->begin()->first] = {source, place};
    if (key.repeatable) fresh.list_places = {place};
    merge(key, std::move(fresh));
}

void Config::merge(const Key& key, Given&& fresh) {
    const auto found = x_values.find(key.name);
    if (found == x_values.end()) {
        x_values.emplace(key.name, std::move(fresh));
        return;
    }
    Given& old = found->second;
    if (key.shape == Shape::pairs) {
        const auto& [pair, value] = *std::get<NamedValues>(fresh.value).begin();
        const auto known = old.pair_places.find(pair);
        if (known != old.pair_places.end() && known->second.first == fresh.source)
            throw Error(Code::bad_input, key.name + " " + in_quotes(pair) + " is given twice",
                        fresh.place,
                        "it was given first at " + known->second.second + "; keep one");
        if (known != old.pair_places.end() && known->second.first > fresh.source) return;
        std::get<NamedValues>(old.value)[pair] = value;
        old.pair_places[pair] = {fresh.source, fresh.place};
        if (fresh.source >= old.source) {
            old.source = fresh.source;
            old.place = fresh.place;
        }
        return;
    }
    if (fresh.source < old.source) return;
    if (fresh.source > old.source) {
        old = std::move(fresh);
        return;
    }
    if (!key.repeatable)
        throw Error(
            Code::bad_input, key.name + " is given twice", fresh.place,
            "it was given first at " + old.place + " as " + in_quotes(old.text) + "; keep one");
    auto& lists = std::get<std::vector<Words>>(old.value);
    lists.push_back(std::get<std::vector<Words>>(fresh.value).front());
    old.list_places.push_back(fresh.place);
}

void Config::derive(const std::string& name, const std::string& text, const std::string& place) {
    x_values.erase(name);
    set(name, text, true, Origin::default_value, place);
}

void Config::forget(std::string_view name) {
    if (const auto found = x_values.find(name); found != x_values.end()) x_values.erase(found);
}

void Config::finish() {
    std::vector<std::string> missing;
    for (const Key& key : x_table.keys()) {
        if (x_values.count(key.name)) continue;
        if (key.required) missing.push_back(KeyTable::usage(key));
        if (!key.default_text.empty())
            set(key.name, key.default_text, true, Origin::default_value, "default");
        else if (key.shape == Shape::flag)
            set(key.name, "0", true, Origin::default_value, "default");
    }
    if (!missing.empty())
        throw Error(Code::missing_key,
                    "missing " + std::string(missing.size() > 1 ? "keys: " : "key: ") +
                        joined(missing, ", "),
                    "", "add the line `" + missing.front() + "`");
}

bool Config::given(std::string_view key) const noexcept {
    const auto found = x_values.find(key);
    return found != x_values.end() && found->second.source != Origin::default_value;
}

bool Config::has(std::string_view key) const noexcept {
    return x_values.find(key) != x_values.end();
}

const Config::Given& Config::require(std::string_view key) const {
    const auto found = x_values.find(key);
    if (found == x_values.end())
        throw Error(Code::internal, "no value for key " + in_quotes(key), "configuration",
                    "please report it");
    return found->second;
}

bool Config::flag(std::string_view key) const { return std::get<bool>(require(key).value); }
std::uint64_t Config::number(std::string_view key) const {
    return std::get<std::uint64_t>(require(key).value);
}
double Config::real(std::string_view key) const { return std::get<double>(require(key).value); }
const std::string& Config::text(std::string_view key) const {
    return std::get<std::string>(require(key).value);
}
const std::vector<std::uint64_t>& Config::tuple(std::string_view key) const {
    return std::get<std::vector<std::uint64_t>>(require(key).value);
}
const Words& Config::words(std::string_view key) const {
    return std::get<Words>(require(key).value);
}
const std::vector<Words>& Config::lists(std::string_view key) const {
    return std::get<std::vector<Words>>(require(key).value);
}
NamedValues Config::pairs(std::string_view key) const {
    return has(key) ? std::get<NamedValues>(require(key).value) : NamedValues{};
}

Origin Config::source(std::string_view key) const noexcept {
    const auto found = x_values.find(key);
    return found == x_values.end() ? Origin::default_value : found->second.source;
}

std::string Config::place(std::string_view key) const {
    const auto found = x_values.find(key);
    return found == x_values.end() ? std::string{} : found->second.place;
}

const std::vector<std::string>& Config::list_places(std::string_view key) const {
    return require(key).list_places;
}

Error Config::error(std::string_view key, std::string message, std::string remedy,
                    Code code) const {
    return {code, std::move(message), place(key), std::move(remedy)};
}

std::vector<Setting> Config::effective() const {
    std::vector<Setting> settings;
    for (const Key& key : x_table.keys()) {
        const auto found = x_values.find(key.name);
        if (found == x_values.end()) continue;
        const Given& given = found->second;
        settings.push_back({key.name, given.value, given.text, given.source, given.place});
    }
    return settings;
}

std::string Config::listing() const {
    std::string text;
    const auto add = [&text](const std::string& key, const std::string& value,
                             const std::string& place) {
        std::string line = key + (value.empty() ? "" : " " + value);
        line.resize(std::max<std::size_t>(line.size() + 1, 36), ' ');
        text += line + "# " + place + "\n";
    };
    for (const Setting& setting : effective()) {
        const Given& given = require(setting.key);
        if (const auto* pairs = std::get_if<NamedValues>(&setting.value)) {
            for (const auto& [pair, value] : *pairs)
                add(setting.key, pair + "=" + value, given.pair_places.at(pair).second);
        } else if (const auto* lists = std::get_if<std::vector<Words>>(&setting.value)) {
            for (std::size_t i = 0; i < lists->size(); ++i)
                add(setting.key, joined((*lists)[i], " "), given.list_places[i]);
        } else {
            add(setting.key, setting.text, setting.place);
        }
    }
    return text + "DONE\n";
}

}  // namespace tailrace::core
