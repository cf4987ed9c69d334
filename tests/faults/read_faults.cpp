// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks from a disk that fails: {open, read} x {collective, independent} x {hdf5,
// mpiio, pnetcdf}, on the first rank that reads, the last, all; CMake adds {OMPIO, ROMIO}. In every
// cell all ranks must get the same Error, none may hang, and the file stays as it was.
#include <filesystem>
#include <functional>
#include <new>
#include <optional>

#include "core/io_observer.hpp"
#include "formats/open.hpp"
#include "hooks/posix/observer.hpp"
#include "mpi_test.hpp"

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"

using namespace tailrace;

namespace {

const bool counted = [] {
    hooks::posix::install();
    return true;
}();

constexpr std::uint64_t rows = 16, columns = 4096;  // 256 KiB per step
const core::Extents dims{2, rows, columns};

struct Kind {
    std::string name;
    formats::Options options;
};

/// Chunked by half a rank, so that ranks read several pieces; metadata in both ways.
std::vector<Kind> kinds() {
    std::vector<Kind> all;
    for (const bool collective : {true, false}) {
        const std::string mode = collective ? ", collective" : ", independent";
        formats::hdf5::Options hdf5;
        hdf5.collective = collective;
        hdf5.chunks["/d"] = {1, 2, columns};
        all.push_back({"hdf5" + mode, hdf5});
        hdf5.collective_metadata = true;
        all.push_back({"hdf5, collective metadata" + mode, hdf5});
        hdf5.chunks.clear();
        all.push_back({"hdf5, contiguous" + mode, hdf5});
#ifdef TAILRACE_HAVE_NETCDF
        formats::netcdf4::Options netcdf4;
        netcdf4.collective = collective;
        netcdf4.chunks["/d"] = {1, 2, columns};
        all.push_back({"netcdf4" + mode, netcdf4});
#endif
        formats::mpiio::Options mpiio;
        mpiio.collective = collective;
        mpiio.chunks["/d"] = {1, 2, columns};
        all.push_back({"mpiio" + mode, mpiio});
#ifdef TAILRACE_HAVE_PNETCDF
        formats::pnetcdf::Options pnetcdf;
        pnetcdf.collective = collective;
        all.push_back({"pnetcdf" + mode, pnetcdf});
#endif
    }
    formats::posix::Options posix;
    posix.chunks["/d"] = {1, 2, columns};
    all.push_back({"posix", posix});
    return all;
}

core::Box part_of(const comm::Comm& comm, std::size_t axis) {
    return core::cut(dims, axis, static_cast<std::uint64_t>(comm.size()),
                     static_cast<std::uint64_t>(comm.rank()));
}

void write_file(const comm::Comm& comm, const std::string& path, const Kind& kind) {
    core::Phases phases;
    core::Target target;
    target.path = path;
    auto sink = formats::open_sink(comm, target, kind.options, phases);
    core::Object object;
    object.path = "/d";
    object.dims = {{dims[0], false}, {dims[1], false}, {dims[2], false}};
    const auto ids = sink->define({{object}, {}});
    const core::Box box = part_of(comm, 1);
    const std::vector<float> data(static_cast<std::size_t>(box.volume()), 1.5F);
    const core::Write piece{
        ids[0], box, reinterpret_cast<const std::byte*>(data.data()), {}, core::Scalar::f32};
    sink->write({&piece, 1});
    sink->complete(0);
    (void)sink->close(core::Outcome::publish);
}

/// Columns of all rows, so that what a rank reads is many pieces of the file; two reads.
void read_file(
    const comm::Comm& comm, const std::string& path, const Kind& kind,
    const std::function<void()>& between = [] {}) {
    core::Phases phases;
    auto source = formats::open_source(comm, path, kind.options, phases);
    for (std::uint64_t step = 0; step < dims[0]; ++step) {
        core::Box box = part_of(comm, 2);
        box.offset[0] = step;
        box.count[0] = 1;
        std::vector<float> data(static_cast<std::size_t>(box.volume()), -1.0F);
        core::Read piece{0, box, reinterpret_cast<std::byte*>(data.data()), core::Scalar::f32, {}};
        source->read({&piece, 1});
        CHECK(data == std::vector<float>(data.size(), 1.5F));
        if (step == 0) between();
    }
}

std::string outcome(const std::function<void()>& work) {
    try {
        work();
        return "ok";
    } catch (const core::Error& error) {
        return std::string(core::name(error.code())) + ": " + error.what();
    }
}

/// What all ranks ended with; fails where they differ.
std::string agreed_outcome(const comm::Comm& comm, const std::string& cell,
                           const std::function<void()>& work) {
    const std::string text = outcome(work);
    hooks::posix::inject_faults("");
    if (comm.rank() == 0) MESSAGE(cell << ": " << text);
    INFO(cell << ": " << text);
    CHECK(test::from_rank0(text) == text);
    return text;
}

/// Ranks that read the file in a phase of a run without faults.
std::vector<int> readers_in(const comm::Comm& comm, const std::string& path, const Kind& kind,
                            const std::string& phase) {
    const auto reads = [&] { return core::io_observer()->tally(path, phase).read.calls; };
    const std::uint64_t before = reads();
    read_file(comm, path, kind);
    std::string ranks;
    for (const auto& text : comm.gather_text(reads() > before ? "1" : "0")) ranks += text;
    std::vector<int> all;
    ranks = test::from_rank0(ranks);
    for (std::size_t r = 0; r < ranks.size(); ++r)
        if (ranks[r] == '1') all.push_back(static_cast<int>(r));
    return all;
}

void check_phase(const comm::Comm& comm, const std::string& phase) {
    for (const Kind& kind : kinds()) {
        const std::string path = test::shared_folder() + "/f.dat";
        write_file(comm, path, kind);
        const std::vector<int> reading = readers_in(comm, path, kind, phase);
        if (reading.empty()) continue;
        std::vector<std::string> ranks{"", "rank=" + std::to_string(reading.front()) + ","};
        if (reading.size() > 1) ranks.push_back("rank=" + std::to_string(reading.back()) + ",");
        for (const std::string& rank : ranks)
            // netCDF reads 8 bytes on ranks that read nothing else: fewer must come.
            for (const char* error : {"errno=EIO", "errno=EIO,short=3"}) {
                const std::string rule = "op=read,path=*/f.dat,phase=" + phase + "," + rank + error;
                const std::string text = agreed_outcome(comm, kind.name + " [" + rule + "]", [&] {
                    hooks::posix::inject_faults(rule);
                    read_file(comm, path, kind);
                });
                CHECK(text.starts_with("io: "));
                CHECK(text.find("f.dat") != std::string::npos);
                CHECK(text.find("EIO") != std::string::npos);
                CHECK(text.find("bytes asked") != std::string::npos);
                if (phase == "read" && kind.name.starts_with("hdf5"))
                    CHECK(text.find(":/d") != std::string::npos);
            }
        CHECK(agreed_outcome(comm, kind.name, [&] { read_file(comm, path, kind); }) == "ok");
    }
}

}  // namespace

