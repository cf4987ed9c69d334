// SPDX-License-Identifier: Apache-2.0
// Many pieces of one object and rank: one collective call, the same contents.
#include <algorithm>
#include <random>

#include "collective_writes.hpp"
#include "comm/mpi_io.hpp"
#include "hdf5_support.hpp"

using namespace hdf5_test;

namespace {

using Random = std::mt19937_64;

std::uint64_t up_to(Random& random, std::uint64_t most) { return random() % (most + 1); }

/// Cuts `box` at random places until `most` boxes are there.
std::vector<Box> cut_randomly(Random& random, const Box& box, std::size_t most) {
    std::vector<Box> all{box};
    for (std::size_t tries = 0; all.size() < most && tries < 20 * most; ++tries) {
        const std::size_t i = up_to(random, all.size() - 1);
        const std::size_t d = up_to(random, box.rank() - 1);
        if (all[i].count[d] < 2) continue;
        const std::uint64_t first = 1 + up_to(random, all[i].count[d] - 2);
        Box rest = all[i];
        rest.offset[d] += first;
        rest.count[d] -= first;
        all[i].count[d] = first;
        all.push_back(std::move(rest));
    }
    std::shuffle(all.begin(), all.end(), random);
    return all;
}

/// A piece with memory of its own, which may be larger than the box.
template <class T>
struct Piece {
    Box place;
    core::MemLayout memory;
    std::vector<T> data;

