// SPDX-License-Identifier: Apache-2.0
// Every element that is written is read back by serial HDF5 calls, at its position.
#include <fcntl.h>
#include <semaphore.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "hdf5_support.hpp"

using namespace hdf5_test;

namespace {

const Extents dims{3, 16, 6, 5};

void check_file(const comm::Comm& comm, const std::string& path, bool is_chunked) {
    if (comm.rank() == 0) {
        const auto set = oracle::read(path, "/chunked");
        CHECK(set.found);
        CHECK(set.dims == std::vector<hsize_t>{3, 16, 6, 5});
        CHECK(set.chunk.empty() != is_chunked);
        CHECK(set.float32);
        CHECK(wrong_elements(set) == 0);
    }
    comm.barrier();
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: chunked and collective, every element in its place") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    const auto report = write_steps(comm, path, chunked(dims, true), dims, phases);
    CHECK(report.path == path);
    CHECK(report.bytes_logical == 3 * 16 * 6 * 5 * 4);
    CHECK(std::filesystem::file_size(path) == report.bytes_stored);
    CHECK(!std::filesystem::exists(path + ".part"));
    CHECK(report.durable);
    REQUIRE(report.data_collective.has_value());
    CHECK(*report.data_collective);
    CHECK(report.data_mode == "chunk collective (linked chunks)");
    CHECK(report.no_collective_cause.empty());
    check_file(comm, path, true);
}

TAILRACE_MPI_TEST("hdf5: chunked and independent, and the report says so") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    const auto report = write_steps(comm, path, chunked(dims, false), dims, phases);
    REQUIRE(report.data_collective.has_value());
    CHECK(!*report.data_collective);
    CHECK(report.data_mode == "independent");
    check_file(comm, path, true);
}

TAILRACE_MPI_TEST("hdf5: contiguous, collective and independent") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    hdf5::Options options;
    options.collective = true;
    const auto report = write_steps(comm, folder + "/c.h5", options, dims, phases);
    CHECK(report.data_collective == std::optional(true));
    CHECK(report.data_mode == "contiguous collective");
    check_file(comm, folder + "/c.h5", false);
    options.collective = false;
    CHECK(write_steps(comm, folder + "/i.h5", options, dims, phases).data_collective ==
          std::optional(false));
    check_file(comm, folder + "/i.h5", false);
}

TAILRACE_MPI_TEST("hdf5: chunks that cross the blocks of ranks, odd sizes, partial edge chunks") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const Extents odd{2, 17, 7, 3};
    for (const bool collective : {true, false}) {
        core::Phases phases;
        hdf5::Options options;
        options.collective = collective;
        options.chunks["/chunked"] = {1, 5, 4, 2};
        const std::string path = folder + (collective ? "/c.h5" : "/i.h5");
        (void)write_steps(comm, path, options, odd, phases);
        if (comm.rank() == 0) CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: one rank holds everything, the others nothing") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const bool collective : {true, false}) {
        core::Phases phases;
        const std::string path = folder + (collective ? "/c.h5" : "/i.h5");
        auto sink = hdf5::open_sink(comm, target(path), chunked(dims, collective), phases);
        const auto ids = sink->define({{dense("/chunked", dims)}, {}});
        const bool holder = comm.rank() == comm.size() - 1;
        const Box box{{0, 0, 0, 0}, dims};
        const auto data = fill(box, dims);
        std::vector<Write> pieces;
        if (holder) pieces.push_back({ids[0], box, bytes(data), {}, Scalar::f32});
        // A rank with nothing may say so with an empty box, or with no piece at all.
        if (comm.rank() == 0 && !holder)
            pieces.push_back({ids[0], {{0, 0, 0, 0}, {0, 0, 0, 0}}, nullptr, {}, Scalar::f32});
        sink->write(pieces);
        sink->complete(0);
        const auto report = sink->close(Outcome::publish);
        CHECK(report.data_collective == std::optional(collective));
        check_file(comm, path, true);
    }
}

