// SPDX-License-Identifier: Apache-2.0
// Chunks that ranks encode by themselves: whatever the cut, plain serial HDF5 reads what was
// written, and a failure of one rank ends on all.
#include <filesystem>
#include <memory>

#include "hdf5_support.hpp"
#include "hooks/posix/observer.hpp"
#include "own_filter.hpp"

using namespace hdf5_test;
using core::Code;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

hdf5::Options encoding(const Extents& chunk) {
    hdf5::Options options;
    options.encode_on_ranks = true;
    options.shuffle = true;
    options.deflate = 1;
    options.chunks["/chunked"] = chunk;
    return options;
}

std::uint64_t setting(const core::FileReport& report, const char* name) {
    return std::stoull(report.settings.at(name));
}

/// Right values in the file, seen by rank 0; all ranks know.
bool right(const comm::Comm& comm, const std::string& path) {
    const bool good = comm.rank() != 0 || wrong_elements(oracle::read(path, "/chunked")) == 0;
    return test::on_all_ranks(good);
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: encode: chunks that lie in one rank are encoded there, without exchange") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const Extents dims{2, 4 * ranks, 6, 5};
    core::Phases phases;
    auto options = encoding({1, 2, 6, 5});
    options.fletcher32 = true;
    const auto report = write_steps(comm, path, options, dims, phases, {{"/", "a", 1.5}});
    CHECK(right(comm, path));
    CHECK(setting(report, "chunks_encoded") == 4 * ranks);
    CHECK(setting(report, "chunks_put_together") == 0);
    CHECK(report.settings.at("filters").find("shuffle") == 0);
    CHECK(report.data_collective == false);
    CHECK(report.bytes_logical == 2 * 4 * ranks * 30 * 4);
    // Every rank has written what it encoded, and only rank 0 anything else.
    if (comm.rank() == 0) {
        const auto set = oracle::read(path, "/chunked");
        CHECK(set.filters == std::vector<int>{2, 1, 3});
        CHECK(set.alloc_time == H5D_ALLOC_TIME_INCR);
        CHECK(report.writers.size() == ranks);
        std::uint64_t bytes = 0;
        for (const auto& writer : report.writers) {
            CHECK(writer.by_phase.at("write").write.calls == 4);
            bytes += writer.by_phase.at("write").write.bytes_done;
            if (writer.rank != 0) CHECK(writer.total.write.calls == 4);
        }
        CHECK(bytes == set.storage_bytes);
    }
    // HDF5's own path through the same filters stores as many bytes.
    auto library = options;
    library.encode_on_ranks = false;
    library.collective = true;
    (void)write_steps(comm, path + ".lib", library, dims, phases);
    if (comm.rank() == 0)
        CHECK(oracle::read(path, "/chunked").storage_bytes ==
              oracle::read(path + ".lib", "/chunked").storage_bytes);
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: encode: chunks across ranks, at the edge, of one cell, of all") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const Extents dims{2, 17, 7, 5};  // with 3, 4 and 8 ranks no two have as much
    core::Phases phases;
    for (const Extents& chunk :
         {Extents{1, 3, 4, 2}, Extents{1, 1, 1, 1}, Extents{1, 17, 7, 5}, Extents{2, 5, 7, 5}}) {
        const std::string path = folder + "/" + core::Box{{0, 0, 0, 0}, chunk}.text() + ".h5";
        INFO(path);
        const auto report = write_steps(comm, path, encoding(chunk), dims, phases);
        CHECK(right(comm, path));
        if (chunk[1] == 1) CHECK(setting(report, "chunks_put_together") == 0);
        if (chunk[0] == 2) CHECK(setting(report, "chunks_put_together") >= 8);  // twice each
    }
    // Two rows: of three ranks and more some have nothing.
    const Extents few{1, 2, 3, 3};
    (void)write_steps(comm, folder + "/few.h5", encoding({1, 2, 2, 2}), few, phases);
    CHECK(right(comm, folder + "/few.h5"));
}

