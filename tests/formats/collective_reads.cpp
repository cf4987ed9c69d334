// SPDX-License-Identifier: Apache-2.0
// Collective reads of many pieces, in every format that has them: as few calls as can be, and the
// right bytes also where the pieces of ranks overlap.
#include "collective_writes.hpp"
#include "comm/mpi_io.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using core::Box;
using core::Extents;
using test::world;

namespace {

struct Shape {
    Extents dims, chunk;
};
const Shape line{{12121}, {500}}, cube{{23, 17, 31}, {5, 9, 8}};

std::vector<test::Variant> collective_formats(const Extents& chunk) {
    formats::mpiio::Options raw, chunked;
    raw.collective = chunked.collective = true;
    chunked.chunks["/a"] = chunk;
    std::vector<test::Variant> all{{"mpiio", raw}, {"mpiio-chunked", chunked}};
#ifdef TAILRACE_HAVE_PNETCDF
    formats::pnetcdf::Options classic;
    classic.collective = true;
    all.push_back({"pnetcdf", classic});
#endif
#ifdef TAILRACE_HAVE_HDF5
    formats::hdf5::Options plain, deflated;
    plain.collective = deflated.collective = true;
    deflated.chunks["/a"] = chunk;
    deflated.deflate = 1;
    all.push_back({"hdf5", plain});
    all.push_back({"hdf5-deflate", deflated});
#endif
#ifdef TAILRACE_HAVE_NETCDF
    formats::netcdf4::Options plain4, deflated4;
    plain4.collective = deflated4.collective = true;
    deflated4.chunks["/a"] = chunk;
    deflated4.deflate = 1;
    all.push_back({"netcdf4", plain4});
    all.push_back({"netcdf4-deflate", deflated4});
#endif
    return all;
}

float value_at(std::uint64_t index) { return static_cast<float>(index) + 0.25F; }

std::string written(const comm::Comm& comm, const test::Variant& variant, const Extents& dims) {
    const std::string path =
        test::shared_folder() + "/" + variant.name + std::to_string(dims.size());
    core::Phases phases;
    const auto sink = formats::open_sink(comm, {.path = path}, variant.options, phases);
    const auto ids = sink->define(test::schema_of(test::dense("/a", core::Scalar::f32, dims)));
    const Box mine = core::cut(dims, 0, static_cast<std::uint64_t>(comm.size()),
                               static_cast<std::uint64_t>(comm.rank()));
    std::vector<float> values(mine.volume());
    core::for_each_run(mine, dims, [&](std::uint64_t at, std::uint64_t to, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) values[to + i] = value_at(at + i);
    });
    const core::Write piece{.object = ids[0],
                            .place = mine,
                            .data = reinterpret_cast<const std::byte*>(values.data()),
                            .type = core::Scalar::f32};
    sink->write(std::span(&piece, 1));
    sink->complete(0);
    (void)sink->close(core::Outcome::publish);
    comm.barrier();
    return path;
}

/// Reads boxes by one call of read(), into memory that is wider than they are where `margin` is not
/// 0; the number of elements that are wrong, beside the boxes too.
std::uint64_t wrong_of(core::Source& source, const std::vector<Box>& boxes, const Extents& dims,
                       std::uint64_t margin) {
    std::vector<std::vector<float>> memory;
    std::vector<core::Read> reads;
    for (const Box& box : boxes) {
        Extents wide = box.count;
        wide.back() += 2 * margin;
        memory.emplace_back(Box{{}, wide}.volume(), -7.0F);
        core::MemLayout layout;
        if (margin != 0) {
            layout = {wide, Extents(dims.size())};
            layout.offset.back() = margin;
        }
        reads.push_back({.object = 0,
                         .place = box,
                         .data = reinterpret_cast<std::byte*>(memory.back().data()),
                         .type = core::Scalar::f32,
                         .memory = layout});
    }
    source.read(reads);
    std::uint64_t wrong = 0;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        const std::uint64_t row = boxes[b].count.back() + 2 * margin;
        std::vector<float> right(memory[b].size(), -7.0F);
        core::for_each_run(boxes[b], dims, [&](std::uint64_t at, std::uint64_t to, auto n) {
            for (std::uint64_t i = 0; i < n; ++i, ++to) {
                const std::uint64_t in_row = to % boxes[b].count.back();
                right[to / boxes[b].count.back() * row + margin + in_row] = value_at(at + i);
            }
        });
        for (std::size_t i = 0; i < right.size(); ++i) wrong += right[i] != memory[b][i] ? 1 : 0;
    }
    return wrong;
}