TAILRACE_MPI_TEST("hdf5: ranks with different numbers of pieces, of several objects") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const Extents flat{24, 7};
    for (const bool collective : {true, false}) {
        core::Phases phases;
        hdf5::Options options;
        options.collective = collective;
        const std::string path = folder + (collective ? "/c.h5" : "/i.h5");
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        const auto ids = sink->define({{dense("/a/b/x", flat), dense("/a/y", flat)}, {}});
        // Row i of x belongs to rank i % size; y is written by rank i % 2 where there are two.
        const auto size = static_cast<std::uint64_t>(comm.size());
        const auto rank = static_cast<std::uint64_t>(comm.rank());
        std::vector<std::vector<float>> rows;
        std::vector<Write> pieces;
        rows.reserve(48);
        for (std::uint64_t i = 0; i < 24; ++i)
            for (const core::ObjectId id : ids) {
                if ((id == ids[0] ? i % size : i % std::min<std::uint64_t>(size, 2)) != rank)
                    continue;
                const Box box{{i, 0}, {1, 7}};
                rows.push_back(fill(box, flat));
                pieces.push_back({id, box, bytes(rows.back()), {}, Scalar::f32});
            }
        sink->write(pieces);
        sink->complete(0);
        (void)sink->close(Outcome::publish);
        if (comm.rank() == 0) {
            CHECK(wrong_elements(oracle::read(path, "/a/b/x")) == 0);
            CHECK(wrong_elements(oracle::read(path, "/a/y")) == 0);
        }
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: a box inside a larger array in memory") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), chunked(dims, true), phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    for (std::uint64_t step = 0; step < dims[0]; ++step) {
        const Box box = my_part(comm, dims, step);
        // One ghost layer on every side of the block.
        core::MemLayout memory;
        for (std::size_t d = 0; d < dims.size(); ++d) {
            memory.dims.push_back(box.count[d] + 2);
            memory.offset.push_back(1);
        }
        std::vector<float> data(core::Box{memory.offset, memory.dims}.volume(), -1);
        const auto inner = fill(box, dims);
        core::for_each_run({memory.offset, box.count}, memory.dims,
                           [&](std::uint64_t at, std::uint64_t in_box, std::uint64_t n) {
                               std::copy_n(inner.begin() + static_cast<std::ptrdiff_t>(in_box), n,
                                           data.begin() + static_cast<std::ptrdiff_t>(at));
                           });
        const Write piece{ids[0], box, bytes(data), memory, Scalar::f32};
        sink->write({&piece, 1});
        sink->complete(step);
    }
    (void)sink->close(Outcome::publish);
    check_file(comm, path, true);
}

TAILRACE_MPI_TEST("hdf5: another type in memory is converted") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), chunked(dims, true), phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    for (std::uint64_t step = 0; step < dims[0]; ++step) {
        const Box box = my_part(comm, dims, step);
        const auto floats = fill(box, dims);
        const std::vector<double> data(floats.begin(), floats.end());
        const Write piece{
            ids[0], box, reinterpret_cast<const std::byte*>(data.data()), {}, Scalar::f64};
        sink->write({&piece, 1});
        sink->complete(step);
    }
    (void)sink->close(Outcome::publish);
    check_file(comm, path, true);
}

TAILRACE_MPI_TEST("hdf5: types, a scalar, bytes, and the value of what nobody wrote") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(path), {}, phases);
    Object scalar = dense("/scalar", {}), block = dense("/block", {10}), filled = dense("/f", {8});
    scalar.type = Scalar::i64;
    block.type = Scalar::u8;
    block.kind = core::Kind::bytes;
    filled.fill = {true, 2.5};
    const auto ids = sink->define({{scalar, block, filled}, {}});
    const std::int64_t number = -9007199254740991;
    const unsigned char raw[10] = {0, 1, 2, 3, 250, 251, 252, 253, 254, 255};
    std::vector<Write> pieces;
    if (comm.rank() == 0) {
        pieces.push_back(
            {ids[0], {}, reinterpret_cast<const std::byte*>(&number), {}, Scalar::i64});
        pieces.push_back(
            {ids[1], {{0}, {10}}, reinterpret_cast<const std::byte*>(raw), {}, Scalar::u8});
    }
    sink->write(pieces);
    sink->complete(0);
    (void)sink->close(Outcome::publish);
    if (comm.rank() == 0) {
        CHECK(oracle::read(path, "/scalar").values == std::vector<double>{-9007199254740991.0});
        CHECK(oracle::read(path, "/block").values ==
              std::vector<double>{0, 1, 2, 3, 250, 251, 252, 253, 254, 255});
        CHECK(oracle::read(path, "/f").values == std::vector<double>(8, 2.5));
    }
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: records grow with the writes, and a later define adds objects") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const Extents final_dims{5, 16, 3};
    for (const bool collective : {true, false}) {
        core::Phases phases;
        hdf5::Options options;
        options.collective = collective;
        const std::string path = folder + (collective ? "/c.h5" : "/i.h5");
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        Object record = dense("/r", final_dims);
        record.kind = core::Kind::record;
        record.dims[0] = {0, true};
        const auto ids = sink->define({{record}, {}});
        for (std::uint64_t step = 0; step < 3; ++step)
            write_box(*sink, ids[0], my_part(comm, final_dims, step), final_dims);
        const auto more = sink->define({{dense("/later", dims)}, {}});
        REQUIRE(more.size() == 1);
        CHECK(more[0] == 1);
        // One rank alone writes the last record: the others have to grow the dataset with it.
        for (std::uint64_t step = 3; step < 5; ++step) {
            const Box box{{step, 0, 0}, {1, 16, 3}};
            const auto data = fill(box, final_dims);
            const Write piece{ids[0], box, bytes(data), {}, Scalar::f32};
            sink->write({&piece, comm.rank() == 0 ? 1U : 0U});
            sink->complete(step);
        }
        for (std::uint64_t step = 0; step < dims[0]; ++step)
            write_box(*sink, more[0], my_part(comm, dims, step), dims);
        (void)sink->close(Outcome::publish);
        if (comm.rank() == 0) {
            const auto set = oracle::read(path, "/r");
            CHECK(set.dims == std::vector<hsize_t>{5, 16, 3});
            CHECK(set.limits[0] == H5S_UNLIMITED);
            CHECK(wrong_elements(set) == 0);
            CHECK(wrong_elements(oracle::read(path, "/later")) == 0);
        }
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: discard leaves nothing, and an old file as it was") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    (void)write_steps(comm, path, chunked(dims, true), dims, phases);
    for (const bool by_destructor : {false, true}) {
        auto sink = hdf5::open_sink(comm, target(path), chunked(dims, true), phases);
        const auto ids = sink->define({{dense("/other", dims)}, {}});
        write_box(*sink, ids[0], my_part(comm, dims, 0), dims);
        if (!by_destructor) (void)sink->close(Outcome::discard);
        sink.reset();
        comm.barrier();
        CHECK(!std::filesystem::exists(path + ".part"));
        check_file(comm, path, true);
    }
}

