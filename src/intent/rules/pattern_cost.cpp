// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/pattern_cost.hpp"

#include <algorithm>

#include "intent/plan/functions.hpp"
#include "intent/rules/chunk_cost.hpp"

namespace tailrace::intent::rules {

Stored& Stored::operator+=(const Stored& other) {
    now += other.now;
    then += other.then;
    return *this;
}

bool swells(const Stored& stored) { return stored.then / 3 * 2 > stored.now; }

std::optional<Stored> stored_in_chunks(const Subject& s, const plan::Planned& chunk) {
    const Dataset& dataset = *s.dataset;
    if (!chunk.function || !created(s) || program_sets(s, "chunk")) return std::nullopt;
    // What is empty, or was never written, has no chunks.
    const std::uint64_t now = bytes_stored(dataset);
    if (size_bytes(dataset).value_or(0) == 0 || calls(dataset.writes) == 0) return std::nullopt;
    Dataset anew = dataset;
    anew.chunk = as_applied(s, *chunk.function);
    if (anew.chunk.empty()) return std::nullopt;
    // The connector leaves chunks of the program alone that are neither tiny nor huge.
    const std::uint64_t own = chunk_bytes(dataset).value_or(0);
    const bool stays = chunk.function->name == "tile" && own >= 64 * kib && own <= 32 * mib;
    return Stored{now, stays ? now : std::max(bytes_stored(anew), now)};
}

std::optional<Stored> stored_in_blocks(const Subject& s, const plan::Planned& block, bool wanted) {
    const auto* bytes = block.value ? std::get_if<std::uint64_t>(&*block.value) : nullptr;
    if (bytes == nullptr || !created(s) || program_sets(s, block.key)) return std::nullopt;
    const std::uint64_t now = bytes_at_end(s);
    return Stored{now, wanted ? now : now + *bytes};
}

}  // namespace tailrace::intent::rules
