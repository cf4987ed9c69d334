// SPDX-License-Identifier: Apache-2.0
// The files that the subfiling driver makes beside the one it is asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// Names of all subfiles and of their configuration file, sorted.  [local]
[[nodiscard]] std::vector<std::string> subfiles_of(const std::filesystem::path& path);

}  // namespace tailrace::formats::hdf5
