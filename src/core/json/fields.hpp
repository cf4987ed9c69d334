// SPDX-License-Identifier: Apache-2.0
// One description per struct serves reading, writing and the JSON Schema.
//
//   template <> struct Fields<Span> {
//       static constexpr std::string_view name = "span";
//       static void visit(auto& v, auto& s) { v("start_s", s.start_s, "..."); }
//   };
//
// A plain number, text or enum is required; optionals, lists, maps and sets may be absent (or null)
// and are then left out again when written. Otherwise in a document that is `complete`: every key
// is there, an optional without a value is null, and no number is negative unless its key says so.
// If a struct is written and never read, its keys may have values that are computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/json/document.hpp"

namespace tailrace::json {

template <class T>
struct Fields;
/// Names of an enum: `static constexpr std::pair<E, std::string_view> all[]`.
template <class E>
struct Names;

/// How one key differs from what its type says.
struct KeyRule {
    enum class Presence {
        usual,
        absent,  ///< left out where it has no value, also of a complete document
        later,   ///< always written; absent in older documents
    };
    Presence presence = Presence::usual;
    const char* schema = nullptr;  ///< JSON, merged into the property (null takes a keyword out)
};
inline constexpr KeyRule absent{KeyRule::Presence::absent}, later{KeyRule::Presence::later};
/// "{"minLength": 1}" and the like.
constexpr KeyRule limited(const char* schema) { return {KeyRule::Presence::usual, schema}; }

/// An object whose keys stand in the order of the list.
template <class T>
using Listed = std::vector<std::pair<std::string, T>>;

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T, class A>
struct is_vector<std::vector<T, A>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class K, class T, class C, class A>
struct is_map<std::map<K, T, C, A>> : std::true_type {};
template <class T>
struct is_map<Listed<T>> : std::true_type {};
template <class T>
struct is_variant : std::false_type {};
template <class... T>
struct is_variant<std::variant<T...>> : std::true_type {};

/// A type that says itself as a text, in `pattern`, and may be empty.
template <class T>
concept Textual = requires(const T& value) {
    { value.text() } -> std::same_as<std::string>;
    { value.empty() } -> std::same_as<bool>;
    { T::parse(std::string_view()) } -> std::same_as<T>;
    { T::pattern } -> std::convertible_to<std::string_view>;
};

/// What may say only in which keys it is unlike another one: an item of a list with the key "like"
/// (the number of an earlier one), and what is within such an item.
inline constexpr const char* like_key = "like";
template <class T>
concept Likened = requires {
    Fields<T>::is_likened;
};

template <class T>
constexpr bool may_be_absent =
    is_optional<T>::value || is_vector<T>::value || is_map<T>::value || Textual<T>;

template <class E>
std::string_view name_of(E value) {
    for (const auto& [one, name] : Names<E>::all)
        if (one == value) return name;
    return "";
}

// --- writing ------------------------------------------------------------------------------------
template <class T>
Json written(const T& value, bool complete = false);

template <class T>
bool has_value(const T& value) {
    if constexpr (is_optional<T>::value)
        return value.has_value();
    else if constexpr (may_be_absent<T>)
        return !value.empty();
    else
        return true;
}

class Writer {
public:
    explicit Writer(bool complete) : x_complete(complete) {}

