// SPDX-License-Identifier: Apache-2.0
// What it takes to read a dataset, as it lies, with another chunk cache, and in other chunks: the
// one estimator, which rules 13 and 75, `tailrace repack --profile` and `tailrace tune` ask.
// Internal to src/intent.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

/// What the reads (or writes) of a dataset take over the whole run, as bytes that are moved or
/// unpacked, with a chunk cache of so many bytes. A plan's cache is kept from one open to the next
/// (`is_kept`).  [local]
[[nodiscard]] double cost_of(const Subject& s, const Transfers& side, std::uint64_t cache,
                             bool is_kept = false);
/// How often a chunk is brought into it.  [local]
[[nodiscard]] double loads_of(const Subject& s, const Transfers& side, std::uint64_t cache,
                              bool is_kept = false);

/// By how much less is moved; and the seconds of the run that this is, where those were taken.
struct Saving {
    double times = 1;
    std::optional<double> seconds{};
};
/// `recorded`: what was taken when the seconds were, if that is not `now`.  [local]
[[nodiscard]] Saving saving_of(const Transfers& side, double now, double then,
                               std::optional<double> recorded = {});
/// As evidence, and as the effect that is expected.  [local]
void note_saving(Reason& reason, const Saving& saving, const Subject& s);

/// The chunk with which the reads of a dataset take the least.
struct Relaid {
    std::string dataset;
    Extents chunk;
    Saving saving;
    Access most;               ///< the reads that move the most
    double now = 0, then = 0;  ///< what all its reads take, as cost_of() says it
};
/// Nothing where that is not half of what they take now, at most. `planned`: bytes of the chunk
/// cache that a plan gives it, on top of which it is looked at.  [local]
[[nodiscard]] std::optional<Relaid> relaid_for_reads(const Subject& s, Count planned = {});
/// The chunk cache that a plan gives a dataset of a file; nothing: it does not.
using PlannedCache = std::function<Count(const Subject&)>;
/// Of all datasets of a file that is only read; where there are more, those that gain most first.
/// [local]
[[nodiscard]] std::vector<Relaid> relaid_for_reads_of_file(const Subject& s,
                                                           const PlannedCache& planned = {});
/// Of all of them together.  [local]
[[nodiscard]] Saving saving_of(const std::vector<Relaid>& all);

}  // namespace tailrace::intent::rules
