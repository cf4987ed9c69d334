// SPDX-License-Identifier: Apache-2.0
// Files that belong to another one and go with it: the subfiles that a manifest names.
#pragma once

#include <filesystem>
#include <vector>

namespace tailrace::formats {

/// The manifest that says that the set of `path` is complete.  [local]
[[nodiscard]] std::filesystem::path manifest_of(const std::filesystem::path& path);

/// The subfiles that the manifest of `path` names, where there is one; nothing where it is not ours
/// or damaged: what we do not know is not removed.  [local]
[[nodiscard]] std::vector<std::filesystem::path> companions_of(const std::filesystem::path& path);

}  // namespace tailrace::formats
