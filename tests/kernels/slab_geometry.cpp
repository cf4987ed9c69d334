// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "kernels/slab/fill.hpp"
#include "kernels/slab/geometry.hpp"

using namespace tailrace;
using kernels::slab::Axis;
using kernels::slab::Geometry;

namespace {

constexpr Axis every_axis[] = {Axis::long_fast, Axis::long_slow, Axis::short_split};

/// How often each element is in a box of some rank.
template <class Place>
std::vector<int> covered(const Geometry& geometry, Axis axis, Place&& place) {
    const core::Extents dims = geometry.dims(axis);
    std::vector<int> count(static_cast<std::size_t>(dims[0] * dims[1]));
    for (std::uint64_t rank = 0; rank < geometry.ranks; ++rank) {
        const core::Box box = place(rank);
        CHECK(box.inside(dims));
        if (box.empty()) continue;
        core::for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t, std::uint64_t n) {
            for (std::uint64_t i = 0; i < n; ++i) ++count[static_cast<std::size_t>(at + i)];
        });
    }
    return count;
}

}  // namespace

TEST_CASE("every element has one writer and one reader, whatever the remainders") {
    for (const Axis axis : every_axis)
        for (const std::uint64_t n1 : {1, 2, 7, 12})
            for (const std::uint64_t n2 : {1, 3, 5})
                for (const std::uint64_t ranks : {1, 2, 4, 5, 13}) {
                    const Geometry geometry{n1, n2, ranks};
                    CAPTURE(n1);
                    CAPTURE(n2);
                    CAPTURE(ranks);
                    const auto once = [](const std::vector<int>& counts) {
                        for (const int count : counts)
                            if (count != 1) return false;
                        return true;
                    };
                    CHECK(once(covered(geometry, axis, [&](std::uint64_t rank) {
                        return geometry.place_of(axis, rank);
                    })));
                    CHECK(once(covered(geometry, axis, [&](std::uint64_t rank) {
                        return geometry.reading_place_of(axis, rank);
                    })));
                }
}

TEST_CASE("blocks of ceil(n / ranks): the last rank with any has the rest, the others none") {
    const Geometry geometry{10, 3, 7};  // blocks of 2: five ranks have rows
    CHECK(geometry.place_of(Axis::long_slow, 4) == core::Box{{8, 0}, {2, 3}});
    CHECK(geometry.place_of(Axis::long_slow, 5).empty());
    CHECK(Geometry{10, 3, 4}.place_of(Axis::long_fast, 3) == core::Box{{0, 9}, {3, 1}});
    CHECK(Geometry{10, 5, 2}.place_of(Axis::short_split, 1) == core::Box{{0, 3}, {10, 2}});
}

TEST_CASE("the smallest contiguous piece is that of the rank with the rest") {
    CHECK(Geometry{10, 3, 4}.smallest_piece(Axis::long_fast) == 8);
    CHECK(Geometry{10, 3, 4}.smallest_piece(Axis::long_slow) == 3 * 8);
    CHECK(Geometry{10, 5, 2}.smallest_piece(Axis::short_split) == 2 * 8);
    CHECK(Geometry{10, 3, 1}.smallest_piece(Axis::long_fast) == 30 * 8);  // one block
    CHECK(Geometry{40000000, 50, 20}.smallest_piece(Axis::long_fast) == 16000000);
    CHECK(Geometry{40000000, 50, 20}.pieces_per_rank(Axis::long_fast) == 50);
    CHECK(Geometry{40000000, 50, 20}.pieces_per_rank(Axis::long_slow) == 1);
}

TEST_CASE("sizes beyond 2^31 elements and 2^32 bytes") {
    const Geometry geometry{std::uint64_t{1} << 33, 3, 2};
    CHECK(geometry.elements() == (std::uint64_t{3} << 33));
    CHECK(geometry.bytes_per_rank(Axis::long_slow) == (std::uint64_t{12} << 33));
    CHECK(geometry.place_of(Axis::long_slow, 1).offset[0] == (std::uint64_t{1} << 32));
}

TEST_CASE("no two elements of both datasets have the same value") {
    kernels::slab::Inputs inputs;
    inputs.geometry = {1000, 7, 3};
    inputs.axes = {Axis::long_fast, Axis::long_slow};
    std::set<double> seen;
    std::vector<double> values(7000);
    for (std::size_t object : {0U, 1U}) {
        const core::Box whole{{0, 0}, inputs.geometry.dims(inputs.axes[object])};
        kernels::slab::fill_box(inputs, object, whole, values);
        seen.insert(values.begin(), values.end());
        // Any box has the values that the whole has there.
        const core::Box part{{2, 3}, {4, 3}};
        std::vector<double> some(12);
        kernels::slab::fill_box(inputs, object, part, some);
        CHECK(some[4] == values[static_cast<std::size_t>(3 * whole.count[1] + 4)]);
    }
    CHECK(seen.size() == 14000);
}

TEST_CASE("fill rank: the owner's number, in each dataset by its own blocks") {
    kernels::slab::Inputs inputs;
    inputs.geometry = {10, 4, 3};
    inputs.axes = {Axis::long_fast, Axis::long_slow, Axis::short_split};
    inputs.fill = kernels::slab::FillKind::rank;
    for (std::size_t object = 0; object < 3; ++object)
        for (std::uint64_t rank = 0; rank < 3; ++rank) {
            const core::Box box = inputs.geometry.place_of(inputs.axes[object], rank);
            std::vector<double> values(static_cast<std::size_t>(box.volume()));
            kernels::slab::fill_box(inputs, object, box, values);
            for (const double value : values) CHECK(value == static_cast<double>(rank));
        }
}
