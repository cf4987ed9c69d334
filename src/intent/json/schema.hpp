// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of a described struct. Internal to src/intent.
#pragma once

#include "intent/json/fields.hpp"

namespace tailrace::intent::json {

template <class T>
Json schema_of(Json& definitions);

/// Collects the properties of one struct.
class SchemaWriter {
public:
    explicit SchemaWriter(Json& definitions) : x_definitions(definitions) {}

    template <class T>
    void operator()(const char* key, const T&, const char* sentence) {
        Json one = schema_of<std::remove_const_t<T>>(x_definitions);
        Json property{{"description", sentence}};
        for (const auto& [name, value] : one.items()) property[name] = value;
        properties[key] = property;
        if constexpr (!may_be_absent<std::remove_const_t<T>>) required.push_back(key);
    }
    [[nodiscard]] Json object() const {
        Json json{{"type", "object"}, {"properties", properties}};
        if (!required.empty()) json["required"] = required;
        json["additionalProperties"] = false;
        return json;
    }
    Json properties = Json::object(), required = Json::array();

private:
    Json& x_definitions;
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

template <class T>
Json schema_of(Json& definitions) {
    if constexpr (std::is_enum_v<T>) {
        Json names = Json::array();
        for (const auto& [one, name] : Names<T>::all) names.push_back(name);
        return {{"enum", names}};
    } else if constexpr (std::is_same_v<T, ProcessSet>) {
        return {{"type", Json::array({"string", "null"})},
                {"pattern", "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$"}};
    } else if constexpr (std::is_same_v<T, bool>) {
        return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<T, std::string>) {
        return {{"type", "string"}};
    } else if constexpr (std::is_floating_point_v<T>) {
        return {{"type", "number"}};
    } else if constexpr (std::is_unsigned_v<T>) {
        return {{"type", "integer"}, {"minimum", 0}};
    } else if constexpr (std::is_arithmetic_v<T>) {
        return {{"type", "integer"}};
    } else if constexpr (is_optional<T>::value) {
        return or_null(schema_of<typename T::value_type>(definitions));
    } else if constexpr (is_vector<T>::value) {
        return {{"type", Json::array({"array", "null"})},
                {"items", schema_of<typename T::value_type>(definitions)}};
    } else if constexpr (is_map<T>::value) {
        return {{"type", Json::array({"object", "null"})},
                {"additionalProperties", schema_of<typename T::mapped_type>(definitions)}};
    } else if constexpr (is_variant<T>::value) {
        return {{"type", Json::array({"boolean", "number", "string", "array"})}};
    } else {
        const std::string name(Fields<T>::name);
        if (!definitions.contains(name)) {
            definitions[name] = nullptr;  // so that its place is kept
            SchemaWriter writer(definitions);
            const T value{};
            Fields<T>::visit(writer, value);
            definitions[name] = writer.object();
        }
        return {{"$ref", "#/$defs/" + name}};
    }
}

/// The whole schema of a document of ours.  [local]
/// @param schema  "tailrace-profile/1"
template <class T>
Json document_schema(const std::string& schema, const std::string& sentence) {
    Json definitions = Json::object();
    SchemaWriter writer(definitions);
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

}  // namespace tailrace::intent::json
