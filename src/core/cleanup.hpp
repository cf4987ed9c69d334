// SPDX-License-Identifier: Apache-2.0
// Names of unfinished files, kept where a signal handler can reach them.
#pragma once

#include <filesystem>
#include <span>

namespace tailrace::core {

/// Remembers a file, or a folder with all that is in it, that must not outlive an interrupted
/// program. At most 64 names of at most 4095 bytes; more are not remembered (returns false).
/// [local]
/// @param path  the name that goes
/// @param file  where the file is now, when it is going to be renamed to `path`. Only this very
///              file goes: never another one that has the name by then. Where there is no file
///              nothing is remembered (returns false)
bool remove_on_interrupt(const std::filesystem::path& path,
                         const std::filesystem::path& file) noexcept;
inline bool remove_on_interrupt(const std::filesystem::path& path) noexcept {  ///< [local]
    return remove_on_interrupt(path, path);
}
/// Forgets names, when they were published or removed: all of them at once, so that an interrupt
/// finds all or none.  [local]
void keep_on_interrupt(std::span<const std::filesystem::path> paths) noexcept;
inline void keep_on_interrupt(const std::filesystem::path& path) noexcept {  ///< [local]
    keep_on_interrupt(std::span(&path, 1));
}
/// Unlinks all remembered names that still are of the same files. Async-signal-safe; for signal
/// handlers of programs.  [local]
void remove_unfinished_files() noexcept;

/// Puts the memory of names where forked children see it too, names that are added later included.
/// Before the first name, while the process has one thread.  [local]
/// @returns false where the system gives no such memory; all else works as before
bool share_unfinished_files() noexcept;

}  // namespace tailrace::core
