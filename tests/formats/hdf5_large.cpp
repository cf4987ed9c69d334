// SPDX-License-Identifier: Apache-2.0
// Beyond 2^31 elements, 2^32 bytes and 2^31 bytes in one piece; the files are sparse.
#include <filesystem>

#include "hdf5_support.hpp"

using namespace hdf5_test;

TAILRACE_MPI_TEST("hdf5: positions beyond 2^31 elements and 2^32 bytes") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const std::uint64_t length = (std::uint64_t{1} << 32) + 64;
    for (const bool is_chunked : {true, false})
        for (const bool collective : {true, false}) {
            core::Phases phases;
            hdf5::Options options;
            options.collective = collective;
            options.fill_time = hdf5::FillTime::never;
            if (is_chunked) options.chunks["/x"] = {std::uint64_t{1} << 20};
            const std::string path = folder + "/x.h5";
            auto sink = hdf5::open_sink(comm, target(path), options, phases);
            const auto ids = sink->define({{dense("/x", {length})}, {}});
            write_far_elements(comm, *sink, ids[0], path, length);
        }
}

// 2.1 GiB of memory and of file: a label of its own.
TAILRACE_MPI_TEST(1, "hdf5: one piece of more than 2^31 bytes") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const std::uint64_t length = (std::uint64_t{1} << 29) + (std::uint64_t{1} << 20);
    std::vector<float> data(length, 0);
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1} << 29, length - 1})
        data[at] = static_cast<float>(at % 1000) + 1;
    for (const bool collective : {true, false}) {
        core::Phases phases;
        hdf5::Options options;
        options.collective = collective;
        options.fill_time = hdf5::FillTime::never;
        const std::string path = folder + "/x.h5";
        auto sink = hdf5::open_sink(comm, target(path), options, phases);
        const auto ids = sink->define({{dense("/x", {length})}, {}});
        const Write piece{ids[0], {{0}, {length}}, bytes(data), {}, Scalar::f32};
        sink->write({&piece, 1});
        sink->complete(0);
        const auto report = sink->close(Outcome::publish);
        CHECK(report.bytes_logical == length * 4);
        for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1} << 29, length - 1})
            CHECK(element(path, "/x", at) == data[at]);
        CHECK(element(path, "/x", (std::uint64_t{1} << 29) + 1) == 0);
        std::filesystem::remove(path);
    }
}
