// SPDX-License-Identifier: Apache-2.0
// Setting space aside by all ranks at once, where one rank alone takes long over it (tmpfs; other
// file systems only note the extent).
#pragma once

#include <cstdint>
#include <filesystem>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "formats/part_file.hpp"

namespace tailrace::formats {

/// Like reserve() on `file`, every rank its share of `bytes`.  [collective]
/// @param name  for messages: the name that the user gave
/// @throws core::Error{Code::no_space_reserved} on all ranks
[[nodiscard]] Reservation reserve_together(const comm::Comm& comm, core::Phases& phases,
                                           const std::filesystem::path& file, std::uint64_t bytes,
                                           const std::filesystem::path& name);

}  // namespace tailrace::formats
