// SPDX-License-Identifier: Apache-2.0
// The profile as JSON, schema tailrace-profile/1.
#pragma once

#include <string>
#include <string_view>

#include "intent/profile/model.hpp"

namespace tailrace::intent {

/// The profile as a JSON text, keys in the order of the schema.  [local]
[[nodiscard]] std::string to_json(const Profile& profile);
/// The profile in a JSON text.  [local]
/// @param where  file name for messages
/// @throws Error{bad_input | unknown_key | missing_key} with the place in the document
[[nodiscard]] Profile profile_from_json(std::string_view text, const std::string& where);
/// The JSON Schema that stands in schemas/profile-1.schema.json.  [local]
[[nodiscard]] std::string profile_schema();

}  // namespace tailrace::intent
