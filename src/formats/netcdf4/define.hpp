// SPDX-License-Identifier: Apache-2.0
// From objects and Options to dimensions and variables.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "core/schema.hpp"
#include "formats/netcdf4/nc.hpp"
#include "formats/options.hpp"
#include "formats/sink/batch.hpp"

namespace tailrace::formats::netcdf4 {

/// Refuses a name that netCDF would refuse when the file was touched already.  [local]
/// @throws core::Error{Code::bad_input}
void check_name(const std::string& name, const std::string& where);

/// The object as the file has it: the first dimension unlimited where it is a record, or where the
/// options ask for it. An unlimited dimension begins with the records that the object has.  [local]
[[nodiscard]] core::Object as_stored(core::Object object, const Options& options);

/// Refuses what netCDF, its classic model or HDF5 could not store.  [local]
/// @throws core::Error{bad_input | unsupported}
void check_object(const core::Object& object, const Options& options);

/// Refuses what CDF-5 could not store, and a second define(), which would move all data.  [local]
/// @throws core::Error{bad_input | unsupported}
void check_cdf5(const core::Schema& schema, std::span<const Defined> before);

/// The variable of an object in a file that others have made.  [local]
/// @throws core::Error if its fill value is another one
[[nodiscard]] nc::Variable found_variable(const nc::File& file, const core::Object& object,
                                          const Options& options,
                                          const std::filesystem::path& name);

/// Makes the variable of an object, with its groups and dimensions. In define mode; collective
/// where the file was opened by several ranks.
/// @param taken  whose names in the root group no dimension may have, but that of a coordinate
/// @throws core::Error
[[nodiscard]] nc::Variable define_variable(const nc::File& file, const core::Object& object,
                                           const Options& options, std::span<const Defined> taken);

/// How much of a variable with records stays in memory, from now on; what was kept is written. The
/// library would keep 16 MiB of each until the file is closed, and of large chunks ten, at most
/// 64 MiB. Records are written whole, so none need be kept (1 byte); where one is written in
/// pieces, its chunks are, or each piece would send its chunk through the filters.
/// @throws core::Error
void keep_chunks(const nc::Variable& variable, const core::Object& object, const Options& options,
                 std::size_t bytes);

}  // namespace tailrace::formats::netcdf4
