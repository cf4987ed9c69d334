// SPDX-License-Identifier: Apache-2.0
// What happened to the file, from what was measured.
#include "core/io_observer.hpp"
#include "formats/hdf5/sink_state.hpp"

namespace tailrace::formats::hdf5 {

core::FileReport Hdf5Sink::report() {
    core::FileReport report;
    x_target.report(report);
    report.bytes_logical = x_comm.sum(x_bytes_asked);
    report.hints_in_force = x_in_force.hints;
    report.mpi_io = x_in_force.mpi_io;
    report.settings = x_in_force.settings;
    const TransferModes::Verdict verdict = x_modes.agreed(x_comm);
    report.data_collective = verdict.collective;
    report.data_mode = verdict.mode;
    report.no_collective_cause = verdict.cause;
    report_metadata(report);
    return report;
}

// HDF5 has no call that tells whether metadata was read collectively. The system calls do: what
// all ranks need is then read by one of them, which passes it on.
void Hdf5Sink::report_metadata(core::FileReport& report) {
    std::uint64_t calls = 0;
    const auto mine = x_target.writer();
    if (mine)
        for (const char* phase : {"open_file", "open_dataset"})
            if (const auto found = mine->by_phase.find(phase); found != mine->by_phase.end())
                calls += found->second.read.calls;
    std::uint64_t sums[3] = {mine ? 1U : 0U, calls != 0 ? 1U : 0U, calls};
    x_comm.reduce(sums, comm::Reduce::sum);
    const auto ranks = static_cast<std::uint64_t>(x_comm.size());
    if (sums[0] != ranks) {
        report.metadata_evidence = "not measured: system calls were not counted";
        return;
    }
    if (sums[1] == 0) {
        report.metadata_evidence = "no metadata was read: the file was created by all ranks";
        return;
    }
    report.metadata_evidence = "metadata read by " + std::to_string(sums[1]) + " of " +
                               std::to_string(ranks) + " ranks, in " + std::to_string(sums[2]) +
                               " calls";
    if (ranks > 1) report.metadata_collective = sums[1] == 1;
}

}  // namespace tailrace::formats::hdf5
