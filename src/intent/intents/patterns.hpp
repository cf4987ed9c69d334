// SPDX-License-Identifier: Apache-2.0
// Names with the numbers taken out, so that what was learned from one run's files fits the next
// run's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intent/profile/model.hpp"

namespace tailrace::intent {

enum class NumberKind { step, rank, date, id, number };

/// A path, and what helps to tell what its numbers are.
struct PathUse {
    std::string path;
    ProcessSet processes;
    Seconds first_s;            ///< when it was first used
    std::uint64_t profile = 0;  ///< times and processes compare within one profile only
};

struct PathPattern {
    std::string pattern;    ///< "/run_{date}/rank_{rank}.h5"; braces of a name are doubled
    std::string glob;       ///< for fnmatch(3) with FNM_PATHNAME
    std::string name_glob;  ///< of the last part of the path alone
    std::vector<NumberKind> numbers;
    std::size_t in_folders = 0;        ///< as many of the numbers stand before the last slash
    std::vector<std::size_t> members;  ///< places in what was given
    std::vector<std::vector<std::string>> values;  ///< the numbers of each member
};

/// "step", "rank", "date", "id", "number".  [local]
[[nodiscard]] std::string name(NumberKind kind);

/// The patterns of `paths`: each path is a member of exactly one and matches its glob. A number
/// that varies is taken out, a rank where it goes with the process, a step where it rises with
/// time or its word says so; one that stays the same only where a word before it or leading zeros
/// say that it counts something, or it is a date: 202403, or folders 2024/03/01.  [local]
/// @param least_values  a number that neither goes with the process nor has such a word is part of
///                      the name where it has fewer values than this
[[nodiscard]] std::vector<PathPattern> patterns_of(const std::vector<PathUse>& paths,
                                                   std::size_t least_values = 2);

}  // namespace tailrace::intent
