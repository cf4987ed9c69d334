// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/coverage.hpp"

#include <algorithm>

#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr std::size_t few_boxes = 16;

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
    std::vector<DecodedPlace> places;
    bool complete = true;
    for (const auto& part : parts) {
        const DecodedTransfers* from = of(*part.record, direction);
        if (from == nullptr || from->record.calls + from->record.direct_calls == 0) continue;
        complete = complete && all_places_known(*from);
        places.insert(places.end(), from->places.begin(), from->places.end());
    }
    const auto boxes = boxes_of(places, dims);
    if (!boxes) return made;
    const auto distinct = distinct_elements(*boxes);
    if (!distinct) return made;
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : dims) elements *= extent;
    if (complete) made.elements_distinct = *distinct;
    if (*distinct == elements && elements > 0) {
        made.full = true;
        made.elements_distinct = *distinct;
    } else if (complete) {
        made.full = false;
    }
    const auto few = joined(*boxes);
    if (complete && few.size() <= few_boxes) {
        for (const core::Box& box : few) made.boxes.push_back({box.offset, box.count});
    }
    return made;
}

}  // namespace tailrace::intent::spool
