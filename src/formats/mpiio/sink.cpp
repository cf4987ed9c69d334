// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/sink.hpp"

#include <algorithm>
#include <utility>

#include "formats/mpiio/exchange.hpp"

namespace tailrace::formats::mpiio {

Sink::Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
           core::Phases& phases)
    : RawSink(comm, target, phases, raw::Layout(options.chunks, options.alignment_bytes),
              Reserve::at_once),
      x_options(options) {
    x_options.hints = with_safe_defaults(std::move(x_options.hints));
    const auto phase = phases.enter("open_file");
    x_target.hold_errors(true);
    x_file.emplace(comm, x_target.part(), x_target.path(), Access::write, x_options.hints);
}

Sink::~Sink() { discard_if_open(); }

std::vector<std::uint64_t> Sink::plan(std::span<const core::Write> pieces) {
    x_portions = portions_of(pieces, x_layout.objects(), x_options.collective);
    return {x_portions.calls.size(), x_portions.views ? 1u : 0u};
}

void Sink::move(std::span<const core::Write>, std::span<const std::uint64_t> agreed) {
    const Portions nothing;
    fail(x_file->transfer(failed() ? nothing : x_portions, agreed[0], agreed[1] != 0,
                          x_options.collective));
}

void Sink::publish() {
    collective_step("close", "closing " + x_target.path().string(), [&] {
        // A rank that fails here still closes, which is collective.
        const auto looked = comm::Comm::caught([&] { x_hints_in_force = x_file->hints(); });
        const auto closed = x_file->close();
        x_file.reset();
        if (looked) throw core::Error(*looked);
        if (closed) throw core::Error(*closed);
    });
    x_target.hold_errors(false);  // from here on our own calls see their errors themselves
    poisoning([&] { finish_shared(); }, false);
}

void Sink::tell(core::FileReport& report, bool published) {
    if (!published) return;
    report.hints_in_force = x_hints_in_force;
    report.mpi_io = mpi_io_name(x_hints_in_force, x_options.hints);
    say_how_collective(report);
}

void Sink::say_how_collective(core::FileReport& report) const {
    const Exchange exchange = exchange_of(x_comm, x_target.writer(), asked(), report);
    report.data_mode = x_options.collective ? "MPI_File_write_at_all" : "MPI_File_write_at";
    if (exchange.wrote)
        report.data_mode += ", " + std::to_string(*exchange.wrote) + " of " +
                            std::to_string(x_comm.size()) + " ranks wrote";
    if (x_options.collective) {
        report.data_collective = exchange.collective;
        report.no_collective_cause = exchange.cause;
    } else {
        report.data_collective = false;
        report.no_collective_cause = "not asked for";
    }
}

// A collective call into a file that has failed may hang: the handle is left open instead.
void Sink::abandon() noexcept { x_file.reset(); }

void Sink::discard() noexcept {
    if (x_file) (void)x_file->close();
    x_target.discard();
}

}  // namespace tailrace::formats::mpiio
