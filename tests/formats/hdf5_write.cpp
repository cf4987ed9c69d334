// SPDX-License-Identifier: Apache-2.0
// Every element that is written is read back by serial HDF5 calls, and every option is looked for
// in the file.
#include <filesystem>

#include "hdf5_support.hpp"

using namespace hdf5_test;
namespace hdf5 = tailrace::formats::hdf5;

TAILRACE_MPI_TEST("hdf5: chunked and collective, every element in its place") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    const Extents dims{3, 16, 6, 5};
    core::Phases phases;
    hdf5::Options options;
    options.collective = true;
    options.chunks["/chunked"] = {1, 2, 6, 5};
    const auto report = write_steps(comm, path, options, dims, phases);
    CHECK(report.bytes_logical == 3 * 16 * 6 * 5 * 4);
    CHECK(std::filesystem::file_size(path) == report.bytes_stored);
    CHECK(!std::filesystem::exists(path + ".part"));
    REQUIRE(report.data_collective.has_value());
    INFO(report.data_mode << "; " << report.no_collective_cause);
    CHECK(*report.data_collective);
    CHECK(report.no_collective_cause.empty());
    if (comm.rank() == 0) {
        const auto set = oracle::read(path, "/chunked");
        REQUIRE(set.found);
        CHECK(set.dims == std::vector<hsize_t>{3, 16, 6, 5});
        CHECK(set.chunk == std::vector<hsize_t>{1, 2, 6, 5});
        CHECK(set.float32);
        CHECK(wrong_elements(set) == 0);
    }
    comm.barrier();
}
