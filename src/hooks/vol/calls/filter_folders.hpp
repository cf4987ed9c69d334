// SPDX-License-Identifier: Apache-2.0
// Where a library finds plugins of filters when nobody names folders to it. HDF5_PLUGIN_PATH, by
// which it finds us, hides these.
#pragma once

#include "hooks/vol/library/library.hpp"

namespace tailrace::hooks::vol {

/// Adds them to the folders of a library, where the variable names ours alone: when it begins, and
/// once more at its first file, since netCDF-C sets all folders anew by that variable.  [local]
void keep_filter_folders(const Library& library);

}  // namespace tailrace::hooks::vol