TAILRACE_MPI_TEST("reading: the file's superblock") {
    check_phase(comm::from_mpi(MPI_COMM_WORLD), "open_file");
}

TAILRACE_MPI_TEST("reading: metadata of the datasets") {
    check_phase(comm::from_mpi(MPI_COMM_WORLD), "open_dataset");
}

TAILRACE_MPI_TEST("reading: data") { check_phase(comm::from_mpi(MPI_COMM_WORLD), "read"); }

TAILRACE_MPI_TEST("reading: short reads that go on are no failure") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const Kind& kind : kinds()) {
        const std::string path = test::shared_folder() + "/f.dat";
        write_file(comm, path, kind);
        const std::string text = agreed_outcome(comm, kind.name, [&] {
            hooks::posix::inject_faults("op=read,path=*/f.dat,phase=read,short=3000");
            read_file(comm, path, kind);
        });
        CHECK(text == "ok");
    }
}

namespace {

// A program of somebody else that links no interposer, but for the faults.
class WithoutObserver {
public:
    WithoutObserver() : x_before(core::io_observer()) { core::set_io_observer(nullptr); }
    ~WithoutObserver() { core::set_io_observer(x_before); }
    WithoutObserver(const WithoutObserver&) = delete;
    WithoutObserver& operator=(const WithoutObserver&) = delete;

private:
    core::IoObserver* x_before;
};

void check_cut(const comm::Comm& comm) {
    for (const Kind& kind : kinds()) {
        const std::string path = test::shared_folder() + "/f.dat";
        write_file(comm, path, kind);
        const std::string text = agreed_outcome(comm, kind.name, [&] {
            read_file(comm, path, kind, [&] {
                comm.barrier();
                if (comm.rank() == 0) std::filesystem::resize_file(path, rows * columns * 4);
                comm.barrier();
            });
        });
        CHECK(text.starts_with("data_lost: "));
        CHECK(text.find("f.dat") != std::string::npos);
    }
}

}  // namespace

