// SPDX-License-Identifier: Apache-2.0
// The subfiling driver: several files, read back through the same driver, complete by a manifest.
#include <filesystem>
#include <fstream>
#include <set>

#include "hdf5_support.hpp"
#include "hooks/posix/observer.hpp"

using namespace hdf5_test;
using core::Read;

namespace {

const bool counted = [] {
    tailrace::hooks::posix::install();
    return true;
}();
const Extents dims{3, 16, 60, 50};

hdf5::Options subfiled(const comm::Comm& comm, bool collective) {
    hdf5::Options options;
    options.collective = collective;
    options.subfiles = comm.size() > 2 ? 3 : static_cast<std::uint64_t>(comm.size());
    return options;
}

}  // namespace

TAILRACE_MPI_TEST("hdf5 subfiling: all elements, all files named, a manifest that names them") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const bool collective : {true, false}) {
        const std::string path = folder + (collective ? "/c.h5" : "/i.h5");
        core::Phases phases;
        const auto options = subfiled(comm, collective);
        const auto report = write_steps(comm, path, options, dims, phases);
        CHECK(report.settings.at("driver") == "subfiling");
        CHECK(report.parts.size() == options.subfiles + 2);  // and the stub, and the configuration
        for (const std::string& part : report.parts) CHECK(std::filesystem::exists(part));
        std::ifstream manifest(path + ".manifest");
        const std::string text((std::istreambuf_iterator<char>(manifest)), {});
        CHECK(text.find("tailrace-complete/1") != std::string::npos);
        for (const std::string& part : report.parts)
            CHECK(text.find(std::filesystem::path(part).filename().string()) != std::string::npos);
        auto source = hdf5::open_source(comm, path, options, phases);
        REQUIRE(source->schema().objects.size() == 1);
        const Box box = core::cut(dims, 2, static_cast<std::uint64_t>(comm.size()),
                                  static_cast<std::uint64_t>(comm.rank()));
        std::vector<float> data(static_cast<std::size_t>(box.volume()), -1);
        Read piece{0, box, reinterpret_cast<std::byte*>(data.data()), Scalar::f32};
        source->read({&piece, 1});
        CHECK(data == fill(box, dims));
    }
}

TAILRACE_MPI_TEST("hdf5 subfiling: discard removes every file") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    auto sink = hdf5::open_sink(comm, target(folder + "/a.h5"), subfiled(comm, false), phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, {}});
    write_box(*sink, ids[0], my_part(comm, dims, 0), dims);
    (void)sink->close(Outcome::discard);
    comm.barrier();
    CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}

namespace {

/// What became of a run on this rank: the text of its Error.
std::string outcome(const comm::Comm& comm, const std::string& path, const std::string& rules) {
    core::Phases phases;
    std::string text;
    hooks::posix::inject_faults(rules);
    try {
        auto sink = hdf5::open_sink(comm, target(path), subfiled(comm, false), phases);
        const auto ids = sink->define({{dense("/chunked", dims)}, {}});
        for (std::uint64_t step = 0; step < dims[0]; ++step) {
            write_box(*sink, ids[0], my_part(comm, dims, step), dims);
            sink->complete(step);
            if (step == 0) sink->sync(core::Durability::durable).wait();
        }
        (void)sink->close(Outcome::publish);
    } catch (const core::Error& error) {
        text = error.what();
    }
    hooks::posix::inject_faults("");
    return text;
}

}  // namespace

// Each call that the driver and we make on the files, on all ranks that make it and on one. None
// may hang, and nothing may be left.
TAILRACE_MPI_TEST("hdf5 subfiling: faults of every kind, in the subfiles and in the stub") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    std::vector<std::string> rules;
    for (const std::string rank : {"", "rank=0,"}) {
        for (const std::string phase : {"write", "flush", "close"})
            rules.push_back("op=write,path=*subfile_*,phase=" + phase + "," + rank);
        for (const std::string op : {"open", "ftruncate", "close", "fsync"})
            rules.push_back("op=" + op + ",path=*.subfile_*," + rank);
        rules.push_back("op=ftruncate,path=*/a.h5," + rank);
        rules.push_back("op=fsync,path=*/a.h5," + rank);
        rules.push_back("op=open,phase=create,after=2,path=*/a.h5," + rank);
    }
    rules.push_back("op=write,path=*/a.h5,");
    rules.push_back("op=write,path=*.manifest.part,");
    rules.push_back("op=fsync,path=*.manifest.part,");
    rules.push_back("op=rename,path=*.manifest,");
    for (const std::string& rule : rules) {
        // What is written at any time may not be by these two, in this phase.
        const bool may_pass = rule.find("phase=flush") != std::string::npos ||
                              rule.find("phase=write") != std::string::npos;
        const std::string folder = test::shared_folder();
        const std::string text = outcome(comm, folder + "/a.h5", rule + "errno=EIO");
        if (comm.rank() == 0) MESSAGE(rule << " " << text.substr(0, 100));
        INFO(rule << ": " << text);
        CHECK((may_pass || !text.empty()));
        CHECK(test::from_rank0(text) == text);
        comm.barrier();
        if (!text.empty()) CHECK(std::filesystem::is_empty(folder));
        comm.barrier();
    }
    const std::string folder = test::shared_folder();
    CHECK(!outcome(comm, folder + "/a.h5", "op=fsync,path=" + folder + ",errno=EIO").empty());
    comm.barrier();
    CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}
