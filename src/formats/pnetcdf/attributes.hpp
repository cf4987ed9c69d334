// SPDX-License-Identifier: Apache-2.0
// Attributes as a classic netCDF file holds them.
#pragma once

#include <optional>

#include "core/schema.hpp"
#include "formats/pnetcdf/nc.hpp"

namespace tailrace::formats::pnetcdf {

/// The value for a file of that format: several texts are one, a line each; where the format has no
/// integers of 64 bits, or none without a sign, they are 32-bit ones if they fit, else doubles.
/// Nothing for a compound, which it cannot hold.  [local]
/// @pre check_schema() has seen it
[[nodiscard]] std::optional<nc::Value> value_of(const core::Attribute& attribute, int cdf);

}  // namespace tailrace::formats::pnetcdf
