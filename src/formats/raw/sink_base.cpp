// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/sink_base.hpp"

#include <array>
#include <exception>
#include <string>
#include <utility>

#include "formats/agree.hpp"
#include "formats/raw/description.hpp"
#include "formats/raw/trailer.hpp"

namespace tailrace::formats::raw {

using core::Code;
using core::Error;

SinkBase::SinkBase(const comm::Comm& comm, core::Phases& phases, Layout layout)
    : x_comm(comm), x_phases(phases), x_layout(std::move(layout)) {
    x_can.independent = true;
}

BatchPlan SinkBase::plan(std::span<const core::Write> pieces) { return {pieces.size(), 0}; }

void SinkBase::require_open(const char* call) const {
    if (x_poison) throw *x_poison;
    if (x_closed)
        throw Error(Code::wrong_call, std::string(call) + " after close", "",
                    "open a new file for further data");
}

/// Runs collective `work`; an Error of it is agreed, and the file is lost on all ranks.
template <class Work>
auto SinkBase::poisoning(Work&& work) {
    try {
        return work();
    } catch (const Error& error) {
        x_poison = error;
        lost();
        throw;
    }
}

std::vector<core::ObjectId> SinkBase::define(const core::Schema& schema) {
    require_open("define");
    const auto phase = x_phases.enter("define");
    Layout larger = x_layout;
    std::vector<core::ObjectId> ids;
    std::optional<Error> mine =
        comm::Comm::caught([&] { ids = larger.add(std::span(schema.objects)); });
    {
        const auto agreeing = x_phases.enter("agree");
        agree_in_file(x_comm, mine, target().path());
        if (!x_comm.same(schema.hash()))
            throw Error(Code::rank_mismatch, "the ranks define different objects or attributes",
                        target().path().string(), "give the same Schema on all ranks");
    }
    x_layout = std::move(larger);
    merge_attributes(x_attributes, schema.attributes);
    return ids;
}

void SinkBase::write(std::span<const core::Write> pieces) {
    require_open("write");
    const auto phase = x_phases.enter("write");
    BatchPlan mine;
    std::uint64_t bytes = 0;
    const std::optional<Error> bad = comm::Comm::caught([&] {
        for (const core::Write& piece : pieces) {
            check_write(piece, x_layout.objects());
            bytes += piece.place.volume() * core::size_of(piece.type);
        }
        mine = plan(pieces);
    });
    std::array<std::uint64_t, 3> most{bad ? 1u : 0u, mine.rounds, mine.flags};
    {
        const auto agreeing = x_phases.enter("agree");
        x_comm.reduce(most, comm::Reduce::max);
        if (most[0] != 0) agree_in_file(x_comm, bad, target().path());
    }
    x_pending = true;
    x_asked += bytes;
    transfer(pieces, {most[1], most[2]});
}

void SinkBase::complete(core::Step) {
    require_open("complete");
    poisoning([&] { verdict(); });
}

void SinkBase::verdict() {
    if (!x_failure) x_failure = hidden_failure();
    const auto agreeing = x_phases.enter("agree");
    agree_in_file(x_comm, x_failure, target().path());
    x_pending = false;
}

core::Ticket SinkBase::sync(core::Durability durability) {
    require_open("sync");
    poisoning([&] {
        verdict();
        // Written data is with the operating system already.
        if (durability == core::Durability::durable) force();
    });
    return {};
}

core::FileReport SinkBase::close(core::Outcome outcome) {
    if (outcome == core::Outcome::publish) {
        require_open("close");
        core::FileReport report = poisoning([&] {
            if (x_pending) verdict();
            return publish();
        });
        x_closed = true;
        return report;
    }
    if (x_closed) throw Error(Code::wrong_call, "close after close", "", "close a file once");
    x_closed = true;
    abandon(x_poison ? Abandoned::poisoned : Abandoned::in_step);
    return report_discarded();
}

void SinkBase::fail(const Error& error) {
    if (!x_failure) x_failure = error;
}

void SinkBase::discard_if_open() noexcept {
    if (x_closed) return;
    x_closed = true;
    // The Error that poisoned the file is thrown on all ranks; any other may pass on one only.
    if (x_poison)
        abandon(Abandoned::poisoned);
    else
        abandon(std::uncaught_exceptions() == 0 ? Abandoned::in_step : Abandoned::alone);
}

core::FileReport SinkBase::report_discarded() {
    core::FileReport report;
    target().report(report);
    return report;
}

core::FileReport SinkBase::finish_shared() {
    target().check_bytes(x_asked);
    {
        const auto phase = x_phases.enter("describe");
        agree_on([&] {
            if (x_comm.rank() == 0)
                write_description(target().part(), x_layout.data_end(),
                                  describe_shared(x_layout.objects(), x_attributes));
        });
    }
    target().sync();
    target().publish();
    core::FileReport report;
    target().report(report);
    report.bytes_logical = x_comm.sum(x_asked);
    return report;
}

}  // namespace tailrace::formats::raw
