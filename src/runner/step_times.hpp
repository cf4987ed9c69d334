// SPDX-License-Identifier: Apache-2.0
// Times of the steps over ranks, in memory that does not grow with their number.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "core/record.hpp"

namespace tailrace::runner {

/// Seconds of one step on this rank.
struct StepSeconds {
    double write = 0;  ///< in phase "write", agreement apart
    double sync = 0;
    double compute = 0;
};

/// Collects the steps of a run in order. Every step on its own up to `most_entries` steps; beyond,
/// blocks of equally many consecutive steps.
class StepTimes {
public:
    static constexpr std::uint64_t most_entries = 1024;  ///< of records()
    static constexpr std::size_t most_waiting = 16384;   ///< steps between two reductions

    /// @param steps  of the whole run
    /// @param sync, compute  whether records() tells these times
    StepTimes(const comm::Comm& comm, std::uint64_t steps, bool sync, bool compute);

    void add(const StepSeconds& seconds);  ///< [local]
    /// True where reduce() must be called before the next add(); the same on all ranks.  [local]
    [[nodiscard]] bool full() const noexcept { return x_waiting.size() >= most_waiting; }
    /// Joins what the ranks have added since the last time.  [collective]
    void reduce();

    // Of all that was reduced.
    /// Sum over the steps of the time of the slowest rank.  [local]
    [[nodiscard]] double write_s() const noexcept { return x_write_s; }
    [[nodiscard]] std::vector<core::StepRecord> records() const { return x_records; }  ///< [local]

private:
    void take(const StepSeconds& low, const StepSeconds& sum, const StepSeconds& high);

    comm::Comm x_comm;
    std::uint64_t x_block;  ///< steps per record
    bool x_sync, x_compute;
    std::uint64_t x_taken = 0;
    double x_write_s = 0;
    std::vector<StepSeconds> x_waiting;
    std::vector<core::StepRecord> x_records;
};

}  // namespace tailrace::runner
