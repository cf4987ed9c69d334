// SPDX-License-Identifier: Apache-2.0
// The fault matrix of format hdf5: {create, define, write, flush, close} x {collective,
// independent}, each with several kinds of failure, on one rank or on all; CMake adds {OMPIO,
// ROMIO}. In every cell all ranks must get the same Error, none may hang, and nothing may be left
// under the final name nor beside it. docs/developer/hdf5_failures.md has the table.
#include "fault_cells.hpp"

using namespace fault_test;

TAILRACE_MPI_TEST("faults: no fault, no failure") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const bool collective : {true, false})
        for (const bool precreate : {true, false}) {
            const std::string path = test::shared_folder() + "/f.h5";
            CHECK(outcome(comm, path, {collective, precreate, true}, "") == "ok");
            comm.barrier();
            CHECK(std::filesystem::exists(path));
            comm.barrier();
        }
}

TAILRACE_MPI_TEST("faults: create, the file cannot be made") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    // HDF5 writes nothing before the first flush; creating fails in open.
    for (const char* rank : {"rank=0,", ""})
        check_cell(comm, "create", {true},
                   std::string("op=open,path=*/f.h5.part,phase=create,") + rank + "errno=EROFS");
}

TAILRACE_MPI_TEST("faults: create, collective and independent, by rank 0 alone") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const bool collective : {true, false})
        check_writes(comm, "precreate", "precreate", {collective, true, true});
}

// Opens of the part before HDF5's own, in phase create: one by rank 0 that makes it, one by every
// rank that sees it.
TAILRACE_MPI_TEST("faults: create, MPI-IO cannot open the file") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const bool collective : {true, false}) {
        check_cell(comm, "create", {collective},
                   "op=open,path=*/f.h5.part,phase=create,after=2,rank=0,errno=EIO");
        check_cell(comm, "create", {collective},
                   "op=open,path=*/f.h5.part,phase=create,after=1,rank=" +
                       std::to_string(comm.size() - 1) + ",errno=EIO");
    }
}

#define TAILRACE_FAULT_CELL(point, phase, collective, fill)                                        \
    TAILRACE_MPI_TEST("faults: " point ", " #collective) {                                         \
        const auto comm = comm::from_mpi(MPI_COMM_WORLD);                                          \
        check_writes(comm, point, phase, {std::string(#collective) == "collective", false, fill}); \
    }

TAILRACE_FAULT_CELL("define", "define", collective, true)
TAILRACE_FAULT_CELL("define", "define", independent, true)
TAILRACE_FAULT_CELL("write", "write", collective, false)
TAILRACE_FAULT_CELL("write", "write", independent, false)
TAILRACE_FAULT_CELL("flush", "flush", collective, false)
TAILRACE_FAULT_CELL("flush", "flush", independent, false)
TAILRACE_FAULT_CELL("close", "close", collective, false)
TAILRACE_FAULT_CELL("close", "close", independent, false)
TAILRACE_FAULT_CELL("describe", "describe", collective, false)

TAILRACE_MPI_TEST("faults: fsync of MPI-IO in flush") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const char* rank : {"", "rank=0,", "rank=2,"})
        for (const bool collective : {true, false})
            check_cell(comm, "flush", {collective},
                       std::string("op=fsync,path=*/f.h5.part,phase=flush,") + rank + "errno=EIO");
}

// The second step is allocated and not written, so that the file must be made longer.
TAILRACE_MPI_TEST("faults: size of the file in flush and close") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const std::string phase : {"flush", "close"})
        for (const bool collective : {true, false}) {
            Run run{collective};
            run.sync = phase == "flush";
            run.steps = 1;
            check_cell(comm, phase, run,
                       "op=ftruncate,path=*/f.h5.part,phase=" + phase + ",errno=EFBIG");
        }
}

TAILRACE_MPI_TEST("faults: our own fsync, the new name, the folder") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    check_cell(comm, "sync", {true}, "op=fsync,path=*/f.h5.part,phase=sync,errno=EIO");
    check_cell(comm, "publish", {true}, "op=rename,path=*/f.h5.part,errno=EACCES");
}

// What rank 0 has created alone is read by all; the description is added by reading the file again.
TAILRACE_MPI_TEST("faults: what was written cannot be read") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string last = "rank=" + std::to_string(comm.size() - 1) + ",";
    for (const bool collective : {true, false}) {
        const Run run{collective, true};
        for (const std::string rank : {"", "rank=0,"})
            for (const std::string phase : {"open_file", "open_dataset", "describe"})
                check_cell(comm, phase, run,
                           "op=read,path=*/f.h5.part,phase=" + phase + "," + rank + "errno=EIO");
        check_cell(comm, "open_dataset", run,
                   "op=read,path=*/f.h5.part,phase=open_dataset," + last + "errno=EIO");
    }
}
