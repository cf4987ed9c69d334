// SPDX-License-Identifier: Apache-2.0
// When a run writes and reads. Internal to src/intent/rules.
#pragma once

#include "intent/rules/subject.hpp"

namespace tailrace::intent::rules {

/// All output of a run. Shares are of its duration, 0 to 1.
struct Output {
    std::uint64_t bytes = 0, calls = 0, writers = 0;
    std::uint64_t read_after = 0;   ///< bytes that the run reads of files that it wrote
    std::optional<double> share;    ///< in writes and closes, mean of those that write
    std::optional<double> between;  ///< between the first and the last write, and not in one
    std::uint64_t bursts = 0;  ///< pieces of time with writes, apart by 1 % of the run and more
};
[[nodiscard]] Output output_of(const Profile& profile);  ///< [local]
/// Bytes of the file that the run reads after it wrote there; 0 where the order is not known.
[[nodiscard]] std::uint64_t read_after_write(const Subject& s);  ///< [local]

}  // namespace tailrace::intent::rules
