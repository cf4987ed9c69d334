// SPDX-License-Identifier: Apache-2.0
// A left-over of killed Open MPI programs that makes later ones hang.
#pragma once

#include <filesystem>

namespace tailrace::formats::mpiio {

/// Removes the named semaphore that OMPIO keeps for shared file pointers of files of this name.
/// It is made in MPI_File_open, its name is "OMPIO_" and the last part of the path, and a program
/// that is killed between two calls leaves it locked: from then on every MPI_File_open of any file
/// of that name hangs on this host (Open MPI 4.1.4). Programs that have it open keep it; Tailrace
/// uses no shared file pointers. Call it on every rank, and let all ranks meet before the open.
/// [local]
void remove_stale_semaphore(const std::filesystem::path& path) noexcept;

}  // namespace tailrace::formats::mpiio
