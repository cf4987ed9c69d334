// SPDX-License-Identifier: Apache-2.0
// A file to which more is appended: the older one stays as it is until the new one has its name.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.hpp"

namespace tailrace::formats {

/// Makes a new file with the bytes and permissions of another one; blocks are shared, or copied by
/// the file system, if it can.  [local]
/// @throws core::Error, and then there is none
void copy_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// The Error of a file whose objects are others than those of what is to be appended.  [local]
/// @param object  empty: of the file
[[nodiscard]] core::Error cannot_append(const std::filesystem::path& file,
                                        const std::string& object, const std::string& difference);

}  // namespace tailrace::formats
