// SPDX-License-Identifier: Apache-2.0
// Compression and quantisation of variables.
#pragma once

#include <string>

#include "core/schema.hpp"
#include "formats/netcdf4/nc.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::netcdf4 {

/// Refuses options that contradict each other, or that this build or this run cannot follow.
/// [local]
/// @throws core::Error{bad_input | unsupported}
void check_options(const Options& options, int ranks);
/// Refuses more digits than the elements of an object have; integers stay as they are.  [local]
/// @throws core::Error{Code::bad_input}
void check_quantize(const core::Object& object, const Options& options);
/// Puts the filters and the quantisation of the options on a variable in define mode.
/// @throws core::Error
void set_filters(const nc::Variable& variable, const core::Object& object, const Options& options);
/// The quantisation of a variable in the file: "bitround 7"; "none".
[[nodiscard]] std::string quantize_text(const nc::Variable& variable, const std::string& where);

}  // namespace tailrace::formats::netcdf4
