// SPDX-License-Identifier: Apache-2.0
// Compounds of attributes, for the formats that have them.
#pragma once

#include <string>

#include "core/schema.hpp"

namespace tailrace::formats {

/// Refuses a compound without members, or whose members overlap or do not fit its size.  [local]
/// @throws core::Error{Code::bad_input}
void check_compound(const core::Compound& compound, const std::string& where);

}  // namespace tailrace::formats
