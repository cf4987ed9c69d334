// SPDX-License-Identifier: Apache-2.0
// The names that a run needs beside a file, and what may stand there. Shared by a run and by a dry
// run, so that both refuse the same.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// "F.part" and the like.  [local]
[[nodiscard]] std::filesystem::path with_suffix(std::filesystem::path path,
                                                std::string_view suffix);
/// The name of a file while it is written: "F.part".  [local]
[[nodiscard]] std::filesystem::path part_of(const std::filesystem::path& path);
/// Where what is replaced stands for a moment if two names cannot be exchanged: "F.part.old".
/// [local]
[[nodiscard]] std::filesystem::path old_of(const std::filesystem::path& part);
/// The name that says who writes it: "F.part.lock".  [local]
[[nodiscard]] std::filesystem::path lock_of(const std::filesystem::path& path);

/// "it is a folder", for messages.  [local]
[[nodiscard]] std::string kind_of_file(mode_t mode);

/// The Error of a name beside a file that a run needs and that is somebody else's.  [local]
[[nodiscard]] core::Error in_the_way(const std::filesystem::path& name, const std::string& what);

/// The folder that holds `path` ("." where it has none).  [local]
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// The name that a chain of symbolic links ends in, so that the file is replaced and the link
/// stays.  [local]
/// @throws core::Error{Code::bad_input} for a circle of links
[[nodiscard]] std::filesystem::path follow_links(const std::filesystem::path& path);

/// Checks the name, its folder and what is there now, touching nothing.  [local]
/// @throws core::Error{bad_input | no_such_directory | not_writable | already_exists}
void check_target(const std::filesystem::path& path, core::Existing existing);
/// The same for a folder of files. One that is there is replaced only if it is empty or has a file
/// with one of the names `ours`.  [local]
void check_target_folder(const std::filesystem::path& path, core::Existing existing,
                         std::span<const std::string> ours);

/// What to do with a file under the name of a part.
enum class LeftOver { refuse, replace };

/// That nothing, or what a killed run of ours has left, has the name of a part: of a file, or of
/// a folder.  [local]
/// @throws core::Error{already_exists}
void check_left_over(const std::filesystem::path& part, LeftOver left_over, bool folder = false);

/// The same for all names that a file needs beside it while it is written, and that nothing is
/// replaced which belongs to another file (check_unshared).  [local]
/// @throws core::Error{already_exists}
void check_beside(const std::filesystem::path& path, core::Publish publish, LeftOver left_over);

}  // namespace tailrace::formats
