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

/// Bytes that a call moves as the dataset is: its chunks; else the pages of its pieces.  [local]
[[nodiscard]] std::uint64_t bytes_touched(const Access& access, const Dataset& dataset);

/// Bytes of all chunks of the dataset, with what of them lies beyond it; without chunks its own.
/// [local]
[[nodiscard]] std::uint64_t bytes_stored(const Dataset& dataset);

/// Whether more than a fifth of the calls go to places that nothing foretells, or each further than
/// a chunk of `anew` from the one before.  [local]
[[nodiscard]] bool scattered(const Transfers& side, const Dataset& anew);

/// Whether ranks would have chunks of it filled when it is created, which HDF5 does not do to a
/// contiguous dataset.  [local]
[[nodiscard]] bool filled_as_chunks(const Subject& s);

/// Why such chunks would make the program slower than it is: calls that go from place to place, or
/// flushes, would move four times the bytes and more.  [local]
[[nodiscard]] std::optional<Held> held_by_cost(const Subject& s, const plan::Call& chunk);

/// Why they would: the fill values are more than what the reads save.  [local]
[[nodiscard]] std::optional<Held> held_by_fill(const Subject& s, const plan::Call& chunk);

/// Why they would: calls would move four times the bytes and more without the cache of rule 13,
/// which is held back itself (cache_rules.cpp).  [local]
[[nodiscard]] std::optional<Held> held_by_cache(const Subject& s, const plan::Call& chunk);

}  // namespace tailrace::intent::rules
