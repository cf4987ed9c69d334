// SPDX-License-Identifier: Apache-2.0
// Which declarations are for a file, or a dataset of it.
#pragma once

#include <string>
#include <vector>

#include "intent/declare/declaration.hpp"

namespace tailrace::intent::declare {

/// Whether a pattern (fnmatch with FNM_PATHNAME) is for a path. One that begins with "/" is for the
/// whole path; else it is held against as many of the path's last parts as it has itself. [local]
[[nodiscard]] bool matches(const std::string& pattern, const std::string& path);

/// The absolute paths of one file: without symbolic links, and as somebody calls it.
using Names = std::vector<std::string>;

/// What a document declares of a file: where several patterns match, an exact path wins, then the
/// one with the most literal characters, then the first, each key by itself.  [local]
[[nodiscard]] OfFile resolve(const Document& document, const Names& names);
/// The same of a dataset of it.  [local]
/// @param path  within the file, "/a/b"
[[nodiscard]] Values resolve(const OfFile& of, const std::string& path);

/// The patterns of files that match none of the paths.  [local]
[[nodiscard]] std::vector<std::string> without_match(const Document& document,
                                                     const std::vector<std::string>& paths);

}  // namespace tailrace::intent::declare
