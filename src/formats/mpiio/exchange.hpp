// SPDX-License-Identifier: Apache-2.0
// Whether collective calls moved data between ranks, which MPI-IO itself does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/comm.hpp"
#include "core/sink.hpp"

namespace tailrace::formats::mpiio {

/// What can be known of the writes of a file: bytes that were written by another rank than the one
/// that asked, or a setting that leaves no choice.
struct Exchange {
    std::optional<bool> collective;      ///< unset: not seen, or not measured
    std::string cause;                   ///< why it was not, or why that is not known
    std::optional<std::uint64_t> wrote;  ///< ranks that wrote in phase "write"; unset: not measured
};

/// Judges the collective writes of a finished file; equal on all ranks.  [collective]
/// @param mine    what the system calls of this rank wrote, where they are counted
/// @param asked   bytes that this rank asked MPI-IO to write
/// @param report  `mpi_io` and `hints_in_force` are set
[[nodiscard]] Exchange exchange_of(const comm::Comm& comm,
                                   const std::optional<core::WriterReport>& mine,
                                   std::uint64_t asked, const core::FileReport& report);

}  // namespace tailrace::formats::mpiio
