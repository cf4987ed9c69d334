// SPDX-License-Identifier: Apache-2.0
// The fault matrix of format pnetcdf: {create, define, write, flush, close} x {collective,
// independent}, blocking and aggregated; CMake adds {OMPIO, ROMIO}. As fault_matrix.cpp for hdf5.
#include "formats/pnetcdf/open.hpp"
#include "writer_cells.hpp"

using namespace tailrace;
namespace pnetcdf = tailrace::formats::pnetcdf;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

constexpr std::uint64_t rows = 16, columns = 1024;

struct Run {
    bool collective = false;
    pnetcdf::Put put = pnetcdf::Put::blocking;
    bool fill = false;
};

/// Two record variables, two steps, a sync after the first.
core::FileReport write_file(const comm::Comm& comm, const std::string& path, const Run& run) {
    core::Phases phases;
    pnetcdf::Options options;
    options.collective = run.collective;
    options.put = run.put;
    options.unlimited = true;
    core::Target target;
    target.path = path;
    auto sink = pnetcdf::open_sink(comm, target, options, phases);
    core::Schema schema;
    for (const char* name : {"/d", "/e"}) {
        core::Object object;
        object.path = name;
        object.dims = {{0, false}, {rows, false}, {columns, false}};
        if (run.fill) object.fill = {true, 2.5};
        schema.objects.push_back(object);
    }
    schema.attributes = {{"/", "a", core::AttributeScalar(std::string("text"))}};
    sink->define(schema);
    const core::Extents dims{2, rows, columns};
    for (std::uint64_t step = 0; step < dims[0]; ++step) {
        core::Box box = core::cut(dims, 1, static_cast<std::uint64_t>(comm.size()),
                                  static_cast<std::uint64_t>(comm.rank()));
        box.offset[0] = step;
        box.count[0] = 1;
        const std::vector<float> data(static_cast<std::size_t>(box.volume()), 1.5F);
        const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
        const std::vector<core::Write> pieces{{0, box, bytes, {}, core::Scalar::f32},
                                              {1, box, bytes, {}, core::Scalar::f32}};
        sink->write(pieces);
        sink->complete(step);
        if (step == 0) sink->sync(core::Durability::durable).wait();
    }
    return sink->close(core::Outcome::publish);
}

fault_test::Writer writer_of(const Run& run) {
    return {"f.nc", [run](const comm::Comm& comm, const std::string& path) {
                return write_file(comm, path, run);
            }};
}

std::vector<Run> runs() {
    std::vector<Run> all;
    for (const bool collective : {true, false})
        for (const pnetcdf::Put put :
             {pnetcdf::Put::blocking, pnetcdf::Put::aggregated, pnetcdf::Put::buffered})
            all.push_back({collective, put});
    return all;
}

void check(const Run& run, const std::string& point, const std::string& rules) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    fault_test::check_cell(comm, point + (run.collective ? ", collective" : ", independent"),
                           writer_of(run), rules);
}

void check_writes(const Run& run, const std::string& phase) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string point = phase + (run.collective ? ", collective" : ", independent");
    if (run.put == pnetcdf::Put::blocking)
        fault_test::check_writes(comm, point, phase, writer_of(run));
    else
        fault_test::check_writes(comm, point, phase, writer_of(run), {"errno=ENOSPC"});
}

}  // namespace

TAILRACE_MPI_TEST("pnetcdf faults: no fault, no failure") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const Run& run : runs()) {
        const std::string path = test::shared_folder() + "/f.nc";
        CHECK(fault_test::outcome(comm, path, writer_of(run), "") == "ok");
        comm.barrier();
        CHECK(std::filesystem::exists(path));
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("pnetcdf faults: create") {
    for (const bool collective : {true, false}) {
        check_writes({collective}, "create");
        for (const char* rank : {"rank=0,", ""})
            check({collective}, "create",
                  std::string("op=open,path=*/f.nc.part,phase=create,") + rank + "errno=EROFS");
    }
}

// Before MPI-IO opens the file every rank has tried it: these are the opens after that.
TAILRACE_MPI_TEST("pnetcdf faults: the file cannot be opened") {
    const std::string last = "rank=" + std::to_string(test::size() - 1) + ",";
    for (const bool collective : {true, false})
        for (const std::string& rank : {std::string("rank=0,"), last})
            check({collective}, "open_file",
                  "op=open,path=*/f.nc.part,phase=open_file," + rank + "errno=EIO");
    check({true}, "open_file", "op=open,path=*/f.nc.part,phase=open_file,after=1,errno=EIO");
}

TAILRACE_MPI_TEST("pnetcdf faults: define") {
    for (const bool collective : {true, false}) check_writes({collective}, "define");
    // Independent mode opens a handle of its own, on each rank.
    check({false}, "define", "op=open,path=*/f.nc.part,phase=define,errno=EIO");
    check({false}, "define", "op=open,path=*/f.nc.part,phase=define,rank=1,errno=EIO");
}

#define TAILRACE_WRITE_CELL(collective, put)                                                  \
    TAILRACE_MPI_TEST("pnetcdf faults: write, " #collective ", " #put) {                      \
        check_writes({std::string(#collective) == "collective", pnetcdf::Put::put}, "write"); \
    }

TAILRACE_WRITE_CELL(collective, blocking)
TAILRACE_WRITE_CELL(collective, aggregated)
TAILRACE_WRITE_CELL(collective, buffered)
TAILRACE_WRITE_CELL(independent, blocking)
TAILRACE_WRITE_CELL(independent, aggregated)
TAILRACE_WRITE_CELL(independent, buffered)

TAILRACE_MPI_TEST("pnetcdf faults: fill values of a record") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    fault_test::check_writes(comm, "fill", "write", writer_of({true, pnetcdf::Put::blocking, true}),
                             {"errno=EIO"});
}

// Of independent writes the number of records is in the file with the flush, and with the close.
TAILRACE_MPI_TEST("pnetcdf faults: flush and close") {
    check_writes({false}, "flush");
    check_writes({false}, "close");
}

TAILRACE_MPI_TEST("pnetcdf faults: our own fsync, the new name") {
    for (const bool collective : {true, false}) {
        check({collective}, "sync", "op=fsync,path=*/f.nc.part,phase=sync,errno=EIO");
        check({collective}, "publish", "op=rename,path=*/f.nc.part,errno=EACCES");
    }
}

TAILRACE_MPI_TEST("pnetcdf faults: the header that was written cannot be read") {
    for (const char* rank : {"", "rank=0,"})
        for (const bool collective : {true, false})
            check({collective}, "open_file",
                  std::string("op=read,path=*/f.nc.part,phase=open_file,") + rank + "errno=EIO");
}
