// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/intents_json.hpp"

#include <utility>

#include "core/json/schema.hpp"
#include "intent/intents/fields.hpp"

namespace tailrace::intent {

namespace {

constexpr json::Kind kind{"tailrace-intents/1", "intents file",
                          "`tailrace intents PROFILE -o intents.json` makes one"};

}  // namespace

std::string to_json(const Intents& intents) {
    return json::text_of(json::document_of(kind.schema, intents));
}

std::string to_brief_json(Intents intents) {
    for (auto& [key, dataset] : intents.datasets) {
        DatasetIntent kept;
        kept.filename = std::move(dataset.filename);
        kept.naming = std::move(dataset.naming);
        kept.layout = std::move(dataset.layout);
        kept.chunk = std::move(dataset.chunk);
        kept.filters = std::move(dataset.filters);
        kept.volume = std::move(dataset.volume);
        dataset = std::move(kept);
    }
    return to_json(intents);
}

Intents intents_from_json(std::string_view text, const std::string& where) {
    Intents intents;
    json::read(json::parse(text, where, kind), intents, where, "");
    return intents;
}

std::string intents_schema() {
    return json::text_of(json::document_schema<Intents>(
        std::string(kind.schema),
        "What programs intend with their files, derived from profiles. Units stand in the names or "
        "beside the values; times are seconds since the start of the run."));
}

}  // namespace tailrace::intent