TAILRACE_MPI_TEST("hdf5: encode: other types in memory, ghost cells, and what nobody writes") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    const Extents dims{19, 6};
    core::Phases phases;
    auto options = encoding({4, 4});
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    core::Object object = dense("/chunked", dims);
    object.fill = {true, -7};
    const auto ids = sink->define({{object}, {}});
    // Rows from 2 on; a column of ghosts to either side.
    Box box =
        core::cut(std::vector<std::uint64_t>{17, 6}, 0, static_cast<std::uint64_t>(comm.size()),
                  static_cast<std::uint64_t>(comm.rank()));
    box.offset[0] += 2;
    const core::MemLayout memory{{box.count[0] + 1, 8}, {1, 1}};
    std::vector<double> data(static_cast<std::size_t>((box.count[0] + 1) * 8), 1e30);
    for (std::uint64_t i = 0; i < box.count[0]; ++i)
        for (std::uint64_t j = 0; j < 6; ++j)
            data[(i + 1) * 8 + j + 1] = static_cast<double>(value_at((box.offset[0] + i) * 6 + j));
    const Write piece{ids[0], box, reinterpret_cast<const std::byte*>(data.data()), memory,
                      Scalar::f64};
    sink->write({&piece, box.empty() ? 0U : 1U});
    sink->complete(0);
    (void)sink->close(Outcome::publish);
    if (comm.rank() == 0) {
        const auto set = oracle::read(path, "/chunked");
        REQUIRE(set.values.size() == 19 * 6);
        for (std::size_t i = 0; i < set.values.size(); ++i)
            CHECK(set.values[i] == (i < 12 ? -7.0 : static_cast<double>(value_at(i))));
    }
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: encode: two objects, one of which grows, without any filter too") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    const Extents dims{3, 10, 4};
    for (const bool filtered : {true, false}) {
        const std::string path = folder + (filtered ? "/f.h5" : "/p.h5");
        auto options = encoding({1, 3, 4});
        options.chunks["/other"] = {2, 4};
        options.shuffle = filtered;
        options.deflate = filtered ? 4 : 0;
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        core::Object grows = dense("/chunked", {0, 10, 4});
        grows.dims[0].unlimited = true;
        const auto ids = sink->define({{grows, dense("/other", {10, 4})}, {}});
        for (std::uint64_t step = 0; step < dims[0]; ++step) {
            const Box box = my_part(comm, dims, step);
            const Box other{{box.offset[1], 0}, {box.count[1], 4}};
            const auto data = fill(box, dims);
            const auto more = fill(other, {10, 4});
            const Write pieces[] = {{ids[0], box, bytes(data), {}, Scalar::f32},
                                    {ids[1], other, bytes(more), {}, Scalar::f32}};
            sink->write(pieces);
            sink->complete(step);
            if (step == 0) sink->sync(core::Durability::flushed).wait();
        }
        (void)sink->close(Outcome::publish);
        CHECK(right(comm, path));
        if (comm.rank() == 0) {
            CHECK(wrong_elements(oracle::read(path, "/other")) == 0);
            CHECK(oracle::read(path, "/chunked").limits[0] == H5S_UNLIMITED);
        }
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: encode: a filter that fails on one rank ends on all, nothing is left") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const Extents dims{2, 4 * ranks, 6, 5};
    core::Phases phases;
    const OwnFilter filter;
    auto options = encoding({1, 2, 6, 5});
    options.filters = {{OwnFilter::id, "same", {}}};
    for (const int failing : {0, comm.size() - 1}) {
        OwnFilter::fails() = comm.rank() == failing;
        auto sink = hdf5::open_sink(comm, target(folder + "/a.h5"), options, phases);
        const auto ids = sink->define({{dense("/chunked", dims)}, {}});
        const auto box = my_part(comm, dims, 0);
        const auto data = fill(box, dims);
        const Write piece{ids[0], box, bytes(data), {}, Scalar::f32};
        sink->write({&piece, 1});
        TAILRACE_CHECK_ALL_THROW(Code::io, sink->complete(0));
        TAILRACE_CHECK_ALL_THROW(Code::io, sink->write({&piece, 1}));
        (void)sink->close(Outcome::discard);
        comm.barrier();
        CHECK(std::filesystem::is_empty(folder));
        comm.barrier();
    }
    OwnFilter::fails() = false;
    (void)write_steps(comm, folder + "/a.h5", options, dims, phases);
    CHECK(right(comm, folder + "/a.h5"));
}

TAILRACE_MPI_TEST(2, "hdf5: encode: a chunk that two ranks write in one batch is refused") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), encoding({4}), phases);
    const auto ids = sink->define({{dense("/chunked", {8})}, {}});
    const std::vector<float> data(4);
    const Write piece{ids[0], {{4}, {4}}, bytes(data), {}, Scalar::f32};
    sink->write({&piece, 1});
    TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->complete(0));
}

TAILRACE_MPI_TEST("hdf5: encode: rank 0 writes compounds through HDF5, and other ranks may not") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    Object table = dense("/chunked", {5, 2});
    table.type = Scalar::i32;
    table.members = {{"lo", Scalar::i32}, {"hi", Scalar::i32}};
    const std::vector<std::int32_t> given{1, 2, 30, 40, 500, 600, -7, -8, 90000, 100000};
    const auto* data = reinterpret_cast<const std::byte*>(given.data());
    const Box all{{0, 0}, {5, 2}}, none{{0, 0}, {0, 2}};
    for (const bool plain : {false, true}) {
        auto options = encoding({5, 2});
        if (plain) options.chunks.clear(), options.shuffle = false, options.deflate = 0;
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        const auto ids = sink->define({{table}, {}});
        const bool last = comm.size() > 1 && comm.rank() == comm.size() - 1;
        Write piece{ids[0], last ? all : none, data, {}, Scalar::i32};
        if (comm.size() > 1)
            TAILRACE_CHECK_ALL_THROW(core::Code::unsupported, sink->write({&piece, 1}));
        piece.place = comm.rank() == 0 ? all : none;
        sink->write({&piece, 1});
        sink->complete(0);
        (void)sink->close(Outcome::publish);
        auto source = hdf5::open_source(comm, path, hdf5::Options{}, phases);
        CHECK(source->schema().objects == std::vector<Object>{table});
        std::vector<std::int32_t> found(given.size());
        core::Read read{0, all, reinterpret_cast<std::byte*>(found.data()), Scalar::i32};
        source->read({&read, 1});
        CHECK(found == given);
    }
}
