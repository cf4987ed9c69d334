// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of tailrace-declarations/1.
#pragma once

#include <string>

namespace tailrace::intent::declare {

/// The text that stands in schemas/declarations-1.schema.json.  [local]
[[nodiscard]] std::string declarations_schema();

}  // namespace tailrace::intent::declare
