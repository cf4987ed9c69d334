// SPDX-License-Identifier: Apache-2.0
// What of a file this machine holds in memory.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tailrace::core {

struct Residency {
    std::uint64_t pages = 0;     ///< of the file
    std::uint64_t resident = 0;  ///< of them in memory
};

/// Looks without reading: mincore() on a mapping.  [local]
/// @throws Error{no_such_file | io}
[[nodiscard]] Residency residency(const std::filesystem::path& file);

/// Asks the kernel to forget the file's clean pages (POSIX_FADV_DONTNEED), which needs no
/// privilege. A file system that lies in memory keeps them: residency() tells.  [local]
/// @throws Error{no_such_file | io}
void drop_pages(const std::filesystem::path& file);

}  // namespace tailrace::core
