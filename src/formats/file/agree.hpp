// SPDX-License-Identifier: Apache-2.0
// Agreement of the ranks on a failure in one file.
#pragma once

#include <filesystem>
#include <optional>

#include "comm/comm.hpp"
#include "core/error.hpp"

namespace tailrace::formats {

/// As Comm::agree; an Error that does not name the file anywhere gets its path in front of the
/// dataset or other place that it does name.  [collective]
/// @throws core::Error on all ranks where it failed on any
void agree_in_file(const comm::Comm& comm, const std::optional<core::Error>& mine,
                   const std::filesystem::path& file);

}  // namespace tailrace::formats
