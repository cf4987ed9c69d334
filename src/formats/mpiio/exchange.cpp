// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/exchange.hpp"

namespace tailrace::formats::mpiio {

namespace {

/// ROMIO's setting; empty where it is another MPI-IO or nobody said anything.
std::string romio_cb_write(const core::FileReport& report) {
    const auto found = report.hints_in_force.find("romio_cb_write");
    return report.mpi_io.starts_with("ROMIO") && found != report.hints_in_force.end()
               ? found->second
               : "";
}

}  // namespace

Exchange exchange_of(const comm::Comm& comm, const std::optional<core::WriterReport>& mine,
                     std::uint64_t asked, const core::FileReport& report) {
    std::uint64_t written = 0;
    if (mine)
        if (const auto found = mine->by_phase.find("write"); found != mine->by_phase.end())
            written = found->second.write.bytes_done;
    const bool measured = comm.min(std::uint64_t{mine ? 1u : 0u}) == 1;
    const bool moved = comm.max(std::uint64_t{written != asked ? 1u : 0u}) == 1;
    const std::uint64_t wrote = comm.sum(std::uint64_t{written > 0 ? 1u : 0u});
    const std::string setting = romio_cb_write(report);
    Exchange exchange;
    if (measured) exchange.wrote = wrote;
    if (setting == "disable") {
        exchange.collective = false;
        exchange.cause = "romio_cb_write=disable";
    } else if (setting == "enable" || (measured && moved)) {
        exchange.collective = true;
    } else if (measured) {
        exchange.cause = "not seen: every rank wrote exactly its own bytes";
    }
    return exchange;
}

}  // namespace tailrace::formats::mpiio
