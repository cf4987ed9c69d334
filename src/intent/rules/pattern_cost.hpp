// SPDX-License-Identifier: Apache-2.0
// What a setting costs where no rule asked for it: an entry of a plan is for all that its pattern
// matches. Internal to src/intent.
#pragma once

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

/// Bytes on the disk, as it is and with a setting of the plan.
struct Stored {
    std::uint64_t now = 0, then = 0;
    Stored& operator+=(const Stored& other);
};

/// Whether it would become half as large again.  [local]
[[nodiscard]] bool swells(const Stored& stored);
/// Of the dataset, with the chunk; nothing where it does not get it.  [local]
[[nodiscard]] std::optional<Stored> stored_in_chunks(const Subject& s, const plan::Planned& chunk);
/// Of the file, with blocks of so many bytes for its metadata or its small data; nothing where it
/// is not created, or the program chooses them.
/// @param wanted  whether a rule wants them for it, and has looked at its size  [local]
[[nodiscard]] std::optional<Stored> stored_in_blocks(const Subject& s, const plan::Planned& block,
                                                     bool wanted);

/// Why a sieve buffer of so many bytes would make the file slower (sieve_rules.cpp).  [local]
[[nodiscard]] std::optional<Held> held_by_pieces_of_file(const Subject& s,
                                                         std::uint64_t sieve_buffer);

}  // namespace tailrace::intent::rules
