// SPDX-License-Identifier: Apache-2.0
// What a finished file says of itself to netCDF.
#pragma once

#include <map>
#include <string>

#include "formats/netcdf4/nc.hpp"

namespace tailrace::formats::netcdf4 {

/// Library and data model.
void look_at_file(const nc::File& file, const std::string& where,
                  std::map<std::string, std::string>& settings);
/// Dimensions, byte order, fill value and quantisation of a variable.
/// @param only the file has no other: the keys then go without its path
void look_at_variable(const nc::File& file, const std::string& path, bool only,
                      std::map<std::string, std::string>& settings);

}  // namespace tailrace::formats::netcdf4
