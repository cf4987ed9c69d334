// SPDX-License-Identifier: Apache-2.0
#include "core/json/document.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "core/config.hpp"

namespace tailrace::json {

namespace {

/// What a document of another kind is for, before the remedy; nothing of what is not ours.
std::string what_it_is_for(const std::string& schema, const Kind& wanted) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kinds{{
        {"tailrace-plan/", "a plan is for `tailrace apply` and `tailrace env`"},
        {"tailrace-intents/", "intents are for `tailrace advise`"},
        {"tailrace-profile/", "a profile is for `tailrace intents` and `tailrace advise`"},
        {"tailrace-rules/", "a file of rules is for --rules of `tailrace advise`"},
        {"tailrace-declarations/", "declarations are for --declare"},
    }};
    for (const auto& [family, sentence] : kinds)
        if (schema.starts_with(family))
            return std::string(sentence) + ", and a " + std::string(wanted.noun) +
                   " is wanted here: ";
    return "";
}

core::Error foreign(const std::string& found, const std::string& where, const Kind& kind) {
    const std::string wanted(kind.schema);
    const std::string family = wanted.substr(0, wanted.find('/') + 1);
    if (found.rfind(family, 0) == 0)
        return {core::Code::bad_input,
                "this " + std::string(kind.noun) + " is of schema " + core::in_quotes(found) +
                    ", and this version of Tailrace reads \"" + wanted + "\"",
                where, "take a newer Tailrace, or write the file anew with this one"};
    return {core::Code::bad_input,
            "this is no " + std::string(kind.noun) + ": its schema is " + core::in_quotes(found) +
                ", not \"" + wanted + "\"",
            where, what_it_is_for(found, kind) + std::string(kind.remedy)};
}

/// Hears of each key while a text is read; the last would win without a word.
class OnceEach {
public:
    bool operator()(int depth, Json::parse_event_t event, const Json& read) {
        if (event == Json::parse_event_t::object_start) x_keys[depth + 1].clear();
        if (event == Json::parse_event_t::key && twice.empty()) {
            const auto& name = read.get_ref<const std::string&>();
            if (!x_keys[depth].insert(name).second) twice = name;
        }
        return true;
    }
    std::string twice;

private:
    std::map<int, std::set<std::string>> x_keys;  // of the object at this depth
};

}  // namespace

Json parse_object(std::string_view text, const std::string& where, const Kind& kind) {
    const std::string noun(kind.noun);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw core::Error(core::Code::bad_input, "the file is empty, no " + noun, where,
                          std::string(kind.remedy));
    Json document;
    OnceEach once;
    try {
        document = kind.by_hand ? Json::parse(text, std::ref(once)) : Json::parse(text);
    } catch (const Json::parse_error& error) {
        const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        throw core::Error(core::Code::bad_input,
                          "this is no JSON: it breaks at byte " +
                              std::to_string(std::min(error.byte, text.size())) + " of " +
                              std::to_string(text.size()),
                          where + ":" + std::to_string(line), std::string(kind.remedy));
    } catch (const Json::out_of_range&) {
        throw core::Error(core::Code::bad_input, "it holds a number that no double can hold", where,
                          std::string(kind.remedy));
    }
    if (!once.twice.empty())
        throw core::Error(core::Code::bad_input,
                          "the key " + core::in_quotes(once.twice) + " stands there twice", where,
                          "say it once: of two the last would count");
    if (!document.is_object())
        throw core::Error(core::Code::bad_input, "this is no " + noun + " but " + kind_of(document),
                          where, std::string(kind.remedy));
    return document;
}

Json parse(std::string_view text, const std::string& where, const Kind& kind) {
    Json document = parse_object(text, where, kind);
    const auto schema = document.find("schema");
    if (schema == document.end() || !schema->is_string())
        throw core::Error(
            core::Code::bad_input,
            "this is no " + std::string(kind.noun) + ": it has no key \"schema\" with a text",
            where, std::string(kind.remedy));
    if (schema->get<std::string>() != kind.schema)
        throw foreign(schema->get<std::string>(), where, kind);
    document.erase(schema);
    return document;
}

core::Error error_at(const std::string& where, const std::string& place, const std::string& message,
                     const std::string& remedy) {
    return {core::Code::bad_input, message, place.empty() ? where : where + ": " + place, remedy};
}

core::Error unknown_key(const std::string& where, const std::string& place, const std::string& key,
                        const std::vector<std::string>& known) {
    std::string message = "unknown key " + core::in_quotes(key);
    const std::string guess = core::nearest(key, known);
    if (!guess.empty()) message += ". Did you mean " + core::in_quotes(guess) + "?";
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    return {core::Code::unknown_key, message, place.empty() ? where : where + ": " + place,
            "keys here: " + names};
}

std::string kind_of(const Json& value) {
    switch (value.type()) {
        case Json::value_t::null:
            return "null";
        case Json::value_t::object:
            return "an object";
        case Json::value_t::array:
            return "a list";
        case Json::value_t::string:
            return "a text";
        case Json::value_t::boolean:
            return value.get<bool>() ? "true" : "false";
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
        case Json::value_t::number_float:
            return "the number " + value.dump();
        default:
            return "something else";
    }
}

std::string text_of(const Json& document) {
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tailrace::json
