// SPDX-License-Identifier: Apache-2.0
// What rules of plain files share. Internal to src/intent/rules.
#pragma once

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

constexpr std::uint64_t enough_calls = 1000;  ///< that they are worth a word

/// Rules of datasets have more to say where these are known.  [local]
[[nodiscard]] bool datasets_known(const Subject& s);
[[nodiscard]] std::uint64_t processes_of(const Subject& s);  ///< at least 1  [local]
/// 0 of nothing.  [local]
[[nodiscard]] double share(std::uint64_t part, std::uint64_t all);
/// Below collective calls it is MPI-IO that chooses who moves what, and how.  [local]
[[nodiscard]] std::optional<Held> below_collective(const Subject& s);

}  // namespace tailrace::intent::rules
