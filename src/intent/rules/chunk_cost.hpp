// SPDX-License-Identifier: Apache-2.0
// What other chunks than those of the program would cost. Internal to src/intent.
#pragma once

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

constexpr std::uint64_t tile_bytes = 4 * mib;  ///< most that `tile` is given

/// What a function of a plan makes of the dataset, as large as the profile has it; empty: nothing
/// that is valid.  [local]
[[nodiscard]] Extents as_applied(const Subject& s, const plan::Call& call);

/// Why such chunks would make the program slower than it is: calls that go from place to place, or
/// flushes, would move four times the bytes and more.  [local]
[[nodiscard]] std::optional<Held> held_by_cost(const Subject& s, const plan::Call& chunk);

}  // namespace tailrace::intent::rules
