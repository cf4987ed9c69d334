// SPDX-License-Identifier: Apache-2.0
// Pieces are cut so that MPI's int counts do; by numbers alone, without data.
#include "formats/mpiio/datatype.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace tailrace;
using core::Box;
using core::Extents;
using core::Scalar;
using formats::mpiio::Portion;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

formats::raw::Placed placed(const Extents& dims, const Extents& chunk) {
    formats::Chunks chunks;
    if (!chunk.empty()) chunks["/x"] = chunk;
    formats::raw::Layout layout(chunks, 1);
    core::Object object;
    object.path = "/x";
    object.type = Scalar::f32;
    for (std::uint64_t n : dims) object.dims.push_back({n, false});
    layout.add(std::span(&object, 1));
    return layout.objects()[0];
}

std::vector<Portion> cut(const formats::raw::Placed& object, const Box& box,
                         bool single_runs = false) {
    std::vector<Portion> portions;
    formats::mpiio::cut_piece(object, nullptr, box, {}, single_runs, portions);
    return portions;
}

}  // namespace

TEST_SUITE("portions") {
    TEST_CASE("one of more than 2^32 bytes is cut into parts of at most 1 GiB") {
        const Extents dims{5, 3 * gib / 4 + 1};
        const auto object = placed(dims, {});
        const auto portions = cut(object, Box{{0, 0}, dims});
        std::uint64_t bytes = 0, end = 0;
        for (const Portion& portion : portions) {
            CHECK(portion.object == &object);
            CHECK(portion.bytes <= gib);
            CHECK(portion.bytes == portion.box.volume() * 4);
            CHECK(portion.one_run);
            CHECK(portion.file_begin == end);
            // Packed memory: the array of the whole piece, this part of it.
            CHECK(portion.memory.dims == dims);
            CHECK(portion.memory.offset == portion.box.offset);
            end = portion.file_begin + portion.bytes;
            bytes += portion.bytes;
        }
        CHECK(bytes == dims[0] * dims[1] * 4);
    }

    TEST_CASE("one dimension of more than 2^31 elements") {
        const Extents dims{(std::uint64_t{1} << 33) + 5};
        const auto portions = cut(placed(dims, {}), Box{{1}, {dims[0] - 2}});
        std::uint64_t next = 1;
        for (const Portion& portion : portions) {
            CHECK(portion.box.offset[0] == next);
            next += portion.box.count[0];
        }
        CHECK(next == dims[0] - 1);
    }

    TEST_CASE("cuts are at the edges of chunks, and there are few chunks in a portion") {
        const auto object = placed({1 << 20, 8}, {1, 8});
        const auto portions = cut(object, Box{{3, 1}, {200000, 6}});
        std::uint64_t rows = 0;
        for (const Portion& portion : portions) {
            CHECK(formats::raw::count_blocks(object, portion.box) <= 65536);
            CHECK(portion.box.count[1] == 6);
            CHECK_FALSE(portion.one_run);
            rows += portion.box.count[0];
        }
        CHECK(rows == 200000);
        const auto wide = placed({gib, 2}, {1000, 2});
        for (const Portion& portion : cut(wide, Box{{0, 0}, {gib, 2}}))
            CHECK(portion.box.offset[0] % 1000 == 0);
    }

    TEST_CASE("long runs become portions of their own where that is asked for") {
        const Box rows{{1, 0}, {5, 1 << 18}};
        const auto object = placed({8, 1 << 20}, {});
        CHECK(cut(object, rows).size() == 1);
        const auto single = cut(object, rows, true);
        CHECK(single.size() == 5);
        for (std::size_t k = 0; k < single.size(); ++k) {
            CHECK(single[k].one_run);
            CHECK(single[k].file_begin == ((k + 1) << 22));
        }
        CHECK(cut(object, Box{{1, 0}, {5, (1 << 18) - 1}}, true).size() == 1);  // short runs
        const auto chunks =
            cut(placed({8, 1 << 20}, {2, 1 << 19}), Box{{1, 0}, {5, 1 << 20}}, true);
        CHECK(chunks.size() == 3);  // row 1 in two chunks, and the chunks of rows 2 to 5
        for (const Portion& portion : chunks) CHECK(portion.one_run);
    }

    TEST_CASE("what is one run in the file is seen") {
        CHECK(cut(placed({4, 6}, {}), Box{{1, 2}, {1, 3}})[0].one_run);
        CHECK(cut(placed({4, 6}, {}), Box{{1, 0}, {2, 6}})[0].one_run);
        CHECK_FALSE(cut(placed({4, 6}, {}), Box{{1, 0}, {2, 5}})[0].one_run);
        CHECK(cut(placed({4, 6}, {2, 6}), Box{{0, 0}, {4, 6}})[0].one_run);
        CHECK_FALSE(cut(placed({4, 6}, {2, 3}), Box{{0, 0}, {1, 6}})[0].one_run);
        CHECK(cut(placed({4, 6}, {2, 3}), Box{{0, 3}, {2, 3}})[0].one_run);
        CHECK(cut(placed({}, {}), Box{})[0].bytes == 4);
        CHECK(cut(placed({4}, {}), Box{{0}, {0}}).empty());
    }
}
