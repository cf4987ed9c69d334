// SPDX-License-Identifier: Apache-2.0
// The file to which programs append Records, several at once.
#pragma once

#include <filesystem>
#include <string_view>

namespace tailrace::core {

/// Whether lines could be appended, found out without making or changing anything.  [local]
/// @throws Error{no_such_directory | not_writable} naming the file
void check_results_file(const std::filesystem::path& file);

/// The same, and what only an attempt can tell (a server that maps root to nobody): where the file
/// is not there yet, an empty one of another name is made beside it and removed again. Not the file
/// itself: another program may be about to append to it.  [local]
/// @throws Error{no_such_directory | not_writable} naming the file
void try_results_file(const std::filesystem::path& file);

/// Appends a line to `file` (created where missing) with one write, and syncs it. Several programs
/// may append at once; one that holds the lock for longer than `patience_s` is an error.  [local]
/// @throws Error naming the file; Code::timed_out where the lock was not to be had
void append_line(const std::filesystem::path& file, std::string_view line, double patience_s = 10);

}  // namespace tailrace::core
