// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/coverage.hpp"

#include <algorithm>

namespace tailrace::intent::spool {
namespace {

using core::Box;
using core::Extents;

constexpr std::size_t most_boxes = 100'000;
constexpr std::uint64_t most_steps = 50'000'000;
constexpr std::size_t most_to_join = 256;

/// The box at block number `at[d]` of each dimension, cut to the array; empty outside it.
Box box_at(const DecodedPlace& place, const Extents& at, std::span<const std::uint64_t> dims) {
    Box box{Extents(dims.size()), Extents(dims.size())};
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::uint64_t start = place.start[d] + at[d] * place.stride[d];
        box.offset[d] = std::min(start, dims[d]);
        box.count[d] = std::min(place.block[d], dims[d] - box.offset[d]);
    }
    return box;
}

/// Whether the place stays within the array, and its blocks are few enough to be listed.
bool listable(const DecodedPlace& place, std::span<const std::uint64_t> dims, std::size_t room) {
    std::uint64_t blocks = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (place.count[d] == 0 || place.count[d] > room || blocks > room / place.count[d]) {
            return false;
        }
        blocks *= place.count[d];
        if (place.count[d] > 1 && place.stride[d] > dims[d]) return false;
        if (place.start[d] > dims[d]) return false;
    }
    return true;
}

/// Counts with a bound on the work.
class Counter {
public:
    std::optional<std::uint64_t> run(std::vector<const Box*> boxes, std::size_t d) {
        const std::uint64_t found = count(boxes, d);
        if (x_steps > most_steps) return std::nullopt;
        return found;
    }

private:
    /// Elements per index of the dimensions before `d`: sweeps along `d`.
    std::uint64_t count(std::vector<const Box*>& boxes, std::size_t d) {
        if (boxes.empty() || x_steps > most_steps) return 0;
        if (d == boxes.front()->rank()) return 1;
        std::sort(boxes.begin(), boxes.end(),
                  [d](const Box* a, const Box* b) { return a->offset[d] < b->offset[d]; });
        if (d + 1 == boxes.front()->rank()) return length(boxes, d);
        std::vector<std::uint64_t> cuts;
        for (const Box* box : boxes) {
            cuts.push_back(box->offset[d]);
            cuts.push_back(box->offset[d] + box->count[d]);
        }
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        std::uint64_t total = 0;
        std::vector<const Box*> active;
        std::size_t next = 0;
        for (std::size_t at = 0; at + 1 < cuts.size(); ++at) {
            for (; next < boxes.size() && boxes[next]->offset[d] <= cuts[at]; ++next) {
                active.push_back(boxes[next]);
            }
            std::erase_if(
                active, [&](const Box* box) { return box->offset[d] + box->count[d] <= cuts[at]; });
            x_steps += active.size() + 1;
            std::vector<const Box*> slice = active;
            total += (cuts[at + 1] - cuts[at]) * count(slice, d + 1);
        }
        return total;
    }

    std::uint64_t length(const std::vector<const Box*>& boxes, std::size_t d) {
        x_steps += boxes.size();
        std::uint64_t total = 0;
        std::uint64_t end = 0;
        for (const Box* box : boxes) {
            const std::uint64_t from = std::max(box->offset[d], end);
            const std::uint64_t to = box->offset[d] + box->count[d];
            if (to > from) total += to - from;
            end = std::max(end, to);
        }
        return total;
    }

    std::uint64_t x_steps = 0;
};

/// Takes `b` into `a` where they differ in one dimension only and touch there.
bool take_in(Box& a, const Box& b) {
    std::size_t differs = a.rank();
    for (std::size_t d = 0; d < a.rank(); ++d) {
        if (a.offset[d] == b.offset[d] && a.count[d] == b.count[d]) continue;
        if (differs != a.rank()) return false;
        differs = d;
    }
    if (differs == a.rank()) return true;
    const std::uint64_t end_a = a.offset[differs] + a.count[differs];
    const std::uint64_t end_b = b.offset[differs] + b.count[differs];
    if (a.offset[differs] > end_b || b.offset[differs] > end_a) return false;
    a.offset[differs] = std::min(a.offset[differs], b.offset[differs]);
    a.count[differs] = std::max(end_a, end_b) - a.offset[differs];
    return true;
}

}  // namespace

std::optional<std::vector<Box>> boxes_of(std::span<const DecodedPlace> places,
                                         std::span<const std::uint64_t> dims) {
    std::vector<Box> boxes;
    for (const DecodedPlace& place : places) {
        if (place.start.size() != dims.size()) return std::nullopt;
        if (!listable(place, dims, most_boxes - boxes.size())) return std::nullopt;
        Extents at(dims.size(), 0);
        for (bool more = true; more;) {
            Box box = box_at(place, at, dims);
            if (!box.empty()) boxes.push_back(std::move(box));
            more = false;
            for (std::size_t d = dims.size(); d-- > 0 && !more;) {
                more = ++at[d] < place.count[d];
                if (!more) at[d] = 0;
            }
        }
    }
    return boxes;
}

std::optional<std::uint64_t> distinct_elements(std::span<const Box> boxes) {
    std::vector<const Box*> all;
    for (const Box& box : boxes) all.push_back(&box);
    return Counter().run(std::move(all), 0);
}

std::vector<Box> joined(std::vector<Box> boxes) {
    if (boxes.size() > most_to_join) return boxes;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t a = 0; a < boxes.size(); ++a) {
            for (std::size_t b = a + 1; b < boxes.size(); ++b) {
                if (!take_in(boxes[a], boxes[b])) continue;
                boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(b--));
                changed = true;
            }
        }
    }
    return boxes;
}

}  // namespace tailrace::intent::spool
