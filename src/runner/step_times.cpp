// SPDX-License-Identifier: Apache-2.0
#include "runner/step_times.hpp"

#include <algorithm>
#include <span>

namespace tailrace::runner {

namespace {

static_assert(sizeof(StepSeconds) == 3 * sizeof(double), "reduced as plain numbers");

std::span<double> numbers(std::vector<StepSeconds>& steps) {
    return {reinterpret_cast<double*>(steps.data()), 3 * steps.size()};
}

/// Joins one more step to a block of `count`.
void join(core::Spread& block, std::uint64_t count, double low, double mean, double high) {
    block.min = count == 0 ? low : std::min(block.min, low);
    block.max = count == 0 ? high : std::max(block.max, high);
    block.mean += (mean - block.mean) / static_cast<double>(count + 1);
}

}  // namespace

StepTimes::StepTimes(const comm::Comm& comm, std::uint64_t steps, bool sync, bool compute)
    : x_comm(comm),
      x_block((std::max<std::uint64_t>(steps, 1) - 1) / most_entries + 1),
      x_sync(sync),
      x_compute(compute) {}

void StepTimes::add(const StepSeconds& seconds) { x_waiting.push_back(seconds); }

void StepTimes::reduce() {
    std::vector<StepSeconds> low = x_waiting, sum = x_waiting;
    x_comm.reduce(numbers(low), comm::Reduce::min);
    x_comm.reduce(numbers(sum), comm::Reduce::sum);
    x_comm.reduce(numbers(x_waiting), comm::Reduce::max);
    for (std::size_t i = 0; i < x_waiting.size(); ++i) take(low[i], sum[i], x_waiting[i]);
    x_waiting.clear();
}

void StepTimes::take(const StepSeconds& low, const StepSeconds& sum, const StepSeconds& high) {
    if (x_taken % x_block == 0) {
        core::StepRecord fresh;
        fresh.step = x_taken;
        fresh.count = 0;
        if (x_sync) fresh.sync_s = core::Spread{};
        if (x_compute) fresh.compute_s = core::Spread{};
        x_records.push_back(fresh);
    }
    core::StepRecord& block = x_records.back();
    const double ranks = x_comm.size();
    join(block.write_s, block.count, low.write, sum.write / ranks, high.write);
    if (x_sync) join(*block.sync_s, block.count, low.sync, sum.sync / ranks, high.sync);
    if (x_compute)
        join(*block.compute_s, block.count, low.compute, sum.compute / ranks, high.compute);
    ++block.count;
    ++x_taken;
    x_write_s += high.write;
}

}  // namespace tailrace::runner
