// SPDX-License-Identifier: Apache-2.0
#include "runner/laps.hpp"

#include <span>
#include <vector>

namespace tailrace::runner {

std::map<std::string, LapOfRanks> over_ranks(const comm::Comm& comm, const Laps& laps) {
    std::vector<double> least, sum, most;
    std::vector<std::uint64_t> calls;
    for (const auto& [name, lap] : laps.all()) {
        most.push_back(lap.seconds);
        calls.push_back(lap.calls);
    }
    least = sum = most;
    comm.reduce(std::span(least), comm::Reduce::min);
    comm.reduce(std::span(sum), comm::Reduce::sum);
    comm.reduce(std::span(most), comm::Reduce::max);
    comm.reduce(std::span(calls), comm::Reduce::max);
    std::map<std::string, LapOfRanks> all;
    std::size_t at = 0;
    for (const auto& [name, lap] : laps.all()) {
        all[name] = {{least[at], sum[at] / comm.size(), most[at]}, calls[at]};
        ++at;
    }
    return all;
}

}  // namespace tailrace::runner
