// SPDX-License-Identifier: Apache-2.0
// The plan as JSON, schema tailrace-plan/1.
#pragma once

#include <string>
#include <string_view>

#include "intent/plan/compile.hpp"
#include "intent/plan/model.hpp"

namespace tailrace::intent::plan {

/// The plan as a JSON text, with the hash of its compiled form.  [local]
/// @throws Error{bad_input} as compile() does
[[nodiscard]] std::string to_json(const Plan& plan, const Hasher& hasher);
/// The plan in a JSON text, whole and checked. The hash that stands there must be that of its
/// settings; a plan written by hand has none.  [local]
/// @param where  file name for messages
/// @throws Error{bad_input | unknown_key | missing_key} with the place in the document
[[nodiscard]] Plan plan_from_json(std::string_view text, const std::string& where,
                                  const Hasher& hasher);
/// The JSON Schema that stands in schemas/plan-1.schema.json.  [local]
[[nodiscard]] std::string plan_schema();

}  // namespace tailrace::intent::plan