    template <class T>
    void operator()(const char* key, const T& value, const char*, const KeyRule& how = {}) {
        if (has_value(value) || (x_complete && how.presence != KeyRule::Presence::absent))
            json[key] = written(value, x_complete);
    }
    void like(const char*) const {}  // all is written
    /// An object within, whose keys `visit` gives.
    template <class Visit>
    void object(const char* key, const char*, const Visit& visit) {
        Writer inner(x_complete);
        visit(inner);
        json[key] = std::move(inner.json);
    }
    Json json = Json::object();

private:
    bool x_complete;
};

template <class T>
Json written(const T& value, bool complete) {
    if constexpr (std::is_same_v<T, std::monostate>) {
        return nullptr;
    } else if constexpr (std::is_enum_v<T>) {
        return name_of(value);
    } else if constexpr (Textual<T>) {
        return value.text();
    } else if constexpr (std::is_same_v<T, double>) {
        return std::isfinite(value) ? Json(value) : Json(nullptr);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Json> ||
                         std::is_arithmetic_v<T>) {
        return value;
    } else if constexpr (is_optional<T>::value) {
        return value ? written(*value, complete) : Json(nullptr);
    } else if constexpr (is_map<T>::value) {
        Json object = Json::object();
        // A map has each key once; an ordered one of nlohmann would look through all for each.
        auto& members = static_cast<std::vector<Json::object_t::value_type>&>(
            object.template get_ref<Json::object_t&>());
        members.reserve(value.size());
        for (const auto& [key, one] : value) members.emplace_back(key, written(one, complete));
        return object;
    } else if constexpr (is_vector<T>::value) {
        Json list = Json::array();
        for (const auto& one : value) list.push_back(written(one, complete));
        return list;
    } else if constexpr (is_variant<T>::value) {
        return std::visit([&](const auto& one) { return written(one, complete); }, value);
    } else {
        Writer writer(complete);
        Fields<T>::visit(writer, value);
        return std::move(writer.json);
    }
}

// --- reading ------------------------------------------------------------------------------------
template <class T>
void read(const Json& json, T& value, const std::string& where, const std::string& place);

class Reader {
public:
    Reader(const Json& json, const std::string& where, const std::string& place)
        : x_json(json), x_where(where), x_place(place) {
        if (!json.is_object())
            throw error_at(where, place, "an object is wanted here, not " + kind_of(json));
    }

    template <class T>
    void operator()(const char* key, T& value, const char*) {
        x_known.emplace_back(key);
        const auto found = x_json.find(key);
        const bool lacks = found == x_json.end() || found->is_null();
        if (!lacks) {
            read(*found, value, x_where, x_place.empty() ? key : x_place + "." + key);
        } else if constexpr (!may_be_absent<T>) {
            x_missing.emplace_back(key);
        } else if (found != x_json.end()) {
            value = T{};  // null: what it is like may have one
        }
    }

