// SPDX-License-Identifier: Apache-2.0
#include "intent/declare/declaration.hpp"

#include <set>

#include "core/config.hpp"
#include "core/json/document.hpp"

namespace tailrace::intent::declare {

namespace {

using json::Json;

constexpr std::string_view schema = "tailrace-declarations/1";
constexpr json::Kind list_kind{
    "", "declaration", R"(one looks like this: {"reliability": "scratch", "order": "sequential"})",
    true};
constexpr json::Kind document_kind{
    schema, "file of declarations",
    R"(one looks like this: {"files": {"chk_*.h5": {"reliability": "recomputable"}}})", true};

bool fits(const KeyInfo& info, Of of) { return info.of == Of::both || info.of == of; }

std::vector<std::string> names_for(Of of) {
    std::vector<std::string> names;
    for (const KeyInfo& info : keys())
        if (fits(info, of)) names.emplace_back(info.name);
    if (of == Of::file) names.emplace_back("datasets");
    return names;
}

/// The key of a name, where it can be declared of this.
const KeyInfo& key_of(const std::string& name, Of of, const std::string& where,
                      const std::string& place) {
    const KeyInfo* info = find_key(name);
    if (info == nullptr) throw json::unknown_key(where, place, name, names_for(of));
    if (!fits(*info, of))
        throw json::error_at(where, place,
                             core::in_quotes(name) + " is declared of " +
                                 (info->of == Of::file ? "files, and this is a dataset"
                                                       : "datasets, and this is a file"));
    return *info;
}

std::string word_of(const KeyInfo& info, const std::string& word, const std::string& where,
                    const std::string& place) {
    const std::vector<std::string> words = words_of(info);
    std::string all;
    for (const std::string& one : words) {
        if (one == word) return word;
        all += (all.empty() ? "" : ", ") + one;
    }
    const std::string guess = core::nearest(word, words);
    throw json::error_at(
        where, place,
        core::in_quotes(word) + " is none of its words." +
            (guess.empty() ? std::string() : " Did you mean " + core::in_quotes(guess) + "?"),
        "words here: " + all);
}

Setting value_of(const KeyInfo& info, const Json& value, const std::string& where,
                 const std::string& place) {
    if (info.kind == Kind::number) {
        if (!value.is_number_unsigned())
            throw json::error_at(
                where, place,
                "a whole number >= 0 of 64 bits is wanted here, not " + json::kind_of(value));
        return value.get<std::uint64_t>();
    }
    if (value.is_boolean() && info.words == "yes no")
        return std::string(value.get<bool>() ? "yes" : "no");
    if (!value.is_string())
        throw json::error_at(where, place, "a text is wanted here, not " + json::kind_of(value));
    return word_of(info, value.get<std::string>(), where, place);
}

std::string below(const std::string& place, const std::string& key) {
    return place.empty() ? key : place + "." + key;
}

Values values_of(const Json& object, Of of, const std::string& where, const std::string& place) {
    if (!object.is_object())
        throw json::error_at(where, place,
                             "an object is wanted here, not " + json::kind_of(object));
    Values values;
    for (const auto& [name, value] : object.items()) {
        if (of == Of::file && name == "datasets") continue;
        const KeyInfo& info = key_of(name, of, where, place);
        values[name] = value_of(info, value, where, below(place, name));
    }
    return values;
}

/// Calls `take(pattern, value, place)` for each pattern of an object.
template <class Take>
void each_pattern(const Json& object, const std::string& where, const std::string& place,
                  Take take) {
    if (!object.is_object())
        throw json::error_at(
            where, place,
            "patterns and what is declared of them are wanted here, not " + json::kind_of(object));
    if (object.size() > most_patterns)
        throw json::error_at(where, place,
                             "there are " + std::to_string(object.size()) +
                                 " patterns, and at most " + std::to_string(most_patterns) +
                                 " are taken");
    for (const auto& [pattern, value] : object.items()) {
        if (pattern.empty()) throw json::error_at(where, place, "a pattern is empty");
        if (pattern.size() > most_pattern_bytes || pattern.find('\0') != std::string::npos)
            throw json::error_at(
                where, place,
                "a pattern has at most " + std::to_string(most_pattern_bytes) + " bytes, none 0");
        take(pattern, value, place + "[" + core::in_quotes(pattern) + "]");
    }
}

OfFile file_of(const Json& object, Of of, const std::string& where, const std::string& place) {
    OfFile made;
    made.values = values_of(object, of, where, place);
    const auto datasets = of == Of::file ? object.find("datasets") : object.end();
    if (datasets != object.end())
        each_pattern(
            *datasets, where, below(place, "datasets"),
            [&](const std::string& pattern, const Json& value, const std::string& here) {
                made.datasets.push_back({pattern, values_of(value, Of::dataset, where, here)});
            });
    return made;
}

Json json_of(const Values& values) {
    Json object = Json::object();
    for (const KeyInfo& info : keys()) {
        const auto found = values.find(std::string(info.name));
        if (found == values.end()) continue;
        std::visit(
            [&](const auto& value) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Extents>)
                    object[found->first] = value;
            },
            found->second);
    }
    return object;
}

