// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/coverage.hpp"

#include <optional>
#include <set>

#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr std::size_t few_boxes = 16;

/// What all processes touched. A dataset that is made anew, with the file or by itself, begins
/// another life. It counts as full only where it was in each of them: what is left out of one is
/// seen by whoever reads before the next. Where the lives cannot be told apart, nothing is said.
struct Touched {
    std::vector<DecodedPlace> last;     ///< in the last life
    std::vector<DecodedPlace> earlier;  ///< in each one before
    bool complete = true;               ///< all places are known
    bool in_step = true;                ///< all processes know of as many lives
    bool even = true;                   ///< and what they touched in the earlier ones
    bool earlier_whole = true;  ///< there are none, or a process touched all of each by itself
};

Touched touched(Direction direction, const std::vector<Part<DecodedDataset>>& parts) {
    Touched all;
    std::set<std::uint64_t> members;
    std::optional<std::uint16_t> before;
    bool whole = false;
    for (const auto& part : parts) {
        const DecodedTransfers* from = of(*part.record, direction);
        if (from == nullptr || from->record.calls + from->record.direct_calls == 0) continue;
        const TransfersRecord& record = from->record;
        all.complete = all.complete && all_places_known(*from);
        // Two records of one process: it was made anew with other dimensions, or chunks.
        all.in_step = all.in_step && members.insert(part.member.id).second &&
                      before.value_or(record.lives_before) == record.lives_before;
        all.even = all.even && record.uneven == 0;
        before = record.lives_before;
        whole = whole || (record.uneven == 0 && from->earlier.empty());
        all.last.insert(all.last.end(), from->places.begin(), from->places.end());
        all.earlier.insert(all.earlier.end(), from->earlier.begin(), from->earlier.end());
    }
    all.even = all.even && all.in_step;
    all.earlier_whole = whole || before.value_or(0) == 0;
    return all;
}

bool holds_all(const std::vector<DecodedPlace>& places, const Extents& dims,
               std::uint64_t elements) {
    const auto boxes = boxes_of(places, dims);
    const auto distinct = boxes ? distinct_elements(*boxes) : std::nullopt;
    return distinct && *distinct == elements;
}

}  // namespace

const DecodedTransfers* of(const DecodedDataset& dataset, Direction direction) {
    const auto found = dataset.transfers.find(direction);
    return found != dataset.transfers.end() ? &found->second : nullptr;
}

bool all_places_known(const DecodedTransfers& from) {
    return from.record.places_not_kept == 0 && from.record.places_approximate == 0;
}

Coverage coverage(Direction direction, const Extents& dims,
                  const std::vector<Part<DecodedDataset>>& parts) {
    Coverage made;
    const Touched all = touched(direction, parts);
    const auto boxes = boxes_of(all.last, dims);
    if (!boxes) return made;
    const auto distinct = distinct_elements(*boxes);
    if (!distinct) return made;
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : dims) elements *= extent;
    const bool full = *distinct == elements && elements > 0;
    if (!full && all.complete && all.in_step) made.full = false;
    if (!all.even) return made;
    if (all.complete || full) made.elements_distinct = *distinct;
    if (full && (all.earlier_whole || holds_all(all.earlier, dims, elements))) {
        made.full = true;
    } else if (all.complete) {
        made.full = false;
    }
    const auto few = joined(*boxes);
    if (all.complete && few.size() <= few_boxes) {
        for (const core::Box& box : few) made.boxes.push_back({box.offset, box.count});
    }
    return made;
}

}  // namespace tailrace::intent::spool