    void like(const char*) { x_known.emplace_back(like_key); }  // begin_like has seen to it
    /// Throws where the object has a key that nobody asked for, or lacks one.
    void finish() const {
        for (const auto& [key, value] : x_json.items())
            if (std::find(x_known.begin(), x_known.end(), key) == x_known.end())
                throw unknown_key(x_where, x_place, key, x_known);
        if (!x_missing.empty())
            throw core::Error(core::Code::missing_key,
                              "the key \"" + x_missing.front() + "\" is missing",
                              x_place.empty() ? x_where : x_where + ": " + x_place);
    }

private:
    const Json& x_json;
    const std::string& x_where;
    std::string x_place;
    std::vector<std::string> x_known, x_missing;
};

/// A whole number of 64 bits, also where it is written as -0 or as the double of one.
template <class T>
void read_number(const Json& json, T& value, const std::string& where, const std::string& place) {
    if constexpr (std::is_same_v<T, bool>) {
        if (!json.is_boolean())
            throw error_at(where, place, "true or false is wanted here, not " + kind_of(json));
        value = json.get<bool>();
    } else if constexpr (std::is_floating_point_v<T>) {
        if (!json.is_number())
            throw error_at(where, place, "a number is wanted here, not " + kind_of(json));
        value = json.get<double>();
    } else if constexpr (std::is_unsigned_v<T>) {
        if (!json.is_number_unsigned())
            throw error_at(where, place,
                           "a whole number >= 0 of 64 bits is wanted here, not " + kind_of(json));
        value = json.get<T>();
    } else {
        const bool fits = json.is_number_integer() &&
                          (!json.is_number_unsigned() || json.get<std::uint64_t>() >> 63 == 0);
        if (!fits)
            throw error_at(where, place,
                           "a whole number of 64 bits is wanted here, not " + kind_of(json));
        value = json.get<T>();
    }
}

template <class E>
void read_enum(const Json& json, E& value, const std::string& where, const std::string& place) {
    std::vector<std::string> known;
    for (const auto& [one, name] : Names<E>::all) {
        known.emplace_back(name);
        if (json.is_string() && json.get_ref<const std::string&>() == name) {
            value = one;
            return;
        }
    }
    std::string words;
    for (const std::string& name : known) words += (words.empty() ? "" : ", ") + name;
    throw error_at(where, place,
                   "one of " + words + " is wanted here, not " +
                       (json.is_string() ? json.dump() : kind_of(json)));
}

template <class V>
void read_setting(const Json& json, V& value, const std::string& where, const std::string& place) {
    if (json.is_boolean()) {
        value = json.get<bool>();
    } else if (json.is_number_unsigned()) {
        value = json.get<std::uint64_t>();
    } else if (json.is_number()) {
        value = json.get<double>();
    } else if (json.is_string()) {
        value = json.get<std::string>();
    } else {
        std::vector<std::uint64_t> numbers;
        read(json, numbers, where, place);
        value = numbers;
    }
}

/// What an item begins as: as the earlier one that it is like.
template <class T>
void begin_like(std::vector<T>& list, const Json& json, const std::string& where,
                const std::string& place) {
    const auto like = json.is_object() ? json.find(like_key) : json.end();
    if (!json.is_object() || like == json.end() || like->is_null()) return;
    std::uint64_t number = 0;
    read(*like, number, where, place + ".like");
    if (number + 1 >= list.size())
        throw error_at(where, place + ".like",
                       "the number of one before it is wanted here, not " + kind_of(*like));
    list.back() = list[number];
}

template <class T>
void read(const Json& json, T& value, const std::string& where, const std::string& place) {
    if constexpr (std::is_enum_v<T>) {
        read_enum(json, value, where, place);
    } else if constexpr (Textual<T> || std::is_same_v<T, std::string>) {
        if (!json.is_string())
            throw error_at(where, place, "a text is wanted here, not " + kind_of(json));
        if constexpr (std::is_same_v<T, std::string>)
            value = json.get<std::string>();
        else
            try {
                value = T::parse(json.get_ref<const std::string&>());
            } catch (const core::Error& error) {
                throw error_at(where, place, error.message(), error.remedy());
            }
    } else if constexpr (std::is_arithmetic_v<T>) {
        read_number(json, value, where, place);
    } else if constexpr (is_optional<T>::value) {
        if (json.is_null()) {
            value.reset();
        } else {
            if (!Likened<typename T::value_type> || !value) value.emplace();
            read(json, *value, where, place);
        }
    } else if constexpr (is_vector<T>::value) {
        if (!json.is_array())
            throw error_at(where, place, "a list is wanted here, not " + kind_of(json));
        value.clear();
        value.reserve(json.size());
        for (std::size_t i = 0; i < json.size(); ++i) {
            const std::string here = place + "[" + std::to_string(i) + "]";
            value.emplace_back();
            if constexpr (Likened<typename T::value_type>) begin_like(value, json[i], where, here);
            read(json[i], value.back(), where, here);
        }
    } else if constexpr (is_map<T>::value) {
        if (!json.is_object())
            throw error_at(where, place, "an object is wanted here, not " + kind_of(json));
        value.clear();
        for (const auto& [key, one] : json.items()) read(one, value[key], where, place + "." + key);
    } else if constexpr (is_variant<T>::value) {
        read_setting(json, value, where, place);
    } else {
        Reader reader(json, where, place);
        Fields<T>::visit(reader, value);
        reader.finish();
    }
}

/// The whole document: the schema's name, then the keys of `value`.  [local]
template <class T>
Json document_of(std::string_view schema, const T& value, bool complete = false) {
    Writer writer(complete);
    writer.json["schema"] = schema;
    Fields<T>::visit(writer, value);
    return std::move(writer.json);
}

}  // namespace tailrace::json
