// SPDX-License-Identifier: Apache-2.0
// The figures of one repetition over all ranks; docs/user/seism.md defines each.
#pragma once

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "runner/laps.hpp"

namespace tailrace::runner {

class Kernel;
struct Written;

/// Seconds, each the greatest over ranks, except `write_s`: the sum over steps of the greatest; and
/// `open_s`, from which the greatest time of setting space aside within it is taken, for which the
/// others wait. With a file per rank it is each rank's own time without that.
struct Figures {
    double open_s = 0, precreate_s = 0, open_file_s = 0, open_dataset_s = 0;
    double write_s = 0, close_s = 0, agree_s = 0, sync_s = 0, durable_s = 0;
    double define_s = 0;      ///< of objects that come with their steps
    double flush_s = 0;       ///< before the close, where the kernel has one
    double reserve_s = 0;     ///< in setting space aside
    std::uint64_t bytes = 0;  ///< logical
    std::map<std::string, LapOfRanks> laps{};
    Laps mine{};                      ///< the same of this rank
    std::time_t data_written_at = 0;  ///< of this rank

    [[nodiscard]] double aggregate_s() const noexcept {
        return open_s + define_s + write_s + flush_s + close_s;
    }
};

/// @returns 0 where no time passed  [local]
[[nodiscard]] double rate(std::uint64_t bytes, double seconds) noexcept;

[[nodiscard]] Figures figures_of(const comm::Comm& comm, const Written& written,
                                 const core::Phases& phases);  ///< [collective]

/// What is the same in all Records of a run.  [collective]
[[nodiscard]] core::Record record_frame(const comm::Comm& comm, const Kernel& kernel);

/// Memory of all ranks so far.  [collective]
[[nodiscard]] core::MemoryRecord memory_of(const comm::Comm& comm, const Kernel& kernel,
                                           std::uint64_t after_init_bytes);

/// Fills in what a finished write tells.  [collective]
void take_written(const comm::Comm& comm, const Kernel& kernel, const Written& written,
                  const Figures& figures, core::Record& record);

}  // namespace tailrace::runner
