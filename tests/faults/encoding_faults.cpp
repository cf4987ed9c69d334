// SPDX-License-Identifier: Apache-2.0
// The fault matrix where ranks encode chunks by themselves: no MPI-IO, no collective HDF5.
#include "fault_cells.hpp"

using namespace tailrace;
using namespace fault_test;

namespace {

Run encoding() {
    Run run;
    run.encode = true;
    return run;
}

}  // namespace

TAILRACE_MPI_TEST("faults: encode: no fault, no failure") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    CHECK(outcome(comm, test::shared_folder() + "/f.h5", encoding(), "") == "ok");
}

TAILRACE_MPI_TEST("faults: encode: every rank writes, and any of them may fail") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    CHECK(writers_in(comm, "write", writer_of(encoding())).size() ==
          static_cast<std::size_t>(comm.size()));
    check_writes(comm, "write", "write", encoding());
}

TAILRACE_MPI_TEST("faults: encode: metadata of rank 0") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const char* phase : {"flush", "close"}) check_writes(comm, phase, phase, encoding());
    for (const char* phase : {"flush", "close"}) {
        Run run = encoding();
        run.sync = std::string(phase) == "flush";
        check_cell(comm, phase, run,
                   std::string("op=ftruncate,path=*/f.h5.part,phase=") + phase + ",errno=EFBIG");
    }
}

TAILRACE_MPI_TEST("faults: encode: the file cannot be opened, synced, named") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string last = "rank=" + std::to_string(comm.size() - 1) + ",";
    check_cell(comm, "create", encoding(),
               "op=open,path=*/f.h5.part,phase=create,rank=0,errno=EROFS");
    for (const std::string& rank : {std::string(), last})
        check_cell(comm, "open_file", encoding(),
                   "op=open,path=*/f.h5.part,phase=open_file," + rank + "errno=EMFILE");
    check_cell(comm, "sync", encoding(), "op=fsync,path=*/f.h5.part,phase=sync,errno=EIO");
    check_cell(comm, "publish", encoding(), "op=rename,path=*/f.h5.part,errno=EACCES");
}
