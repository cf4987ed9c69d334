// SPDX-License-Identifier: Apache-2.0
// Properties of the geometry and the fills, over random grids.
#include "kernels/seism/geometry.hpp"

#include <doctest/doctest.h>

#include <random>

#include "kernels/seism/fill.hpp"
#include "runner/reading.hpp"

using namespace tailrace;
using kernels::seism::Fill;
using kernels::seism::FillKind;
using kernels::seism::Geometry;

namespace {

std::mt19937_64& random_numbers() {
    static std::mt19937_64 generator(42);
    return generator;
}

/// 1 often, odd sizes often.
std::uint64_t small(std::uint64_t most) { return 1 + random_numbers()() % most; }

Geometry random_geometry() {
    return {{small(4), small(4), small(4)}, {small(7), small(7), small(7)}, small(3)};
}

/// How often each element of a step is in the boxes of all ranks.
template <class Place>
std::vector<int> covered(const Geometry& geometry, std::uint64_t step, Place&& place) {
    const core::Extents slice = geometry.slice();
    std::vector<int> counts(slice[0] * slice[1] * slice[2], 0);
    for (std::uint64_t rank = 0; rank < geometry.ranks(); ++rank) {
        const core::Box box = place(rank);
        if (box.empty()) continue;
        CHECK(box.inside(geometry.dims()));
        CHECK(box.offset[0] == step);
        CHECK(box.count[0] == 1);
        for (std::uint64_t x = 0; x < box.count[1]; ++x)
            for (std::uint64_t y = 0; y < box.count[2]; ++y)
                for (std::uint64_t z = 0; z < box.count[3]; ++z)
                    ++counts[((box.offset[1] + x) * slice[1] + box.offset[2] + y) * slice[2] +
                             box.offset[3] + z];
    }
    return counts;
}

}  // namespace

TEST_SUITE("kernels.seism.geometry") {
    TEST_CASE("writers and readers cover every element exactly once") {
        for (int round = 0; round < 300; ++round) {
            const Geometry geometry = random_geometry();
            CAPTURE(geometry.dims()[1]);
            const std::uint64_t step = geometry.steps - 1;
            const auto written = covered(
                geometry, step, [&](std::uint64_t rank) { return geometry.place_of(rank, step); });
            const auto read = covered(geometry, step, [&](std::uint64_t rank) {
                return geometry.reading_place_of(rank, step);
            });
            CHECK(written == std::vector<int>(written.size(), 1));
            CHECK(read == std::vector<int>(read.size(), 1));
        }
    }
    TEST_CASE("ranks run fastest in z, as the classic kernel places them") {
        const Geometry geometry{{2, 3, 4}, {5, 6, 7}, 1};
        for (std::uint64_t rank = 0; rank < 24; ++rank) {
            const core::Extents block = geometry.block_of(rank);
            CHECK(block == core::Extents{rank / 12, rank / 4 % 3, rank % 4});
            CHECK(geometry.owner_of(block[0], block[1], block[2]) == rank);
            CHECK(geometry.place_of(rank, 0).offset ==
                  core::Extents{0, block[0] * 5, block[1] * 6, block[2] * 7});
        }
    }
    TEST_CASE("readers cut along another axis than writers where there is one") {
        CHECK(Geometry{{4, 1, 1}, {8, 8, 8}, 1}.reading_axis() == 1);
        CHECK(Geometry{{4, 1, 1}, {8, 1, 8}, 1}.reading_axis() == 2);
        CHECK(Geometry{{4, 1, 1}, {8, 1, 1}, 1}.reading_axis() == 0);
        CHECK(Geometry{{1, 4, 1}, {8, 8, 8}, 1}.reading_axis() == 0);
        CHECK(Geometry{{2, 2, 2}, {8, 8, 8}, 1}.reading_axis() == 0);
    }
    TEST_CASE("pieces of a box cover it, in order, and are small enough") {
        for (int round = 0; round < 300; ++round) {
            const core::Box box{{2, small(5), small(5), small(5)},
                                {1, small(9), small(9), small(9)}};
            const std::uint64_t most = small(100);
            std::uint64_t volume = 0, next = 0;
            for (const core::Box& piece : runner::pieces_of(box, most)) {
                CHECK(piece.volume() <= most);
                CHECK(intersect(piece, box) == piece);
                core::Extents inside;
                for (std::size_t d = 0; d < 4; ++d)
                    inside.push_back(piece.offset[d] - box.offset[d]);
                // Contiguous in the box: each begins where the last one ended.
                CHECK(core::linear_index(inside, box.count) == next);
                next += piece.volume();
                volume += piece.volume();
            }
            CHECK(volume == box.volume());
        }
        CHECK(runner::pieces_of({{0, 0, 0, 0}, {1, 0, 3, 3}}, 5).empty());
    }
    TEST_CASE("sizes beyond 64 bits are an error, not a small number") {
        const std::uint64_t big = std::uint64_t{1} << 32;
        CHECK_THROWS_AS((void)Geometry({{1, 1, 1}, {big, big, 2}, 1}).elements_per_rank(),
                        core::Error);
        CHECK_THROWS_AS((void)Geometry({{big, 1, 1}, {big, 1, 1}, 1}).slice(), core::Error);
        CHECK(Geometry({{1, 1, 1}, {big, 2, 2}, 2}).bytes() == big * 32);
    }
}

TEST_SUITE("kernels.seism.fill") {
    TEST_CASE("rank: an element has its owner's number, however it is asked for") {
        for (int round = 0; round < 100; ++round) {
            const Geometry geometry = random_geometry();
            const auto fill = make_fill(FillKind::rank, geometry, {});
            for (std::uint64_t rank = 0; rank < geometry.ranks(); ++rank) {
                std::vector<float> values(geometry.elements_per_rank());
                fill->values(geometry.place_of(rank, 0), values);
                CHECK(values == std::vector<float>(values.size(), static_cast<float>(rank)));
            }
            const core::Extents slice = geometry.slice();
            std::vector<float> row(slice[2]);
            fill->row(0, slice[0] - 1, slice[1] - 1, 0, row);
            for (std::uint64_t z = 0; z < slice[2]; ++z)
                CHECK(row[z] == static_cast<float>(geometry.owner_of(geometry.processor[0] - 1,
                                                                     geometry.processor[1] - 1,
                                                                     z / geometry.domain[2])));
        }
    }
    TEST_CASE("position: the same value however it is asked for, another one in another step") {
        for (int round = 0; round < 100; ++round) {
            const Geometry geometry = random_geometry();
            const auto fill = make_fill(FillKind::position, geometry, {});
            const core::Extents dims = geometry.dims();
            core::Extents at;
            for (std::uint64_t extent : dims) at.push_back(random_numbers()() % extent);
            float one = 0;
            fill->values({at, {1, 1, 1, 1}}, std::span(&one, 1));
            CHECK(one == kernels::seism::position_value(core::linear_index(at, dims)));
            CHECK(one >= 0);
            CHECK(one < 1);
        }
        // By hand, from the published SplitMix64 (seed 0): 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4
        // (seed 0x9e3779b97f4a7c15), upper 24 bits.
        CHECK(kernels::seism::position_value(0) == static_cast<float>(0xe220a8) / 16777216.0F);
        CHECK(kernels::seism::position_value(0x9e3779b97f4a7c15ULL) ==
              static_cast<float>(0x6e789e) / 16777216.0F);
    }
}
