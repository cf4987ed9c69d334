// SPDX-License-Identifier: Apache-2.0
// The time lines of the ranks of one repetition: one start for all, and what is gathered
// afterwards.
#pragma once

#include <optional>
#include <span>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"

namespace tailrace::runner {

/// How the ranks' clocks hang together.
struct Clocks {
    bool one = true;           ///< ranks of one node read the same clock
    double uncertainty_s = 0;  ///< else how far two nodes may be apart
};

/// Begins the time line of every rank at one common moment: within a node exactly, for they share
/// a clock; between nodes as near to it as they leave a barrier together.  [collective]
/// @throws core::Error on all ranks
[[nodiscard]] Clocks begin_lines(const comm::Comm& comm, core::Phases& phases);

/// What the ranks kept, complete on rank 0; nothing where a rank never began, or has no memory for
/// it.  [collective]
/// @param writers  those that rank 0 knows
[[nodiscard]] std::optional<core::TimeLinesRecord> gathered_lines(
    const comm::Comm& comm, const core::Phases& phases, const Clocks& clocks,
    std::span<const core::WriterReport> writers);

}  // namespace tailrace::runner
