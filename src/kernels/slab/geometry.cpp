// SPDX-License-Identifier: Apache-2.0
#include "kernels/slab/geometry.hpp"

#include <algorithm>

#include "core/checked.hpp"

namespace tailrace::kernels::slab {

namespace {

/// The dimension that the writers share: 0 slow, 1 fast.
std::size_t shared_axis(Axis axis) { return axis == Axis::long_slow ? 0 : 1; }

std::uint64_t block_of(std::uint64_t elements, std::uint64_t ranks) {
    return elements / ranks + (elements % ranks != 0 ? 1 : 0);
}

}  // namespace

const char* name(Axis axis) noexcept {
    switch (axis) {
        case Axis::long_fast:
            return "long-fast";
        case Axis::long_slow:
            return "long-slow";
        case Axis::short_split:
            break;
    }
    return "short-split";
}

std::uint64_t Geometry::elements() const { return core::checked_mul(n1, n2, "elements"); }

core::Extents Geometry::dims(Axis axis) const {
    return axis == Axis::long_fast ? core::Extents{n2, n1} : core::Extents{n1, n2};
}

core::Box Geometry::place_of(Axis axis, std::uint64_t rank) const {
    core::Box box{{0, 0}, dims(axis)};
    const std::size_t d = shared_axis(axis);
    const std::uint64_t whole = box.count[d];
    const std::uint64_t block = block_of(whole, ranks);
    box.offset[d] = std::min(rank * block, whole);
    box.count[d] = std::min(block, whole - box.offset[d]);
    if (box.count[d] == 0) return {{0, 0}, {0, 0}};
    return box;
}

std::size_t Geometry::reading_axis(Axis axis) const {
    const std::size_t other = 1 - shared_axis(axis);
    return dims(axis)[other] > 1 ? other : 1 - other;
}

core::Box Geometry::reading_place_of(Axis axis, std::uint64_t rank) const {
    return core::cut(dims(axis), reading_axis(axis), ranks, (rank + 1) % ranks);
}

std::uint64_t Geometry::bytes_per_rank(Axis axis) const {
    return place_of(axis, 0).volume() * element_bytes;
}

std::uint64_t Geometry::smallest_piece(Axis axis) const {
    std::uint64_t smallest = 0;
    for (std::uint64_t rank : {std::uint64_t{0}, ranks - 1}) {
        std::uint64_t at = rank;  // the last one that holds any
        while (at > 0 && place_of(axis, at).empty()) --at;
        const core::Box box = place_of(axis, at);
        const bool one_block =
            axis == Axis::long_slow || box.count[0] == 1 || box.count[1] == dims(axis)[1];
        const std::uint64_t piece = one_block ? box.volume() : box.count[1];
        smallest = smallest == 0 ? piece : std::min(smallest, piece);
    }
    return smallest * element_bytes;
}

std::uint64_t Geometry::pieces_per_rank(Axis axis) const {
    const core::Box box = place_of(axis, 0);
    return axis == Axis::long_slow || box.count[1] == dims(axis)[1] ? 1 : box.count[0];
}

}  // namespace tailrace::kernels::slab