    Piece(const Box& box, const Extents& dims, std::uint64_t margin, std::uint64_t add)
        : place(box) {
        Extents all = box.count, zero(box.rank());
        if (margin != 0) {
            for (std::uint64_t& size : all) size += 2 * margin;
            memory = {all, Extents(box.rank(), margin)};
        }
        const Box inside{margin != 0 ? memory.offset : zero, box.count};
        std::vector<std::uint64_t> at(static_cast<std::size_t>(box.volume()));
        core::for_each_run(box, dims, [&](std::uint64_t in_file, std::uint64_t in_box, auto n) {
            for (std::uint64_t i = 0; i < n; ++i) at[in_box + i] = in_file + i;
        });
        data.resize(static_cast<std::size_t>(Box{Extents(box.rank()), all}.volume()), T(-7));
        core::for_each_run(inside, all, [&](std::uint64_t to, std::uint64_t in_box, auto n) {
            for (std::uint64_t i = 0; i < n; ++i)
                data[to + i] = static_cast<T>(value_at(at[in_box + i]) + static_cast<float>(add));
        });
    }
    [[nodiscard]] Write write(core::ObjectId id, Scalar type) const {
        return {id, place, reinterpret_cast<const std::byte*>(data.data()), memory, type};
    }
};

Object filled(const std::string& path, const Extents& dims) {
    Object object = dense(path, dims);
    object.fill = {true, -1};
    return object;
}

struct Written {
    int calls = 0;
    core::FileReport report;
};

Written write_pieces(const comm::Comm& comm, const std::string& path, const hdf5::Options& options,
                     const std::vector<Object>& objects, const std::vector<Write>& pieces) {
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    (void)sink->define({objects, {}});
    Written outcome;
    const int before = collective_writes;
    sink->write(pieces);
    outcome.calls = collective_writes - before;
    sink->complete(0);
    outcome.report = sink->close(Outcome::publish);
    return outcome;
}

struct WasRead {
    int calls = 0;
    std::uint64_t wrong = 0;  ///< elements that are not as expected, and memory beside the boxes
};

/// Reads boxes of the first object in one batch, each into memory with `margin` beside it.
WasRead read_boxes(const comm::Comm& comm, const std::string& path, const std::vector<Box>& boxes,
                   const Extents& dims, std::uint64_t margin, const std::vector<float>& expected) {
    core::Phases phases;
    hdf5::Options options;
    options.collective = true;
    const auto source = hdf5::open_source(comm, path, options, phases);
    std::vector<Piece<float>> pieces;
    for (const Box& box : boxes) pieces.emplace_back(box, dims, margin, 0);
    std::vector<core::Read> reads;
    for (auto& piece : pieces) {
        std::fill(piece.data.begin(), piece.data.end(), -7.0F);
        reads.push_back({.object = 0,
                         .place = piece.place,
                         .data = reinterpret_cast<std::byte*>(piece.data.data()),
                         .type = Scalar::f32,
                         .memory = piece.memory});
    }
    WasRead outcome;
    const int before = collective_reads;
    source->read(reads);
    outcome.calls = collective_reads - before;
    for (const auto& piece : pieces) {
        const bool packed = piece.memory.dims.empty();
        const Extents& all = packed ? piece.place.count : piece.memory.dims;
        const Box inside{packed ? Extents(dims.size()) : piece.memory.offset, piece.place.count};
        std::vector<float> right(piece.data.size(), -7.0F), values;
        core::for_each_run(piece.place, dims, [&](std::uint64_t at, std::uint64_t, auto n) {
            for (std::uint64_t i = at; i < at + n; ++i) values.push_back(expected[i]);
        });
        core::for_each_run(inside, all, [&](std::uint64_t to, std::uint64_t from, auto n) {
            for (std::uint64_t i = 0; i < n; ++i) right[to + i] = values[from + i];
        });
        for (std::size_t i = 0; i < right.size(); ++i)
            outcome.wrong += right[i] != piece.data[i] ? 1 : 0;
    }
    return outcome;
}

/// Calls for pieces of which some overlap: with OMPIO ranks whose pieces meet take turns.
int most_reads(const comm::Comm& comm) {
    return comm::mpi_io_implementation().starts_with("OMPIO") ? comm.size() : 1;
}

/// Elements of the file that are not as in `expected`.
std::uint64_t wrong(const std::string& path, const std::string& name,
                    const std::vector<float>& expected) {
    const auto set = oracle::read(path, name);
    std::uint64_t wrong = set.values.size() == expected.size() ? 0 : 1;
    for (std::size_t i = 0; i < set.values.size() && wrong == 0; ++i)
        if (set.values[i] != static_cast<double>(expected[i])) ++wrong;
    return wrong;
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: 200 boxes are one collective call") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/boxes.h5";
    const Extents dims{60, 50, 40};
    Random random(1);
    const auto boxes = cut_randomly(random, {Extents(3), dims}, 200);
    REQUIRE(boxes.size() == 200);
    // The first rank of several has none, the last one most.
    std::vector<Piece<float>> mine;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const int owner =
            comm.size() == 1 ? 0 : std::min<int>(1 + static_cast<int>(i / 40), comm.size() - 1);
        if (owner == comm.rank()) mine.emplace_back(boxes[i], dims, 0, 0);
    }
    std::vector<Write> pieces;
    for (const auto& piece : mine) pieces.push_back(piece.write(0, Scalar::f32));
    hdf5::Options options;
    options.collective = true;
    const auto written = write_pieces(comm, path, options, {dense("/a", dims)}, pieces);
    CHECK(written.calls == 1);
    if (comm.rank() == 0) {
        CHECK(written.report.data_collective.value_or(false));
        CHECK(wrong_elements(oracle::read(path, "/a")) == 0);
    }
    comm.barrier();
    std::vector<float> expected(std::size_t{60} * 50 * 40);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = value_at(i);
    std::vector<Box> places;
    for (const auto& piece : mine) places.push_back(piece.place);
    const WasRead read = read_boxes(comm, path, places, dims, 1, expected);
    CHECK(read.calls == 1);
    CHECK(read.wrong == 0);
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: random boxes with holes, in 1 to 4 dimensions") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (std::uint64_t seed = 0; seed < 48; ++seed) {
        Random random(seed);
        const std::size_t rank = 1 + seed % 4;
        Extents dims(rank);
        for (std::uint64_t& size : dims) size = 1 + up_to(random, rank == 1 ? 900 : 20 / rank);
        hdf5::Options options;
        options.collective = true;
        if (seed / 4 % 3 != 0) {  // contiguous, chunked, chunked and compressed
            Extents& chunk = options.chunks["/a"];
            for (const std::uint64_t size : dims) chunk.push_back(1 + up_to(random, size - 1));
            options.deflate = seed / 4 % 3 == 2 ? 1 : 0;
        }
        std::vector<float> expected(static_cast<std::size_t>(Box{Extents(rank), dims}.volume()),
                                    -1.0F);
        std::vector<Piece<float>> singles;
        std::vector<Piece<double>> doubles;
        for (const Box& box : cut_randomly(random, {Extents(rank), dims}, 1 + up_to(random, 40))) {
            if (up_to(random, 3) == 0) continue;  // a hole
            const auto owner = static_cast<int>(
                std::min(up_to(random, static_cast<std::uint64_t>(comm.size() - 1)),
                         up_to(random, static_cast<std::uint64_t>(comm.size() - 1))));
            const std::uint64_t margin = up_to(random, 1), kind = up_to(random, 3);
            core::for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t, auto n) {
                for (std::uint64_t i = at; i < at + n; ++i) expected[i] = value_at(i);
            });
            if (owner != comm.rank()) continue;
            // HDF5 cannot convert and compress where not all ranks convert.
            if (kind == 0 && options.deflate == 0)
                doubles.emplace_back(box, dims, margin, 0);
            else
                singles.emplace_back(box, dims, margin, 0);
        }
        std::vector<Write> pieces;
        for (const auto& piece : singles) pieces.push_back(piece.write(0, Scalar::f32));
        for (const auto& piece : doubles) pieces.push_back(piece.write(0, Scalar::f64));
        std::shuffle(pieces.begin(), pieces.end(), random);
        const std::string path = folder + "/" + std::to_string(seed) + ".h5";
        const auto written = write_pieces(comm, path, options, {filled("/a", dims)}, pieces);
        INFO("seed " << seed);
        CHECK(written.calls <= 1);
        if (comm.rank() == 0) CHECK(wrong(path, "/a", expected) == 0);
        comm.barrier();
        // Boxes of which some overlap, other ones on each rank, and on one rank none.
        Random mine(seed * 100 + static_cast<std::uint64_t>(comm.rank()));
        std::vector<Box> boxes;
        for (std::uint64_t k = comm.rank() == comm.size() - 1 && comm.size() > 1 ? 2 : 0; k < 2;
             ++k)
            for (Box& box : cut_randomly(mine, {Extents(rank), dims}, 1 + up_to(mine, 12)))
                if (up_to(mine, 2) != 0) boxes.push_back(std::move(box));
        const WasRead read = read_boxes(comm, path, boxes, dims, seed % 2, expected);
        CHECK(read.calls <= most_reads(comm));
        CHECK(read.wrong == 0);
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: of pieces of one rank that overlap the last one counts") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const Extents dims{ranks * 12, 14};
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        std::vector<float> expected(static_cast<std::size_t>(dims[0] * dims[1]), -1.0F);
        std::vector<Piece<float>> mine;
        Random random(seed);
        for (std::uint64_t rank = 0; rank < ranks; ++rank)
            for (std::uint64_t k = 0; k < 12; ++k) {
                const std::uint64_t row = up_to(random, 11), column = up_to(random, 13);
                const Box box{{rank * 12 + row, column},
                              {1 + up_to(random, 11 - row), 1 + up_to(random, 13 - column)}};
                core::for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t, auto n) {
                    for (std::uint64_t i = at; i < at + n; ++i)
                        expected[i] = value_at(i) + static_cast<float>(k);
                });
                if (static_cast<int>(rank) == comm.rank()) mine.emplace_back(box, dims, 0, k);
            }
        std::vector<Write> pieces;
        for (const auto& piece : mine) pieces.push_back(piece.write(0, Scalar::f32));
        const std::string path = folder + "/" + std::to_string(seed) + ".h5";
        hdf5::Options options;
        options.collective = true;
        const auto written = write_pieces(comm, path, options, {filled("/a", dims)}, pieces);
        CHECK(written.calls == 1);
        if (comm.rank() == 0) CHECK(wrong(path, "/a", expected) == 0);
        comm.barrier();
    }
}
