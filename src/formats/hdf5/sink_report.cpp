// SPDX-License-Identifier: Apache-2.0
// What happened to the file, from what was measured.
#include "formats/hdf5/sink.hpp"
#include "formats/mpiio/exchange.hpp"
#include "formats/sink/settings.hpp"

namespace tailrace::formats::hdf5 {

core::FileReport Hdf5Sink::report() {
    const h5::Quiet quiet;
    core::FileReport report;
    x_target.report(report);
    if (x_plain) {
        report.parts = x_plain->parts;
        report.bytes_stored = x_plain->bytes_stored;
        report.bytes_allocated = x_plain->bytes_allocated;
        report.durable = report.durable && x_plain->durable;
        x_in_force.settings["reassembled_subfiles"] = std::to_string(x_plain->subfiles);
    }
    report.bytes_logical = x_comm.sum(report.parts.empty() ? 0 : x_bytes_asked);  // discarded: none
    report.hints_in_force = x_in_force.hints;
    report.mpi_io = x_in_force.mpi_io;
    report.settings = broadcast_settings(x_comm, x_in_force.settings);
    const TransferModes::Verdict verdict = x_modes.agreed(x_comm);
    report.data_collective = verdict.collective;
    report.data_mode = verdict.mode;
    report.no_collective_cause = verdict.cause;
    if (verdict.collective == true && x_driver == Driver::parallel) doubt_collective(report);
    report_metadata(report);
    return report;
}

// HDF5 says that it called MPI-IO collectively, not what came of it. With filters the bytes asked
// of MPI-IO are not known; on one rank there is nobody to exchange with.
void Hdf5Sink::doubt_collective(core::FileReport& report) const {
    const mpiio::Exchange exchange =
        mpiio::exchange_of(x_comm, x_target.writer(), x_bytes_asked, report);
    if (exchange.collective == true || exchange.cause.empty() || x_comm.size() == 1) return;
    if (x_options.filtered() && !exchange.collective) return;
    report.data_collective = exchange.collective;
    report.no_collective_cause = exchange.cause;
}

// HDF5 has no call that tells whether metadata was read collectively. The system calls do: what
// all ranks need (here the header of each dataset) is then read by one of them, which passes it on.
// The superblock does not count: rank 0 reads it for all in either case.
void Hdf5Sink::report_metadata(core::FileReport& report) {
    const auto mine = x_target.writer();
    std::uint64_t calls = 0;
    if (mine)
        if (const auto found = mine->by_phase.find("open_dataset"); found != mine->by_phase.end())
            calls = found->second.read.calls;
    std::uint64_t sums[3] = {mine ? 1U : 0U, calls != 0 ? 1U : 0U, calls};
    x_comm.reduce(sums, comm::Reduce::sum);
    const auto ranks = static_cast<std::uint64_t>(x_comm.size());
    if (sums[0] != ranks) {
        report.metadata_evidence = "system calls were not counted";
        return;
    }
    if (sums[1] == 0) {
        report.metadata_evidence = "no metadata was read: all ranks created the datasets together";
        return;
    }
    report.metadata_evidence = "metadata of datasets read by " + std::to_string(sums[1]) + " of " +
                               std::to_string(ranks) + " ranks, in " + std::to_string(sums[2]) +
                               " calls";
    if (ranks > 1) report.metadata_collective = sums[1] < ranks;
}

}  // namespace tailrace::formats::hdf5
