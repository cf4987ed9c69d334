// SPDX-License-Identifier: Apache-2.0
// Files that belong to another one and go with it: subfiles, and the parts of a file per rank.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tailrace::formats {

/// The manifest that says that the subfiles of `path` are complete.  [local]
[[nodiscard]] std::filesystem::path manifest_of(const std::filesystem::path& path);

/// Whether a file is such a manifest, and not a file of somebody else.  [local]
[[nodiscard]] bool is_manifest(const std::filesystem::path& manifest);

/// Files that HDF5's subfiling driver made, or would make, for a file `path` of that inode number:
/// "name.subfile_<inode>_1_of_4", "name.subfile_<inode>.config". A file of the same name from an
/// earlier run had another inode, and its subfiles are not among them. Sorted.  [local]
[[nodiscard]] std::vector<std::string> subfiles_of(const std::filesystem::path& path, ino_t inode);
/// The same for the inode that the file has.  [local]
[[nodiscard]] std::vector<std::string> subfiles_of(const std::filesystem::path& path);

/// Whether `name` is that of a part of a file per rank whose manifest is called `manifest`:
/// "F.00012", or "F.00012.b" of the set that took the place of another.  [local]
[[nodiscard]] bool is_part_name(const std::string& manifest, const std::string& name);

/// What goes with the file that stands under `path`: subfiles that its manifest names or that
/// carry its inode number, parts that it names itself. Nothing where what says so is not ours or
/// damaged: what we do not know is not removed.  [local]
[[nodiscard]] std::vector<std::filesystem::path> companions_of(const std::filesystem::path& path);

/// That none of `files`, which are going to be replaced as those of `path`, is the data of another
/// set of files in the folder: of one whose manifest was renamed or copied.  [local]
/// @throws core::Error{already_exists} with the file and the manifest that names it
void check_unshared(const std::filesystem::path& path,
                    const std::vector<std::filesystem::path>& files);

}  // namespace tailrace::formats
