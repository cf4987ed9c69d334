// SPDX-License-Identifier: Apache-2.0
// Records behind those of an existing file: a copy of it gets them, and takes its place when it is
// whole, so that the file of before is never in between (docs/developer/append.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/phases.hpp"
#include "server/metadata/collection.hpp"

namespace tailrace::server {

/// How many records each variable of a file has.  [local]
/// @param file  to read
/// @param name  of it in messages
/// @throws core::Error naming the variable and the difference if the file holds others, or other
/// values of constants
[[nodiscard]] std::vector<std::uint64_t> records_of(const std::filesystem::path& file,
                                                    const std::filesystem::path& name,
                                                    const FileSpec& spec, core::Phases& phases);

}  // namespace tailrace::server
