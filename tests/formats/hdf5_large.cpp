// SPDX-License-Identifier: Apache-2.0
// Beyond 2^31 elements, 2^32 bytes and 2^31 bytes in one piece; the files are sparse.
#include <filesystem>

#include "hdf5_support.hpp"

using namespace hdf5_test;

namespace {

/// Element `at` of a one-dimensional f32 dataset, by serial HDF5 calls.
float element(const std::string& path, const std::string& name, hsize_t at) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), one = H5Screate(H5S_SCALAR);
    H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
    float value = -1;
    if (H5Dread(set, H5T_NATIVE_FLOAT, one, space, H5P_DEFAULT, &value) < 0) value = -2;
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return value;
}

}  // namespace

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
            // Every rank one element near the end, and one across the 2^31st.
            const auto rank = static_cast<std::uint64_t>(comm.rank());
            const std::vector<float> values{static_cast<float>(rank) + 1,
                                            static_cast<float>(rank) + 100};
            const std::uint64_t at[] = {length - 1 - rank, (std::uint64_t{1} << 31) - 1 + rank};
            std::vector<Write> pieces;
            for (std::size_t i = 0; i < 2; ++i)
                pieces.push_back({ids[0],
                                  {{at[i]}, {1}},
                                  reinterpret_cast<const std::byte*>(&values[i]),
                                  {},
                                  Scalar::f32});
            sink->write(pieces);
            sink->complete(0);
            (void)sink->close(Outcome::publish);
            CHECK(std::filesystem::file_size(path) >= length * 4);
            CHECK(element(path, "/x", at[0]) == values[0]);
            CHECK(element(path, "/x", at[1]) == values[1]);
            comm.barrier();
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
