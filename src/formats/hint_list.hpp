// SPDX-License-Identifier: Apache-2.0
// Hints in the syntax of Cray MPICH's variable MPICH_MPIIO_HINTS.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/options.hpp"

namespace tailrace::formats {

/// The hints for one file of "PATTERN:KEY=VALUE:KEY=VALUE,PATTERN:...". A pattern is one of the
/// shell (fnmatch), for the name as given or for its last part. A value may hold colons and commas
/// where what follows them is a number or `*`, as in cb_config_list=*:4 or a:2,b:2; a key without
/// `=` has the value "true". Later hints win.  [local]
/// @throws core::Error{Code::bad_input} at no place; the message names the part
[[nodiscard]] Hints hints_from_list(const std::string& text, const std::filesystem::path& file);

/// Of hints of ROMIO with a few known values (its ad_hints.c, as in MPICH 4 and Open MPI 4 and 5):
/// a sentence for each that has another one, which ROMIO leaves out without a word, while
/// MPI_File_get_info may tell it as if it were in force.  [local]
[[nodiscard]] std::vector<std::string> values_left_out(const Hints& hints);

}  // namespace tailrace::formats