TAILRACE_MPI_TEST("hdf5: a name with a colon, blanks and quotes") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/run 12:30 $(x) 'a'.h5";
    for (const bool precreate : {false, true}) {
        core::Phases phases;
        auto options = chunked(dims, true);
        options.precreate = precreate;
        (void)write_steps(comm, path, options, dims, phases);
        check_file(comm, path, true);
        auto source = hdf5::open_source(comm, path, options, phases);
        CHECK(source->schema().objects.size() == 1);
    }
}

TAILRACE_MPI_TEST("hdf5: the locked semaphore of a killed program does not make it hang") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    // A name of its own: all programs of this machine share the semaphore of a name, and this test
    // runs beside itself on other numbers of ranks.
    const std::filesystem::path folder = test::shared_folder();
    const std::string name = "stale-" + folder.filename().string() + ".h5";
    const std::string path = (folder / name).string();
    const std::string lock = "/OMPIO_" + name + ".part";
    core::Phases phases;
    for (const bool precreate : {false, true}) {
        if (comm.rank() == 0) {
            sem_t* semaphore = sem_open(lock.c_str(), O_CREAT, 0600, 0);
            CHECK((semaphore != SEM_FAILED));
            sem_close(semaphore);
        }
        comm.barrier();
        auto options = chunked(dims, true);
        options.precreate = precreate;
        (void)write_steps(comm, path, options, dims, phases);
        check_file(comm, path, true);
    }
    if (comm.rank() == 0) sem_unlink(lock.c_str());
}

TAILRACE_MPI_TEST("hdf5: ranks that come late, each by another time before every call") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    std::minstd_rand random(static_cast<unsigned>(comm.rank()) + 17);
    const auto come_late = [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
    };
    for (const bool collective : {true, false})
        for (const bool precreate : {true, false}) {
            core::Phases phases;
            auto options = chunked(dims, collective);
            options.precreate = precreate;
            options.collective_metadata = collective;
            const std::string path = folder + "/a.h5";
            come_late();
            auto sink = hdf5::open_sink(comm, target(path), options, phases);
            come_late();
            const auto ids = sink->define({{dense("/chunked", dims)}, {}});
            for (std::uint64_t step = 0; step < dims[0]; ++step) {
                const Box box = my_part(comm, dims, step);
                const auto data = fill(box, dims);
                const Write piece{ids[0], box, bytes(data), {}, Scalar::f32};
                come_late();
                sink->write({&piece, 1});
                come_late();
                sink->complete(step);
            }
            come_late();
            sink->sync(core::Durability::flushed).wait();
            come_late();
            (void)sink->close(Outcome::publish);
            check_file(comm, path, true);
        }
}
