// SPDX-License-Identifier: Apache-2.0
// Beyond 2^31 elements and 2^32 bytes; the files are sparse.
#include "netcdf4_support.hpp"

using namespace netcdf4_test;

TAILRACE_MPI_TEST("netcdf4: positions beyond 2^31 elements and 2^32 bytes") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const std::uint64_t length = (std::uint64_t{1} << 32) + 64;
    for (const bool is_chunked : {true, false})
        for (netcdf4::Options options : both_modes()) {
            core::Phases phases;
            options.never_fill = true;
            if (is_chunked) options.chunks["/x"] = {std::uint64_t{1} << 20};
            const std::string path = folder + "/x.nc";
            auto sink = netcdf4::open_sink(comm, target(path), options, phases);
            const auto ids = sink->define({{dense("/x", {length})}, {}});
            write_far_elements(comm, *sink, ids[0], path, length);
        }
}
