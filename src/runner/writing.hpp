// SPDX-License-Identifier: Apache-2.0
// One repetition of the write: the times of this rank, and of all ranks.
#pragma once

#include <cstddef>
#include <ctime>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "core/sink.hpp"
#include "runner/kernel.hpp"
#include "runner/laps.hpp"
#include "runner/progress.hpp"
#include "runner/step_times.hpp"
#include "runner/time_lines.hpp"

namespace tailrace::runner {

/// What one write of the whole file took and left, on this rank.
struct Written {
    bool created = false;   ///< the file: what fails from now on is a failure of the run
    bool complete = false;  ///< and it has its name; of a series, all have
    bool any = false;       ///< of a series: one has its name
    std::vector<core::StepRecord> steps;
    double write_s = 0;      ///< sum over the steps of the slowest rank's
    double open_s = 0;       ///< until the datasets are defined; with `set_aside_s`
    double set_aside_s = 0;  ///< by this rank, in setting space aside that the others wait for
    double define_s = 0;     ///< objects that were defined just before their step
    double flush_s = 0;      ///< of the flush before the close, where the kernel has one
    double close_s = 0;    ///< in the close of the file: no sync, no publishing, no wait for those
    double durable_s = 0;  ///< from the last rank in to the last rank out, fill and compute apart
    std::uint64_t bytes_given = 0;    ///< by this rank to the Sink
    std::time_t data_written_at = 0;  ///< when the last of the data had been handed over
    Laps laps;      ///< schema, create, define, prepare N and write N of batch N, close
    Clocks clocks;  ///< of the time lines
    std::map<std::string, core::PhaseTime> phases;  ///< until the file had its name
    core::FileReport report;  ///< also of a file that was created and failed, where known
};

/// The data of this rank, and which step they are of.
struct Buffer {
    std::vector<std::byte> values;  ///< in the order of Kernel::pieces()
    std::vector<std::byte> kept;    ///< in that of the program, where it is another one
    bool filled = false;
    std::uint64_t step = 0;
};

/// The data of a step, one piece behind the other.  [local]
void values_of_step(const Kernel& kernel, std::uint64_t rank, std::uint64_t step,
                    std::span<std::byte> values);

/// Makes the data of `step` unless they are there. Phase "fill".  [local]
void fill_buffer(const Kernel& kernel, int rank, std::uint64_t step, core::Phases& phases,
                 Buffer& buffer);

/// The pieces of a rank in a step, as they lie behind each other in `data`.  [local]
[[nodiscard]] std::vector<core::Write> writes_of(int rank, const Kernel& kernel, std::uint64_t step,
                                                 std::span<const std::byte> data);

/// Where and how the file of a step is created.  [local]
[[nodiscard]] core::Target target_of(const Kernel& kernel, std::uint64_t step);

/// Writes each file under its name, or leaves nothing of it.  [collective]
/// @param written  what is known, also after a failure
/// @throws core::Error on all ranks
void write_file(const comm::Comm& comm, const Kernel& kernel, core::Phases& phases, Buffer& buffer,
                Teller& teller, Written& written);

}  // namespace tailrace::runner
