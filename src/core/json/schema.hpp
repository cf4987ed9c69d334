// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of a described struct.
#pragma once

#include "core/json/fields.hpp"

namespace tailrace::json {

template <class T>
Json schema_of(Json& definitions, bool complete);

/// Collects the properties of one struct.
class SchemaWriter {
public:
    SchemaWriter(Json& definitions, bool complete)
        : x_definitions(definitions), x_complete(complete) {}

    template <class T>
    void operator()(const char* key, const T&, const char* sentence, const KeyRule& how = {}) {
        using Presence = KeyRule::Presence;
        Json one;
        if constexpr (is_optional<T>::value)
            one = how.presence == Presence::absent
                      ? schema_of<typename T::value_type>(x_definitions, x_complete)
                      : schema_of<T>(x_definitions, x_complete);
        else
            one = schema_of<T>(x_definitions, x_complete);
        if (how.schema != nullptr) one.merge_patch(Json::parse(how.schema));
        add(key, sentence, one,
            how.presence == Presence::usual && (x_complete || !may_be_absent<T>));
    }
    template <class Visit>
    void object(const char* key, const char* sentence, const Visit& visit) {
        SchemaWriter inner(x_definitions, x_complete);
        visit(inner);
        add(key, sentence, inner.object(), true);
    }
    void like(const char* sentence) {
        const Json number = schema_of<std::optional<std::uint64_t>>(x_definitions, x_complete);
        add(like_key, sentence, number, false);
    }
    [[nodiscard]] Json object() const {
        Json json{{"type", "object"}, {"properties", properties}};
        if (!required.empty()) json["required"] = required;
        json["additionalProperties"] = false;
        return json;
    }
    Json properties = Json::object(), required = Json::array();

private:
    void add(const char* key, const char* sentence, const Json& schema, bool always) {
        properties[key] = {{"description", sentence}};
        properties[key].update(schema);
        if (always) required.push_back(key);
    }

    Json& x_definitions;
    bool x_complete;
};

/// The same, where null may stand for "not known".
inline Json or_null(Json schema) {
    if (schema.contains("type") && schema["type"].is_string())
        schema["type"] = Json::array({schema["type"], "null"});
    else
        schema = {{"anyOf", Json::array({schema, {{"type", "null"}}})}};
    if (schema.contains("enum")) schema["enum"].push_back(nullptr);
    return schema;
}

/// Any value: a schema tells of the keys alone.
template <class T>
T example() {
    if constexpr (requires { Fields<T>::example(); })
        return Fields<T>::example();
    else
        return T{};
}

/// A list or an object, where null may stand for an empty one.
inline Json one_or_null(const char* type, bool complete) {
    return {{"type", complete ? Json(type) : Json::array({type, "null"})}};
}

template <class T>
Json schema_of(Json& definitions, bool complete) {
    if constexpr (std::is_same_v<T, Json>) {
        return Json::object();
    } else if constexpr (std::is_enum_v<T>) {
        Json names = Json::array();
        for (const auto& [one, name] : Names<T>::all) names.push_back(name);
        return {{"enum", names}};
    } else if constexpr (Textual<T>) {
        return {{"type", Json::array({"string", "null"})}, {"pattern", T::pattern}};
    } else if constexpr (std::is_same_v<T, bool>) {
        return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<T, std::string>) {
        return {{"type", "string"}};
    } else if constexpr (std::is_arithmetic_v<T>) {
        Json number{{"type", std::is_floating_point_v<T> ? "number" : "integer"}};
        if (std::is_unsigned_v<T> || complete) number["minimum"] = 0;
        return number;
    } else if constexpr (is_optional<T>::value) {
        return or_null(schema_of<typename T::value_type>(definitions, complete));
    } else if constexpr (is_map<T>::value) {
        using Mapped = typename T::value_type::second_type;
        Json schema = one_or_null("object", complete);
        schema["additionalProperties"] = schema_of<Mapped>(definitions, complete);
        return schema;
    } else if constexpr (is_vector<T>::value) {
        Json schema = one_or_null("array", complete);
        schema["items"] = schema_of<typename T::value_type>(definitions, complete);
        return schema;
    } else if constexpr (is_variant<T>::value) {
        return {{"type", Json::array({"boolean", "number", "string", "array"})}};
    } else {
        const std::string name(Fields<T>::name);
        if (!definitions.contains(name)) {
            definitions[name] = nullptr;  // so that its place is kept
            SchemaWriter writer(definitions, complete);
            const T value = example<T>();
            Fields<T>::visit(writer, value);
            Json& definition = definitions[name] = Json::object();
            if constexpr (requires { Fields<T>::sentence; })
                definition["description"] = Fields<T>::sentence;
            definition.update(writer.object());
        }
        return {{"$ref", "#/$defs/" + name}};
    }
}

/// The whole schema of a document of ours.  [local]
/// @param schema  "tailrace-profile/1"
template <class T>
Json document_schema(const std::string& schema, const std::string& sentence,
                     bool complete = false) {
    Json definitions = Json::object();
    SchemaWriter writer(definitions, complete);
    const T value{};
    Fields<T>::visit(writer, value);
    Json properties{
        {"schema", {{"description", "Name and version of this schema."}, {"const", schema}}}};
    for (const auto& [key, one] : writer.properties.items()) properties[key] = one;
    Json required = Json::array({"schema"});
    for (const auto& one : writer.required) required.push_back(one);
    std::string id = schema;
    for (char& letter : id)
        if (letter == '/') letter = '-';
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"$id", "urn:tailrace:schema:" + id.substr(std::string("tailrace-").size())},
            {"title", schema},
            {"description", sentence},
            {"type", "object"},
            {"properties", properties},
            {"required", required},
            {"additionalProperties", false},
            {"$defs", definitions}};
}

}  // namespace tailrace::json
