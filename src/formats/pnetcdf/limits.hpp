// SPDX-License-Identifier: Apache-2.0
// What the classic netCDF formats can hold. Free of PnetCDF: known in every build, also before a
// file is created.
#pragma once

#include <span>
#include <string>

#include "core/schema.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::pnetcdf {

inline constexpr int greatest_rank = 1024;  ///< NC_MAX_VAR_DIMS

/// The variable of an object: its path without the first slash.  [local]
[[nodiscard]] std::string variable_name(const core::Object& object);

/// True where the first dimension grows.  [local]
[[nodiscard]] bool is_record(const core::Object& object);

/// The schema as it is defined: with Options::unlimited every first dimension grows.  [local]
[[nodiscard]] core::Schema as_stored(const Options& options, core::Schema schema);

/// Whether a file of this format can hold the objects, in this order, and the attributes.  [local]
/// @param schema  as_stored()
/// @param before  objects that were defined earlier
/// @throws core::Error{bad_input | unsupported} naming the object or the attribute and the remedy
void check_schema(const Options& options, const core::Schema& schema,
                  std::span<const core::Object> before = {});

}  // namespace tailrace::formats::pnetcdf