TAILRACE_MPI_TEST("reading: a file that is cut while it is read") {
    check_cut(comm::from_mpi(MPI_COMM_WORLD));
}

TAILRACE_MPI_TEST("reading: a file that is cut, in a program that counts nothing") {
    const WithoutObserver nobody;
    check_cut(comm::from_mpi(MPI_COMM_WORLD));
}

// Rank 0 alone reads the description; who counts nothing knows no phases.
TAILRACE_MPI_TEST("reading: independent errors, in a program that counts nothing") {
    const WithoutObserver nobody;
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const Kind& kind : kinds()) {
        if (kind.name != "mpiio, independent") continue;
        const std::string path = test::shared_folder() + "/f.dat";
        write_file(comm, path, kind);
        for (const std::string rank : {"1", "3"}) {
            const std::string text = agreed_outcome(comm, kind.name, [&] {
                hooks::posix::inject_faults("op=read,path=*/f.dat,errno=EIO,rank=" + rank);
                read_file(comm, path, kind);
            });
            CHECK((text.starts_with("io: ") || text.starts_with("data_lost: ")));
            CHECK(text.find("f.dat") != std::string::npos);
        }
    }
}

TAILRACE_MPI_TEST(
    "reading: after a failure every call gives the same Error, without communication") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const Kind& kind : kinds()) {
        const std::string path = test::shared_folder() + "/f.dat";
        write_file(comm, path, kind);
        core::Phases phases;
        auto source = formats::open_source(comm, path, kind.options, phases);
        const core::Box box = part_of(comm, 1);
        std::vector<float> data(static_cast<std::size_t>(box.volume()));
        core::Read piece{0, box, reinterpret_cast<std::byte*>(data.data()), core::Scalar::f32, {}};
        hooks::posix::inject_faults("op=read,path=*/f.dat,phase=read,errno=EIO");
        const std::string first = outcome([&] { source->read({&piece, 1}); });
        hooks::posix::inject_faults("");
        CHECK(first.starts_with("io: "));
        if (comm.rank() == 0) CHECK(outcome([&] { source->read({&piece, 1}); }) == first);
        comm.barrier();
    }
}

// The others are still at work: a collective close on the one rank would wait for ever.
TAILRACE_MPI_TEST(
    "unwinding: an exception on one rank leaves the file without waiting for others") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    for (const Kind& kind : kinds()) {
        INFO(kind.name);
        const std::string folder = test::shared_folder();
        const std::string path = folder + "/f.dat";
        write_file(comm, path, kind);
        for (const bool reads : {true, false}) {
            core::Phases phases;
            core::Target target;
            target.path = folder + "/new.dat";
            bool caught = false;
            try {
                const auto source =
                    reads ? formats::open_source(comm, path, kind.options, phases) : nullptr;
                const auto sink =
                    reads ? nullptr : formats::open_sink(comm, target, kind.options, phases);
                if (comm.rank() != 0) test::barrier();
                throw std::bad_alloc();
            } catch (const std::bad_alloc&) {
                caught = true;
            }
            CHECK(caught);
            if (comm.rank() == 0) test::barrier();
            test::barrier();
        }
    }
}
