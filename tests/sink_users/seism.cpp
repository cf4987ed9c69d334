// SPDX-License-Identifier: Apache-2.0
// First user: a checkpoint kernel. One dense 4-D object, one slice per step from blocks.
#include <doctest/doctest.h>

#include "memory_sink.hpp"

using namespace tailrace;

namespace {

// The user's whole code: it sees a Sink and nothing else.
void checkpoint(core::Sink& sink, const core::Extents& grid, const core::Extents& domain,
                core::Step steps) {
    core::Object object{.path = "/chunked", .type = core::Scalar::f32};
    object.dims = {{steps}, {grid[0] * domain[0]}, {grid[1] * domain[1]}, {grid[2] * domain[2]}};
    const core::Attribute attribute{"/", "processor", core::AttributeArray(grid)};
    const auto ids = sink.define({{object}, {attribute}});
    const std::uint64_t ranks = grid[0] * grid[1] * grid[2];
    for (core::Step step = 0; step < steps; ++step) {
        std::vector<std::vector<float>> blocks;
        std::vector<core::Write> pieces;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
            const core::Extents at = core::grid_position(rank, grid);
            blocks.emplace_back(domain[0] * domain[1] * domain[2],
                                static_cast<float>(rank + 100 * step));
            const core::Box place{{step, at[0] * domain[0], at[1] * domain[1], at[2] * domain[2]},
                                  {1, domain[0], domain[1], domain[2]}};
            pieces.push_back({.object = ids[0],
                              .place = place,
                              .data = reinterpret_cast<const std::byte*>(blocks.back().data())});
        }
        sink.write(pieces);
        sink.complete(step);
    }
}

}  // namespace

TEST_SUITE("sink_users.seism") {
    TEST_CASE("each block of each step lands at its place") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {});
        checkpoint(sink, {2, 1, 3}, {2, 3, 1}, 2);
        CHECK(sink.close(core::Outcome::publish).bytes_logical == 2 * 6 * 6 * sizeof(float));
        REQUIRE(file->published);
        const auto* values = reinterpret_cast<const float*>(file->data[0].data());
        const core::Extents dims{2, 4, 3, 3};
        for (std::uint64_t t = 0; t < 2; ++t)
            for (std::uint64_t x = 0; x < 4; ++x)
                for (std::uint64_t y = 0; y < 3; ++y)
                    for (std::uint64_t z = 0; z < 3; ++z) {
                        const auto rank = static_cast<float>((x / 2) * 3 + z);
                        CHECK(values[core::linear_index(core::Extents{t, x, y, z}, dims)] ==
                              rank + 100.0F * static_cast<float>(t));
                    }
    }

    TEST_CASE("a lost file stays lost: later calls rethrow, discard is allowed") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {});
        sink.fail_at(1);
        CHECK_THROWS_AS(checkpoint(sink, {1, 1, 1}, {2, 2, 2}, 3), core::Error);
        CHECK_THROWS_AS(sink.write({}), core::Error);
        CHECK_THROWS_AS(sink.close(core::Outcome::publish), core::Error);
        CHECK_NOTHROW(sink.close(core::Outcome::discard));
        CHECK_FALSE(file->published);
    }
}
