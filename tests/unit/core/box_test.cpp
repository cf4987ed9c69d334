// SPDX-License-Identifier: Apache-2.0
#include "core/box.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "core/checked.hpp"

using namespace tailrace::core;

namespace {

constexpr std::uint64_t big = std::numeric_limits<std::uint64_t>::max();

/// How often each element of an array of `dims` lies in the runs of `boxes`.
std::vector<int> coverage(const std::vector<Box>& boxes, const Extents& dims) {
    std::vector<int> hits(checked_product(dims, "dims"));
    for (const Box& box : boxes)
        for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t, std::uint64_t count) {
            for (std::uint64_t k = 0; k < count; ++k) ++hits.at(at + k);
        });
    return hits;
}

}  // namespace

TEST_CASE("volume is the product and says when it leaves 64 bits") {
    CHECK(Box{{0, 0}, {3, 4}}.volume() == 12);
    CHECK(Box{{}, {}}.volume() == 1);
    CHECK(Box{{0, 0, 0}, {big, 0, big}}.volume() == 0);
    CHECK_THROWS_WITH_AS((void)(Box{{0, 0}, {big, 2}}.volume()),
                         doctest::Contains("does not fit 64 bits"), Error);
}

TEST_CASE("a box is inside only where every element is") {
    const Extents dims{4, 8};
    CHECK(Box{{0, 0}, {4, 8}}.inside(dims));
    CHECK(Box{{4, 8}, {0, 0}}.inside(dims));
    CHECK_FALSE(Box{{1, 0}, {4, 8}}.inside(dims));
    CHECK_FALSE(Box{{0}, {4}}.inside(dims));
    CHECK_FALSE(Box{{big, 0}, {2, 1}}.inside(dims));
    CHECK_FALSE(Box{{1, 0}, {big, 1}}.inside(dims));
}

TEST_CASE("text names the ranges") { CHECK(Box{{0, 8}, {4, 8}}.text() == "[0:4, 8:16]"); }

TEST_CASE("intersection of overlapping, touching and distant boxes") {
    const Box a{{0, 0}, {4, 4}};
    CHECK(intersect(a, Box{{2, 3}, {4, 4}}) == Box{{2, 3}, {2, 1}});
    CHECK(intersect(a, Box{{4, 0}, {4, 4}}).empty());
    CHECK(intersect(a, Box{{9, 9}, {1, 1}}).empty());
    CHECK_THROWS_AS((void)intersect(a, Box{{0}, {1}}), Error);
}

TEST_CASE("runs are as long as they can be, and come in ascending order") {
    const Extents dims{2, 3, 4};
    int runs = 0;
    const auto count_runs = [&](std::uint64_t, std::uint64_t, std::uint64_t) { ++runs; };
    for_each_run(Box{{0, 0, 0}, {2, 3, 4}}, dims, count_runs);
    CHECK(runs == 1);
    runs = 0;
    for_each_run(Box{{0, 1, 0}, {2, 2, 4}}, dims, count_runs);
    CHECK(runs == 2);
    runs = 0;
    for_each_run(Box{{0, 1, 1}, {2, 2, 2}}, dims, count_runs);
    CHECK(runs == 4);
    runs = 0;
    for_each_run(Box{{0, 1, 1}, {2, 0, 2}}, dims, count_runs);
    CHECK(runs == 0);
    for_each_run(Box{{}, {}}, Extents{}, [&](std::uint64_t at, std::uint64_t in, std::uint64_t n) {
        ++runs;
        CHECK(at == 0);
        CHECK(in == 0);
        CHECK(n == 1);
    });
    CHECK(runs == 1);
}

TEST_CASE("runs of random boxes visit each element once, in order, and agree with the index") {
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 200; ++trial) {
        const std::size_t rank = 1 + random() % 4;
        Extents dims(rank);
        Box box{Extents(rank), Extents(rank)};
        for (std::size_t d = 0; d < rank; ++d) {
            dims[d] = 1 + random() % 6;
            box.offset[d] = random() % dims[d];
            box.count[d] = random() % (dims[d] - box.offset[d] + 1);
        }
        std::uint64_t seen = 0, last_end = 0;
        for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t in_box, std::uint64_t count) {
            CHECK(in_box == seen);
            CHECK((seen == 0 || at >= last_end));
            Extents position = grid_position(in_box, box.count);
            for (std::size_t d = 0; d < rank; ++d) position[d] += box.offset[d];
            CHECK(linear_index(position, dims) == at);
            seen += count;
            last_end = at + count;
        });
        CHECK(seen == box.volume());
    }
}

TEST_CASE("grid positions count with the last dimension fastest") {
    const Extents grid{2, 3, 4};
    CHECK(grid_position(0, grid) == Extents{0, 0, 0});
    CHECK(grid_position(1, grid) == Extents{0, 0, 1});
    CHECK(grid_position(4, grid) == Extents{0, 1, 0});
    CHECK(grid_position(23, grid) == Extents{1, 2, 3});
    for (std::uint64_t k = 0; k < 24; ++k) CHECK(linear_index(grid_position(k, grid), grid) == k);
}

TEST_CASE("cuts cover each element once for random extents, more parts than elements too") {
    std::mt19937_64 random(11);
    for (int trial = 0; trial < 100; ++trial) {
        const Extents dims{1 + random() % 7, 1 + random() % 7, 1 + random() % 7};
        const std::size_t axis = random() % 3;
        const std::uint64_t parts = 1 + random() % 9;
        std::vector<Box> boxes;
        std::uint64_t least = big, most = 0;
        for (std::uint64_t k = 0; k < parts; ++k) {
            boxes.push_back(cut(dims, axis, parts, k));
            least = std::min(least, boxes.back().count[axis]);
            most = std::max(most, boxes.back().count[axis]);
        }
        CHECK(most - least <= 1);
        for (int hits : coverage(boxes, dims)) CHECK(hits == 1);
    }
    CHECK_THROWS_AS((void)cut(Extents{4}, 1, 2, 0), Error);
    CHECK_THROWS_AS((void)cut(Extents{4}, 0, 2, 2), Error);
    CHECK_THROWS_AS((void)cut(Extents{4}, 0, 0, 0), Error);
}

TEST_CASE("chunks of a box: as large as may be, and none overhangs if more of them can help it") {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    CHECK(cut_evenly({72, 181, 360}, 4, 2 * mib) == Extents{8, 181, 360});   // 9 parts, as must be
    CHECK(cut_evenly({72, 181, 360}, 4, 4 * mib) == Extents{12, 181, 360});  // 6, as 5 overhang
    CHECK(cut_evenly({19, 192, 288}, 4, 2 * mib) == Extents{5, 192, 288});
    CHECK(cut_evenly({4, 721, 1440}, 4, 2 * mib) == Extents{1, 361, 1440});
    CHECK(cut_evenly({7, 0}, 8, mib) == Extents{7, 1});
    CHECK(cut_evenly({3}, 4 * mib, mib) == Extents{1});
    CHECK(cut_evenly({}, 8, mib).empty());
}

TEST_CASE("checked products and sums name what overflowed") {
    CHECK(checked_mul(1ULL << 32, 1ULL << 31, "a") == 1ULL << 63);
    CHECK(checked_product(Extents{}, "a") == 1);
    CHECK_THROWS_WITH_AS((void)checked_mul(1ULL << 32, 1ULL << 32, "the domain"),
                         doctest::Contains("the domain: 4294967296 x 4294967296"), Error);
    CHECK_THROWS_WITH_AS((void)checked_add(big, 1, "the size"), doctest::Contains("the size"),
                         Error);
}
