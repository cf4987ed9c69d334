// SPDX-License-Identifier: Apache-2.0
#include "core/json/document.hpp"
#include "intent/declare/declaration.hpp"
#include "intent/declare/keys.hpp"

namespace tailrace::intent::declare {

namespace {

using json::Json;

Json value_of(const KeyInfo& info) {
    Json property{{"description", info.sentence}};
    if (info.kind == Kind::number) {
        property["type"] = "integer";
        property["minimum"] = 0;
        return property;
    }
    property["enum"] = words_of(info);
    if (info.words == "yes no") {
        property["enum"].push_back(true);
        property["enum"].push_back(false);
    }
    return property;
}

Json patterns_of(const char* sentence, const char* what) {
    return {{"description", sentence},
            {"type", "object"},
            {"propertyNames", {{"minLength", 1}, {"maxLength", most_pattern_bytes}}},
            {"maxProperties", most_patterns},
            {"additionalProperties", {{"$ref", std::string("#/$defs/") + what}}}};
}

Json object_of(Of of) {
    Json properties = Json::object();
    for (const KeyInfo& info : keys())
        if (info.of == Of::both || info.of == of)
            properties[std::string(info.name)] = value_of(info);
    if (of == Of::file)
        properties["datasets"] =
            patterns_of("What is declared of its datasets, by pattern.", "dataset");
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

}  // namespace

std::string declarations_schema() {
    return json::text_of(
        {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
         {"$id", "urn:tailrace:schema:declarations-1"},
         {"title", "tailrace-declarations/1"},
         {"description",
          "What files are meant for, by pattern: declared intents. On a property list stands what "
          "is \"file\" or \"dataset\" in $defs."},
         {"type", "object"},
         {"properties",
          {{"schema",
            {{"description", "Name and version of this schema; may be left out."},
             {"const", "tailrace-declarations/1"}}},
           {"files", patterns_of("What is declared of files, by pattern.", "file")}}},
         {"required", Json::array({"files"})},
         {"additionalProperties", false},
         {"$defs", {{"file", object_of(Of::file)}, {"dataset", object_of(Of::dataset)}}}});
}

}  // namespace tailrace::intent::declare
