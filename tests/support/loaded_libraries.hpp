// SPDX-License-Identifier: Apache-2.0
// Which foreign libraries a test really runs with.
#pragma once

#include <string>
#include <vector>

namespace tailrace::test {

/// Paths of the loaded shared objects whose names tell of MPI, HDF5, netCDF or a plugin.  [local]
[[nodiscard]] std::vector<std::string> loaded_libraries();

}  // namespace tailrace::test
