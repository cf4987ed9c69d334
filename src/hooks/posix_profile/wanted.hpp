// SPDX-License-Identifier: Apache-2.0
// Which files are data of a program.
#pragma once

namespace tailrace::hooks::posix_profile {

/// False for what the system, the loader, MPI and Python open for themselves.  [local]
/// @param path    absolute, without links
/// @param writes  whether it was opened for writing
/// @param spools  folder of the spools
bool wanted(const char* path, bool writes, const char* spools);

}  // namespace tailrace::hooks::posix_profile
