// SPDX-License-Identifier: Apache-2.0
// Who made the file, who read its metadata and who wrote, from counted system calls.
#include <filesystem>

#include "hdf5_support.hpp"
#include "hooks/posix/observer.hpp"

using namespace hdf5_test;

namespace {

const bool counted = [] {
    tailrace::hooks::posix::install();
    return true;
}();
const Extents dims{3, 16, 6, 5};

std::uint64_t calls(const core::FileReport& report, int rank, const std::string& phase,
                    core::CallTally core::FileTally::*direction) {
    for (const core::WriterReport& writer : report.writers) {
        if (writer.rank != rank) continue;
        const auto found = writer.by_phase.find(phase);
        return found == writer.by_phase.end() ? 0 : (found->second.*direction).calls;
    }
    return 0;
}

std::uint64_t ranks_that(const core::FileReport& report, const std::string& phase,
                         core::CallTally core::FileTally::*direction) {
    std::uint64_t ranks = 0;
    for (const core::WriterReport& writer : report.writers)
        if (calls(report, writer.rank, phase, direction) != 0) ++ranks;
    return ranks;
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: precreate is the work of rank 0 alone, before all others open the file") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto options = chunked(dims, false);
    options.precreate = true;
    const auto report = write_steps(comm, path, options, dims, phases);
    for (const char* phase : {"precreate", "open_file", "open_dataset", "write", "close"})
        CHECK(phases.times().contains(phase));
    CHECK(!phases.times().contains("define"));
    CHECK(report.writers_measured);
    if (comm.rank() == 0) {
        REQUIRE(report.writers.size() == static_cast<std::size_t>(comm.size()));
        CHECK(calls(report, 0, "precreate", &core::FileTally::write) > 0);
        CHECK(ranks_that(report, "precreate", &core::FileTally::write) == 1);
        CHECK(ranks_that(report, "open_file", &core::FileTally::write) == 0);
        CHECK(ranks_that(report, "open_dataset", &core::FileTally::write) == 0);
        CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
        CHECK(oracle::read(path, "/chunked").alloc_time == H5D_ALLOC_TIME_EARLY);
    }
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: precreate allocates all chunks: nobody writes, and the size is there") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto options = chunked(dims, false);
    options.precreate = true;
    options.fill_time = hdf5::FillTime::never;
    auto sink = hdf5::open_sink(comm, target(path), options, phases);
    (void)sink->define({{dense("/chunked", dims)}, {}});
    CHECK(std::filesystem::file_size(path + ".part") > 3 * 16 * 6 * 5 * 4);
    comm.barrier();
    (void)sink->close(Outcome::publish);
    if (comm.rank() == 0) CHECK(oracle::read(path, "/chunked").storage_bytes == 3 * 16 * 6 * 5 * 4);
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: collective metadata is seen in who reads, with and without") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const bool asked : {true, false}) {
        core::Phases phases;
        auto options = chunked(dims, true);
        options.precreate = true;
        options.collective_metadata = asked;
        const auto report =
            write_steps(comm, folder + (asked ? "/c.h5" : "/i.h5"), options, dims, phases);
        INFO(report.metadata_evidence);
        if (comm.size() == 1)
            CHECK(!report.metadata_collective.has_value());
        else
            CHECK(report.metadata_collective == std::optional(asked));
        if (comm.rank() == 0 && comm.size() > 1)
            CHECK(ranks_that(report, "open_dataset", &core::FileTally::read) ==
                  (asked ? 1 : static_cast<std::uint64_t>(comm.size())));
    }
}

TAILRACE_MPI_TEST("hdf5: without precreate no metadata is read, and the report does not guess") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    core::Phases phases;
    auto options = chunked(dims, true);
    options.collective_metadata = true;
    const auto report = write_steps(comm, test::shared_folder() + "/a.h5", options, dims, phases);
    CHECK(!report.metadata_collective.has_value());
    CHECK(report.metadata_evidence.find("no metadata was read") != std::string::npos);
}

TAILRACE_MPI_TEST("hdf5: never_fill writes each element once, a fill writes twice") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const std::uint64_t data = 3 * 16 * 6 * 5 * 4;
    for (const bool never : {true, false}) {
        core::Phases phases;
        auto options = chunked(dims, true);
        options.fill_time = never ? hdf5::FillTime::never : hdf5::FillTime::at_allocation;
        const auto report =
            write_steps(comm, folder + (never ? "/n.h5" : "/f.h5"), options, dims, phases);
        std::uint64_t written = 0;
        for (const core::WriterReport& writer : report.writers)
            written += writer.total.write.bytes_done;
        if (comm.rank() == 0) {
            CHECK(written >= (never ? data : 2 * data));
            CHECK(written < (never ? 2 * data : 3 * data));
        }
    }
}

TAILRACE_MPI_TEST("hdf5: the hints of collective buffering change who writes under ROMIO") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    auto options = chunked(dims, true);
    const auto without = write_steps(comm, folder + "/a.h5", options, dims, phases);
    options.hints = {{"romio_cb_write", "enable"}, {"cb_buffer_size", "1048576"}};
    const auto with = write_steps(comm, folder + "/b.h5", options, dims, phases);
    CHECK(with.hints_in_force.contains("romio_cb_write") == with.mpi_io.starts_with("ROMIO"));
    CHECK(with.hints_in_force.at("cb_buffer_size") == "1048576");
    CHECK(!with.mpi_io.empty());
    if (comm.rank() != 0 || !with.mpi_io.starts_with("ROMIO")) return;
    // Pieces that do not interleave are written by their ranks, unless one aggregator is asked for.
    CHECK(ranks_that(without, "write", &core::FileTally::write) ==
          static_cast<std::uint64_t>(comm.size()));
    CHECK(ranks_that(with, "write", &core::FileTally::write) == 1);
}
