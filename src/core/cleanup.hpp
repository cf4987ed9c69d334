// SPDX-License-Identifier: Apache-2.0
// Names of unfinished files, kept where a signal handler can reach them.
#pragma once

#include <filesystem>

namespace tailrace::core {

/// Remembers a file that must not outlive an interrupted program. At most 64 names of at most 4095
/// bytes; more are not remembered (returns false).  [local]
bool remove_on_interrupt(const std::filesystem::path& path) noexcept;
/// Forgets it, when it was published or removed.  [local]
void keep_on_interrupt(const std::filesystem::path& path) noexcept;
/// Unlinks all remembered names. Async-signal-safe; for signal handlers of programs.  [local]
void remove_unfinished_files() noexcept;

/// Puts the memory of names where forked children see it too, names that are added later included.
/// Before the first name, while the process has one thread.  [local]
/// @returns false where the system gives no such memory; all else works as before
bool share_unfinished_files() noexcept;

}  // namespace tailrace::core
