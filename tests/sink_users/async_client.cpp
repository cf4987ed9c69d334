// SPDX-License-Identifier: Apache-2.0
// Fourth user: a model that computes while its output is stored elsewhere. It re-uses one buffer,
// keeps at most one flush in flight, and learns of a lost file at a later step.
#include <doctest/doctest.h>

#include "memory_sink.hpp"

using namespace tailrace;

namespace {

/// @returns how many tickets were still in flight when the model looked
int run_model(core::Sink& sink, core::Step steps) {
    core::Object object{.path = "/history/t", .type = core::Scalar::f64};
    object.dims = {{0, true}, {8}};
    object.kind = core::Kind::record;
    const auto ids = sink.define({{object}, {}});
    std::vector<double> field(8);
    core::Ticket in_flight;
    int overlapped = 0;
    for (core::Step step = 0; step < steps; ++step) {
        if (!in_flight.ready()) ++overlapped;
        for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<double>(step * 8 + i);
        const core::Write write{.object = ids[0],
                                .place = {{step, 0}, {1, 8}},
                                .data = reinterpret_cast<const std::byte*>(field.data()),
                                .memory = {},
                                .type = core::Scalar::f64};
        sink.write({&write, 1});
        sink.complete(step);  // `field` is ours again
        in_flight.wait();
        in_flight = sink.sync(core::Durability::flushed);
    }
    in_flight.wait();
    return overlapped;
}

}  // namespace

TEST_SUITE("sink_users.async_client") {
    TEST_CASE("records arrive whole although the buffer is used again at once") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {.records = true, .async = true});
        CHECK(run_model(sink, 4) == 3);
        sink.close(core::Outcome::publish);
        const auto* values = reinterpret_cast<const double*>(file->data[0].data());
        REQUIRE(file->schema.objects[0].dims[0].size == 4);
        for (std::size_t i = 0; i < 32; ++i) CHECK(values[i] == static_cast<double>(i));
    }

    TEST_CASE("a file that is lost in step 2 stops the model there") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {.records = true, .async = true});
        sink.fail_at(2);
        CHECK_THROWS_AS(run_model(sink, 5), core::Error);
        CHECK(file->completed == std::set<core::Step>{0, 1});
    }
}
