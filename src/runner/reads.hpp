// SPDX-License-Identifier: Apache-2.0
// Patterns in which a finished file is read; docs/user/reading.md describes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "runner/kernel.hpp"

namespace tailrace::runner {

/// What one rank asks for in one call.
using Request = std::vector<Piece>;

/// The requests of a rank in their order, each of at most `room` bytes. Together the ranks read the
/// pattern's elements once.  [local]
/// @throws core::Error{Code::bad_input} where the pattern makes no sense for the kernel
[[nodiscard]] std::vector<Request> requests_of(const Kernel& kernel, ReadPattern pattern,
                                               std::uint64_t file, std::uint64_t rank,
                                               std::uint64_t room);

/// Reads by one pattern and compares every element, off the clock. Phase "read_back".  [collective]
/// @param files  the file and its parts, for the page cache
/// @throws core::Error on all ranks where reading fails, or where a pattern that reads everything
///         read less; a wrong value is no Error here
[[nodiscard]] core::ReadRecord read_pattern(const comm::Comm& comm, const Kernel& kernel,
                                            ReadPattern pattern,
                                            const std::vector<std::string>& files,
                                            core::Phases& phases, std::span<std::byte> buffer);

}  // namespace tailrace::runner
