// SPDX-License-Identifier: Apache-2.0
// The phases that a run may have: the one table. The report of the Python package and
// docs/developer/records.md have the same (tests/unit/core/test_known_phases.py).
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/phases.hpp"

namespace tailrace::core {

/// What the time of a phase counts as, and whether its system calls write data.
enum class PhaseUse {
    opening,     ///< before the data, of which nothing is written
    writing,     ///< all that is done with data in a step
    closing,     ///< may write data that waited for it
    describing,  ///< writes, but no data
    finishing,   ///< makes what was written last, under its name
    waiting,     ///< no work for the file
    off_clock,   ///< no part of any rate
};

struct KnownPhase {
    std::string_view name, words;
    PhaseUse use;
};

inline constexpr auto known_phases = std::to_array<KnownPhase>({
    {"create", "create the file", PhaseUse::opening},
    {"reserve", "set space aside", PhaseUse::opening},
    {"precreate", "create by rank 0", PhaseUse::opening},
    {"open_file", "open the file", PhaseUse::opening},
    {"open_dataset", "open the dataset", PhaseUse::opening},
    {"define", "define objects", PhaseUse::opening},
    {"write", "write calls", PhaseUse::writing},
    {"flush", "empty the library's buffers", PhaseUse::finishing},
    {"close", "close the file", PhaseUse::closing},
    {"describe", "write the description", PhaseUse::describing},
    {"sync", "force to the device", PhaseUse::finishing},
    {"publish", "rename", PhaseUse::finishing},
    {"agree", "wait for other ranks and agree", PhaseUse::waiting},
    {"encode", "compress chunks", PhaseUse::writing},
    {"exchange", "send chunks to who writes them", PhaseUse::writing},
    {"read", "read calls", PhaseUse::off_clock},
    {"read_back", "open, compare, wait", PhaseUse::off_clock},
    {"fill", "make the data, off the clock", PhaseUse::off_clock},
    {"compute", "emulated computation, off the clock", PhaseUse::off_clock},
    {"allocate", "get places for chunks", PhaseUse::writing},
    {"pack", "bring data into the order of the file", PhaseUse::writing},
    {"reassemble", "copy subfiles into one file", PhaseUse::closing},
    {"verify", "check each element, off the clock", PhaseUse::off_clock},
});

/// Nothing of one that is not in the table.  [local]
[[nodiscard]] constexpr std::optional<PhaseUse> use_of(std::string_view phase) noexcept {
    for (const KnownPhase& one : known_phases)
        if (one.name == phase) return one.use;
    return std::nullopt;
}

/// Seconds so far in all phases of this use.  [local]
[[nodiscard]] inline double seconds_in(PhaseUse use, const Phases& phases) {
    double sum = 0;
    for (const KnownPhase& one : known_phases)
        if (one.use == use) sum += phases.seconds(one.name);
    return sum;
}

}  // namespace tailrace::core
