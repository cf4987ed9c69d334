// SPDX-License-Identifier: Apache-2.0
// The time lines of the ranks of one run: of which ranks they are kept, and how they are joined.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/phases.hpp"
#include "core/sink.hpp"
#include "core/time_line.hpp"

namespace tailrace::core {

/// When a rank was in which phase, from the create of the file on.
struct RankLine {
    int rank = 0;
    double resolution_s = 0;         ///< TimeLine::resolution_s()
    std::vector<Stretch> stretches;  ///< phases by their place in TimeLinesRecord::phases
};

/// The time lines of all ranks, or of some that stand for them.
struct TimeLinesRecord {
    double elapsed_s = 0;             ///< to the end of the last stretch of any rank
    bool one_clock = true;            ///< all ranks read the same one; else they met in a barrier
    double clock_uncertainty_s = 0;   ///< how far the clocks of two nodes may be apart
    std::vector<std::string> phases;  ///< in the order in which they began
    std::vector<RankLine> lines;
};

inline constexpr std::size_t most_time_lines = 64;  ///< ranks of a TimeLinesRecord

/// The ranks whose time lines are kept, in order: all up to `most`; else those that were busy
/// longest and shortest, those that wrote (up to half of `most`, evenly spread) and others, evenly
/// spread.  [local]
/// @param busy_s  one entry per rank
[[nodiscard]] std::vector<int> ranks_to_show(std::span<const double> busy_s,
                                             std::span<const WriterReport> writers,
                                             std::size_t most = most_time_lines);
/// Stretches that each of `ranks` time lines may have.  [local]
[[nodiscard]] std::size_t most_stretches(std::size_t ranks) noexcept;
/// Time at work on the clock: in all phases but those of waiting, filling and reading.  [local]
[[nodiscard]] double busy_s(const std::map<std::string, PhaseTime>& times);
/// What one rank sends of its time line.
struct SentLine {
    RankLine line;  ///< phases by their place in `names`
    std::vector<std::string> names;
};
/// Joins them under one list of names.  [local]
[[nodiscard]] TimeLinesRecord joined(std::vector<SentLine> lines);

}  // namespace tailrace::core
