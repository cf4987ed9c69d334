// SPDX-License-Identifier: Apache-2.0
// What the subfiling driver made of a file: from its configuration, which it writes itself.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace tailrace::formats::hdf5 {

/// "subfiles" and "subfile_stripe_bytes" in force for a file that was created.  [local]
[[nodiscard]] std::map<std::string, std::string> subfiling_in_force(
    const std::filesystem::path& path);

}  // namespace tailrace::formats::hdf5
