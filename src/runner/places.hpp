// SPDX-License-Identifier: Apache-2.0
// Where a run puts its files: the folder that it makes, and files of text beside what it measures.
// For one rank: what comes of it is agreed on by the caller.
#pragma once

#include <filesystem>

#include "runner/kernel.hpp"

namespace tailrace::runner {

/// The file, or, in the folder that the run will make, the same name in the nearest folder that is
/// there.  [local]
[[nodiscard]] std::filesystem::path where_it_can_be_looked_at(const Plan& plan,
                                                              const std::filesystem::path& file);

/// That regular files can be written under the names of Kernel::files_written(), found out without
/// touching anything.  [local]
/// @throws core::Error{bad_input | no_such_directory | not_writable | already_exists}
void check_places(const Kernel& kernel);

/// Makes the folder of the run, and finds out what only an attempt can tell: for each of
/// files_written() an empty part is made and removed again.  [local]
/// @throws core::Error as check_places(), or of the system call
void make_places(const Kernel& kernel);

/// Writes a file whole under the name of a part, syncs and renames it, as the data are: who reads
/// the name meets the older file or the new one.  [local]
/// @throws core::Error, and then what stood there is as it was
void write_side_file(const SideFile& side);

}  // namespace tailrace::runner
