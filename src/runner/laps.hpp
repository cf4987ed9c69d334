// SPDX-License-Identifier: Apache-2.0
// Times of named parts of a write, for the tables that a classic program prints.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "comm/comm.hpp"
#include "core/record.hpp"

namespace tailrace::runner {

/// On this rank. All ranks name the same parts.
class Laps {
public:
    struct Lap {
        double seconds = 0;
        std::uint64_t calls = 0;
    };
    void add(const std::string& name, double seconds, std::uint64_t calls = 1) {
        Lap& lap = x_laps[name];
        lap.seconds += seconds;
        lap.calls += calls;
    }
    [[nodiscard]] const std::map<std::string, Lap>& all() const noexcept { return x_laps; }

private:
    std::map<std::string, Lap> x_laps;
};

/// Over all ranks.
struct LapOfRanks {
    core::Spread seconds;
    std::uint64_t calls = 0;  ///< the greatest
};
/// [collective]
[[nodiscard]] std::map<std::string, LapOfRanks> over_ranks(const comm::Comm& comm,
                                                           const Laps& laps);

}  // namespace tailrace::runner
