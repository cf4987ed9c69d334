// SPDX-License-Identifier: Apache-2.0
// Intents as JSON, schema tailrace-intents/1, and in the published H5Intent form.
#pragma once

#include <string>
#include <string_view>

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// The intents as a JSON text.  [local]
[[nodiscard]] std::string to_json(const Intents& intents);
/// Of datasets only what they are and how much they move: all that is said of tens of thousands
/// takes longer to write and to read than to derive.
[[nodiscard]] std::string to_brief_json(Intents intents);
/// The intents in a JSON text.  [local]
/// @param where  file name for messages
/// @throws Error{bad_input | unknown_key | missing_key} with the place in the document
[[nodiscard]] Intents intents_from_json(std::string_view text, const std::string& where);
/// The JSON Schema that stands in schemas/intents-1.schema.json.  [local]
[[nodiscard]] std::string intents_schema();
/// The published H5Intent form, two keys "files" and "datasets"; where its values differ from the
/// original's: docs/reference/intents.md.  [local]
[[nodiscard]] std::string to_classic_json(const Intents& intents);

}  // namespace tailrace::intent
