// SPDX-License-Identifier: Apache-2.0
// Third user: a reader of slabs, each rank its part along the slow or the fast dimension, into an
// array with ghost cells; more ranks than rows, so some read nothing.
#include <doctest/doctest.h>

#include "memory_sink.hpp"

using namespace tailrace;

namespace {

std::vector<double> read_part(core::Source& source, std::size_t axis, std::uint64_t parts,
                              std::uint64_t index, std::uint64_t ghost) {
    const core::Schema schema = source.schema();
    const core::Extents dims = schema.objects.at(0).sizes();
    const core::Box place = core::cut(dims, axis, parts, index);
    const core::Extents with_ghost{place.count[0] + 2 * ghost, place.count[1] + 2 * ghost};
    std::vector<double> values(with_ghost[0] * with_ghost[1], -1);
    core::Read read{.object = 0,
                    .place = place,
                    .data = reinterpret_cast<std::byte*>(values.data()),
                    .type = core::Scalar::f64,
                    .memory = {with_ghost, {ghost, ghost}}};
    source.read({&read, 1});
    return values;
}

std::shared_ptr<tests::MemoryFile> sample(std::uint64_t rows, std::uint64_t columns) {
    auto file = std::make_shared<tests::MemoryFile>();
    tests::MemorySink sink(file, {});
    core::Object object{.path = "/dset_1", .type = core::Scalar::f64};
    object.dims = {{rows}, {columns}};
    const auto ids = sink.define({{object}, {}});
    std::vector<double> all(rows * columns);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
    const core::Write write{.object = ids[0],
                            .place = {{0, 0}, {rows, columns}},
                            .data = reinterpret_cast<const std::byte*>(all.data()),
                            .memory = {},
                            .type = core::Scalar::f64};
    sink.write({&write, 1});
    sink.complete(0);
    sink.close(core::Outcome::publish);
    return file;
}

}  // namespace

TEST_SUITE("sink_users.slab_reader") {
    TEST_CASE("every element comes to one rank, ghost cells stay") {
        tests::MemorySource source(sample(5, 4));
        for (std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
            std::vector<int> seen(20, 0);
            for (std::uint64_t rank = 0; rank < 7; ++rank) {
                for (double value : read_part(source, axis, 7, rank, 1))
                    if (value >= 0) ++seen[static_cast<std::size_t>(value)];
            }
            CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
        }
        const std::vector<double> first = read_part(source, 0, 5, 0, 1);
        CHECK(first[0] == -1);
        CHECK(first[1 * 6 + 1] == 0);
        CHECK(first[1 * 6 + 4] == 3);
        CHECK(first[1 * 6 + 5] == -1);
    }
}