std::unique_ptr<core::Source> opened(const comm::Comm& comm, const std::string& path,
                                     const test::Variant& variant, core::Phases& phases) {
    return formats::open_source(comm, path, variant.options, phases);
}

Box random_box(std::mt19937_64& random, const Extents& dims) {
    Box box{Extents(dims.size()), Extents(dims.size())};
    for (std::size_t d = 0; d < dims.size(); ++d) {
        box.offset[d] = random() % dims[d];
        box.count[d] = 1 + random() % (dims[d] - box.offset[d]);
    }
    return box;
}

}  // namespace

TAILRACE_MPI_TEST("collective reads: pieces of ranks that overlap are right, each element") {
    const comm::Comm comm = world();
    for (const Shape& shape : {line, cube})
        for (const test::Variant& variant : collective_formats(shape.chunk)) {
            CAPTURE(variant.name);
            const std::string path = written(comm, variant, shape.dims);
            core::Phases phases;
            const auto source = opened(comm, path, variant, phases);
            std::mt19937_64 random(static_cast<std::uint64_t>(comm.rank()));
            std::uint64_t wrong = 0;
            // OMPIO has never been wrong with two ranks.
            for (int k = 0; k < (comm.size() > 2 ? 50 : 10); ++k) {
                // All, some or none of the ranks overlap; pieces of one rank do so too.
                std::vector<Box> boxes(k % 4 == 3 ? 3 : 1);
                for (Box& box : boxes) box = random_box(random, shape.dims);
                if (k % 5 == 4 && comm.rank() == 1) boxes.clear();
                wrong += wrong_of(*source, boxes, shape.dims, k % 2);
            }
            CHECK(wrong == 0);
        }
}

TAILRACE_MPI_TEST("collective reads: many pieces that do not overlap are one call") {
    const comm::Comm comm = world();
    const auto& [dims, chunk] = cube;
    for (const test::Variant& variant : collective_formats(chunk)) {
        if (variant.name.starts_with("netcdf4")) continue;  // its calls take one box
        CAPTURE(variant.name);
        const std::string path = written(comm, variant, dims);
        core::Phases phases;
        const auto source = opened(comm, path, variant, phases);
        // Boxes of one chunk at most, dealt to the ranks; the last rank of several has none.
        std::vector<Box> boxes;
        std::uint64_t number = 0;
        const auto readers = static_cast<std::uint64_t>(std::max(1, comm.size() - 1));
        for (std::uint64_t x = 0; x < dims[0]; x += chunk[0])
            for (std::uint64_t y = 0; y < dims[1]; y += chunk[1])
                for (std::uint64_t z = 0; z < dims[2]; z += chunk[2], ++number) {
                    if (number % readers != static_cast<std::uint64_t>(comm.rank())) continue;
                    boxes.push_back(
                        {{x, y, z},
                         {std::min(chunk[0], dims[0] - x) - x % 2, std::min(chunk[1], dims[1] - y),
                          std::min(chunk[2], dims[2] - z)}});
                }
        std::reverse(boxes.begin(), boxes.end());
        const int before = collective_reads;
        CHECK(wrong_of(*source, boxes, dims, 1) == 0);
        // Of a rank that has none PnetCDF makes another call.
        CHECK(collective_reads - before == (boxes.empty() && variant.name == "pnetcdf" ? 0 : 1));
    }
}
