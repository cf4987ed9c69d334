// SPDX-License-Identifier: Apache-2.0
// Attributes: texts, numbers, lists and compounds of them.
#pragma once

#include <filesystem>

#include "core/schema.hpp"
#include "formats/netcdf4/nc.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::netcdf4 {

/// Refuses what netCDF could not store: no name, a name that netCDF keeps for itself, an object
/// that is not there.  [local]
/// @throws core::Error{Code::bad_input}
void check_attribute(const core::Attribute& attribute, bool object_known);

/// Notes one attribute for the end of the definitions; its object exists, and the file is in define
/// mode. The classic model has no compounds, which are left out, no lists of texts, which become
/// lines of one, and no integers over 32 bits, which become doubles where they do not fit. CDF-5
/// has these integers.  [local]
/// @throws core::Error
void put_attribute(const nc::File& file, const core::Attribute& attribute, DataModel model);

/// That a file which others have made has an attribute of this value.  [local]
/// @throws core::Error
void check_same_attribute(const nc::File& file, const core::Attribute& attribute, DataModel model,
                          const std::filesystem::path& name);

}  // namespace tailrace::formats::netcdf4
