// SPDX-License-Identifier: Apache-2.0
// Who really wrote: the counts of the system calls below the libraries, per rank and phase.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "comm/comm.hpp"
#include "core/error.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// What this rank's system calls did to `files` together; nothing without a core::IoObserver.
/// Phases are those that `phases` has seen, and the Sinks' own.  [local]
[[nodiscard]] std::optional<core::WriterReport> my_writer_report(
    int rank, const std::vector<std::filesystem::path>& files, const core::Phases& phases);

/// Fills `writers` (on rank 0) and `writers_measured`, which is true where every rank had
/// counts.  [collective]
void gather_writers(const comm::Comm& comm, const std::optional<core::WriterReport>& mine,
                    core::FileReport& report);

/// Compares the bytes that reached the system calls of all ranks with those that were asked for.
/// Returns at once where any rank has no counts.  [collective]
/// @param asked  bytes that this rank's writes asked for since the file was opened
/// @param mine   counts of this rank; those of phases in which no data is written (opening and
///               describing, core::PhaseUse) are left out
/// @throws core::Error{Code::data_lost} on all ranks, naming the file, the ranks, both numbers
void check_bytes_below(const comm::Comm& comm, const std::filesystem::path& file,
                       std::uint64_t asked, const std::optional<core::WriterReport>& mine);

}  // namespace tailrace::formats
