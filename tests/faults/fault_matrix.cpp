// SPDX-License-Identifier: Apache-2.0
// The fault matrix of format hdf5: {create, define, write, flush, close} x {collective,
// independent}, each with several kinds of failure, on one rank or on all; CMake adds {OMPIO,
// ROMIO}. In every cell all ranks must get the same Error, none may hang, and nothing may be left
// under the final name nor beside it. docs/developer/hdf5_failures.md has the table.
#include <filesystem>
#include <optional>

#include "fault_run.hpp"
#include "hooks/posix/observer.hpp"
#include "mpi_test.hpp"

using namespace tailrace;
using fault_test::Run;
using fault_test::write_file;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

/// What became of a run on this rank: "ok", or code and text of the Error.
std::string outcome(const comm::Comm& comm, const std::string& path, const Run& run,
                    const std::string& rules) {
    std::string text = "ok";
    hooks::posix::inject_faults(rules);
    try {
        (void)write_file(comm, path, run);
    } catch (const core::Error& error) {
        text = std::string(core::name(error.code())) + ": " + error.what();
    }
    hooks::posix::inject_faults("");
    return text;
}

/// Runs a cell and checks what must hold; prints what each rank ended with.
void check_cell(const comm::Comm& comm, const std::string& cell, const Run& run,
                const std::string& rules) {
    const std::string folder = test::shared_folder();
    const std::string path = folder + "/f.h5";
    const std::string text = outcome(comm, path, run, rules);
    const std::string short_text = text.substr(0, text.find(':'));
    const auto codes = comm.gather_text(short_text);
    std::string row;
    for (std::size_t r = 0; r < codes.size(); ++r) row += " " + std::to_string(r) + "=" + codes[r];
    if (comm.rank() == 0) MESSAGE(cell << " [" << rules << "]:" << row);
    INFO(cell << ": " << text);
    CHECK(text != "ok");
    CHECK(test::from_rank0(text) == text);
    CHECK(text.find("f.h5") != std::string::npos);
    comm.barrier();
    if (comm.rank() == 0) CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}

/// Ranks that write to the file in a phase of a run without faults: a fault on another one would
/// never come to pass.
std::vector<int> writers_in(const comm::Comm& comm, const std::string& phase, const Run& run) {
    const auto report = write_file(comm, test::shared_folder() + "/f.h5", run);
    std::string ranks;
    for (const core::WriterReport& writer : report.writers)
        if (const auto found = writer.by_phase.find(phase);
            found != writer.by_phase.end() && found->second.write.calls != 0)
            ranks += static_cast<char>('0' + writer.rank);
    std::vector<int> all;
    for (const char digit : test::from_rank0(ranks)) all.push_back(digit - '0');
    return all;
}

/// Full disk at once, a short write and then a full disk, a broken disk; on the first rank that
/// writes, on the last one, on all.
void check_writes(const comm::Comm& comm, const std::string& point, const std::string& phase,
                  const Run& run) {
    const std::vector<int> writing = writers_in(comm, phase, run);
    REQUIRE(!writing.empty());
    std::vector<std::string> ranks{"", "rank=" + std::to_string(writing.front()) + ","};
    if (writing.size() > 1) ranks.push_back("rank=" + std::to_string(writing.back()) + ",");
    for (const char* kind : {"errno=ENOSPC", "errno=ENOSPC,short=8", "errno=EIO"})
        for (const std::string& rank : ranks)
            check_cell(comm, point, run,
                       "op=write,path=*/f.h5.part,phase=" + phase + "," + rank + kind);
}

}  // namespace

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