Json json_of(const OfFile& of) {
    Json object = json_of(of.values);
    for (const OfDatasets& one : of.datasets) object["datasets"][one.pattern] = json_of(one.values);
    return object;
}

std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void check_size(std::string_view text, std::size_t most, const std::string& where,
                std::string_view remedy) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw core::Error(core::Code::bad_input, "nothing is declared: the text is empty", where,
                          std::string(remedy));
    if (text.size() > most)
        throw core::Error(core::Code::bad_input,
                          "it has " + std::to_string(text.size()) + " bytes, and at most " +
                              std::to_string(most) + " are taken",
                          where, std::string(remedy));
}

}  // namespace

OfFile list_from_json(std::string_view text, Of of, const std::string& where, std::size_t most) {
    check_size(text, most, where, list_kind.remedy);
    return file_of(json::parse_object(text, where, list_kind), of, where, "");
}

std::string list_text(const OfFile& of) { return line_of(json_of(of)); }

namespace {

/// What is declared of files stands below their patterns; Python has an argument for that.
core::Error unknown_of_document(const std::string& where, const std::string& name) {
    if (find_key(name) == nullptr && name != "datasets")
        return json::unknown_key(where, "", name, {"schema", "files"});
    return {core::Code::unknown_key,
            "unknown key " + core::in_quotes(name) +
                ": without a pattern of files the document is {\"files\": {PATTERN: {" +
                core::in_quotes(name) + ": ...}}}",
            where,
            "name the files: {\"files\": {\"*.h5\": {...}}}, or in Python "
            "tailrace.intents({...}, pattern=\"*.h5\")"};
}

}  // namespace

Document document_from_json(std::string_view text, const std::string& where) {
    check_size(text, most_document_bytes, where, document_kind.remedy);
    Json object = json::parse_object(text, where, document_kind);
    for (const auto& [name, value] : object.items())
        if (name != "schema" && name != "files") throw unknown_of_document(where, name);
    const auto named = object.find("schema");
    if (named != object.end() &&
        (!named->is_string() || named->get_ref<const std::string&>() != schema))
        throw json::error_at(where, "schema",
                             core::in_quotes(schema) + " is wanted here, not " + named->dump());
    const auto files = object.find("files");
    if (files == object.end())
        throw core::Error(core::Code::missing_key, "the key \"files\" is missing", where,
                          std::string(document_kind.remedy));
    Document document;
    each_pattern(*files, where, "files",
                 [&](const std::string& pattern, const Json& value, const std::string& place) {
                     document.files.push_back({pattern, file_of(value, Of::file, where, place)});
                 });
    return document;
}

std::string document_text(const Document& document) {
    Json files = Json::object();
    for (const OfFiles& one : document.files) files[one.pattern] = json_of(one.of);
    Json object = Json::object();
    object["files"] = files;
    return line_of(object);
}

void check(const Values& values, Of of, const std::string& where, const std::string& place) {
    for (const auto& [name, value] : values) {
        const KeyInfo& info = key_of(name, of, where, place);
        const auto* text = std::get_if<std::string>(&value);
        const auto* number = std::get_if<std::uint64_t>(&value);
        const std::string here = below(place, name);
        if (info.kind == Kind::number && number == nullptr)
            throw json::error_at(where, here, "a whole number >= 0 is wanted here");
        if (info.kind == Kind::number) continue;
        if (text == nullptr) throw json::error_at(where, here, "a text is wanted here");
        (void)word_of(info, *text, where, here);
    }
}

}  // namespace tailrace::intent::declare
