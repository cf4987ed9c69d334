// SPDX-License-Identifier: Apache-2.0
// Boxes from finished raw files by pread, whoever wrote them.
#pragma once

#include <filesystem>
#include <memory>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"

namespace tailrace::formats::posix {

/// Opens a shared file or the manifest of a file per rank.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_raw_source(const comm::Comm& comm,
                                                            const std::filesystem::path& path,
                                                            core::Phases& phases);

}  // namespace tailrace::formats::posix
