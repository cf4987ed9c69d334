// SPDX-License-Identifier: Apache-2.0
// The end of a file: closed by all ranks, its bytes counted, described by rank 0, published; or
// removed; or, where ranks may stand at different places in HDF5, left alone.
#include <algorithm>
#include <span>

#include "formats/mpiio/exchange.hpp"
#include "formats/netcdf4/attributes.hpp"
#include "formats/netcdf4/filters.hpp"
#include "formats/netcdf4/in_force.hpp"
#include "formats/netcdf4/sink.hpp"
#include "formats/sink/settings.hpp"

namespace tailrace::formats::netcdf4 {

using core::Code;
using core::Error;

void Sink::publish() {
    const hdf5::Silence silence;
    const std::string name = x_target.path().string();
    if (x_defining)  // on all ranks alike
        throw Error(Code::wrong_call, "nothing was defined, so there is no file", name,
                    "call define() before close()");
    collective_step("close", "closing " + name, [&] {
        // A rank that fails here still closes, which is collective.
        const auto looked = comm::Comm::caught([&] {
            look_at_open_file();
            if (x_parallel) return;
            nc::check(nc_sync(x_file.get()), "nc_sync", name);
            if (x_beneath) x_beneath.try_to_close(name);
        });
        if (looked && !x_parallel) throw Error(*looked);  // discard() closes it
        x_file.close(name);
        if (looked) throw Error(*looked);
    });
    poisoning(
        [&] {
            verify_bytes();
            describe();
            x_target.sync();
            x_target.publish();
        },
        false);  // netCDF holds the file no more
}

void Sink::look_at_open_file() {
    if (x_beneath) x_in_force = x_beneath.in_force(x_options.hints, x_parallel);
    const std::string name = x_target.path().string();
    look_at_file(x_file, name, x_in_force.settings);
    const std::vector<std::string> shown = shown_paths();
    for (const std::string& path : shown)
        look_at_variable(x_file, path, x_objects.size() == 1, x_in_force.settings);
    if (x_beneath && x_options.filtered()) x_stored_bytes = x_beneath.stored_bytes(paths());
}

std::vector<std::string> Sink::shown_paths() const {
    constexpr std::size_t most = 32;
    std::vector<std::string> shown = paths();
    shown.resize(std::min(most, shown.size()));
    return shown;
}

void Sink::verify_bytes() {
    // What filters make of the elements is known for the whole file only.
    const std::uint64_t stored = x_comm.rank() == 0 ? x_stored_bytes : 0;
    x_target.check_bytes(x_options.filtered() ? std::min(stored, x_comm.sum(x_bytes_asked))
                                              : x_bytes_asked);
}

void Sink::describe() {
    const std::string name = x_target.path().string();
    collective_step("describe", "describing " + name, [&] {
        if (x_beneath && x_comm.rank() == 0)
            hdf5::look_at_datasets(x_target.part().string(), shown_paths(), x_in_force.settings);
    });
}

void Sink::discard() noexcept {
    const hdf5::Silence silence;
    // A lost file that was abandoned is open no more. One that was lost in step, by system calls
    // that were held, is closed by all ranks: nothing reaches the disk.
    const int real = x_beneath && x_lost && !x_parallel ? x_beneath.redirect_plain_to_memory() : -1;
    const auto failed = comm::Comm::caught([&] { x_file.close(x_target.path().string()); });
    x_target.discard();
    hdf5::give_up(real, !failed);
    hdf5::give_up(x_not_created, false);
}

// netCDF has no way to forget a file: nc_abort closes it, which is collective. So it keeps it, with
// a file in memory in the place of the real one, and HDF5 closes that in MPI_Finalize.
void Sink::abandon() noexcept {
    if (!x_parallel) return;  // nobody waits: discard() closes it
    x_beneath.redirect_to_memory();
    x_file.release();
}

core::FileReport Sink::report() {
    const hdf5::Silence silence;
    core::FileReport report;
    x_target.report(report);
    report.bytes_logical = x_comm.sum(report.parts.empty() ? 0 : x_bytes_asked);  // discarded: none
    report.hints_in_force = x_in_force.hints;
    report.mpi_io = x_in_force.mpi_io;
    report.settings = broadcast_settings(x_comm, x_in_force.settings);
    say_how_collective(report);
    report.metadata_evidence =
        "netCDF asks HDF5 for collective metadata; no metadata was read: all ranks created the "
        "variables together";
    return report;
}

// netCDF does not pass on what HDF5 says of a transfer; what the system calls wrote does tell.
void Sink::say_how_collective(core::FileReport& report) const {
    const mpiio::Exchange exchange =
        mpiio::exchange_of(x_comm, x_target.writer(), x_bytes_asked, report);
    report.data_mode = x_options.collective ? "NC_COLLECTIVE" : "NC_INDEPENDENT";
    if (exchange.wrote)
        report.data_mode += ", " + std::to_string(*exchange.wrote) + " of " +
                            std::to_string(x_comm.size()) + " ranks wrote";
    if (!x_options.collective) {
        report.data_collective = false;
        report.no_collective_cause = "not asked for";
        return;
    }
    // With filters the bytes asked of MPI-IO are not known: other ones are no exchange.
    if (x_options.filtered() && exchange.collective == true &&
        !report.hints_in_force.contains("romio_cb_write"))
        return;
    report.data_collective = exchange.collective;
    report.no_collective_cause = exchange.cause;
}

}  // namespace tailrace::formats::netcdf4
