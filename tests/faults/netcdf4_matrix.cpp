// SPDX-License-Identifier: Apache-2.0
// The fault matrix of format netcdf4, in the cells of that of hdf5; what is below is an HDF5 file.
#include "fault_cells.hpp"

using namespace fault_test;

namespace {

Run through_netcdf(bool collective, bool fill = false) {
    Run run{collective, false, fill};
    run.netcdf4 = true;
    return run;
}

/// Everything that fails in one kind of transfer.
void check_matrix(bool collective) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    CHECK(outcome(comm, test::shared_folder() + "/f.h5", through_netcdf(collective), "") == "ok");
    const std::string last = "rank=" + std::to_string(comm.size() - 1) + ",";
    // Opens of the part before netCDF's own, in phase create: one by rank 0 that makes it, one by
    // every rank that sees it.
    const std::vector<std::string> opening{"rank=0,", "", "after=2,rank=0,", "after=1," + last};
    for (const std::string& rank : opening)
        check_cell(comm, "create", through_netcdf(collective),
                   "op=open,path=*/f.h5.part,phase=create," + rank + "errno=EIO");
    check_writes(comm, "define", "define", through_netcdf(collective, true));
    check_writes(comm, "write", "write", through_netcdf(collective));
    // Of fixed dimensions everything was written when they were defined.
    Run growing = through_netcdf(collective);
    growing.grows = true;
    check_writes(comm, "flush", "flush", growing);
    growing.sync = false;
    check_writes(comm, "close", "close", growing);
    const std::vector<std::string> syncing{"", "rank=0,", last};
    for (const std::string& rank : syncing)
        check_cell(comm, "flush", through_netcdf(collective),
                   "op=fsync,path=*/f.h5.part,phase=flush," + rank + "errno=EIO");
}

}  // namespace

TAILRACE_MPI_TEST("faults: netcdf4, collective") { check_matrix(true); }

TAILRACE_MPI_TEST("faults: netcdf4, independent") { check_matrix(false); }

// The finished file is only read: what describes it was written when it was defined.
TAILRACE_MPI_TEST("faults: netcdf4, the description, the sync and the new name") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const Run run = through_netcdf(true);
    for (const char* rules : {"op=read,path=*/f.h5.part,phase=describe,errno=EIO",
                              "op=fsync,path=*/f.h5.part,phase=sync,errno=EIO",
                              "op=rename,path=*/f.h5.part,errno=EACCES"})
        check_cell(comm, "end", run, rules);
}
