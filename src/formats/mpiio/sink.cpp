// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/sink.hpp"

#include <algorithm>
#include <utility>

#include "formats/mpiio/exchange.hpp"

namespace tailrace::formats::mpiio {

Sink::Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
           core::Phases& phases)
    : SinkBase(comm, phases, raw::Layout(options.chunks, options.alignment_bytes)),
      x_options(options),
      x_target(comm, target, phases) {
    x_options.hints = with_safe_defaults(std::move(x_options.hints));
    const auto phase = phases.enter("open_file");
    x_target.hold_errors(true);
    x_file.emplace(comm, x_target.part(), x_target.path(), Access::write, x_options.hints);
}

Sink::~Sink() { discard_if_open(); }

raw::BatchPlan Sink::plan(std::span<const core::Write> pieces) {
    x_portions = portions_of(pieces, x_layout.objects(), x_options.collective);
    return {x_portions.list.size(), x_portions.views ? 1u : 0u};
}

void Sink::transfer(std::span<const core::Write> pieces, const raw::BatchPlan& agreed) {
    const std::span<const Portion> mine =
        failed() ? std::span<const Portion>{} : std::span<const Portion>(x_portions.list);
    const auto failure = x_file->transfer(
        x_layout.objects(), mine, [&](std::size_t p) { return pieces[p].object; },
        // MPI-IO takes memory to write from as void*, and does not change it.
        [&](std::size_t p) { return const_cast<std::byte*>(pieces[p].data); }, agreed.rounds,
        agreed.flags != 0, x_options.collective);
    if (!failure) return;
    x_library_failed = true;
    fail(*failure);
}

void Sink::lost() { x_out_of_step = x_comm.max(std::uint64_t{x_library_failed ? 1u : 0u}) != 0; }

std::optional<core::Error> Sink::hidden_failure() {
    return x_target.seen_failure("writing through MPI-IO");
}

void Sink::force() { x_target.sync(); }

void Sink::close_file() {
    const auto phase = x_phases.enter("close");
    std::optional<core::Error> mine =
        comm::Comm::caught([&] { x_hints_in_force = x_file->hints(); });
    const auto closing = x_file->close();
    if (!mine) mine = closing;
    x_file.reset();
    if (!mine) mine = hidden_failure();
    const auto agreeing = x_phases.enter("agree");
    x_comm.agree(mine);
}

core::FileReport Sink::publish() {
    close_file();
    x_target.hold_errors(false);  // from here on our own calls see their errors themselves
    core::FileReport report = finish_shared();
    report.hints_in_force = x_hints_in_force;
    report.mpi_io = mpi_io_name(x_hints_in_force, x_options.hints);
    say_how_collective(report);
    return report;
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

void Sink::abandon(raw::Abandoned how) noexcept {
    // Where errors are held MPI-IO knows of none, is in step on all ranks and can close. Otherwise
    // a collective call into a file that has failed may hang: the handle is left open instead.
    const bool can_close =
        how == raw::Abandoned::in_step ||
        (how == raw::Abandoned::poisoned && x_target.holds_errors() && !x_out_of_step);
    if (x_file && can_close) (void)x_file->close();
    x_target.discard();
}

}  // namespace tailrace::formats::mpiio
