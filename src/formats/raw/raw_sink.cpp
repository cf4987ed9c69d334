// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/raw_sink.hpp"

#include <utility>

#include "formats/raw/description.hpp"
#include "formats/raw/trailer.hpp"

namespace tailrace::formats::raw {

RawSink::RawSink(const comm::Comm& comm, const core::Target& target, core::Phases& phases,
                 Layout layout, Reserve when)
    : FileSink(comm, target, phases, when), x_layout(std::move(layout)) {
    x_can.independent = true;
}

std::vector<std::uint64_t> RawSink::plan(std::span<const core::Write>) { return {}; }

void RawSink::check(const core::Schema& schema) const {
    Layout larger = x_layout;
    (void)larger.add(std::span(schema.objects));
}

void RawSink::create(const core::Schema& schema) {
    const auto phase = x_phases.enter("define");
    (void)x_layout.add(std::span(schema.objects));
    merge_attributes(x_attributes, schema.attributes);
}

Needs RawSink::needs(std::span<const core::Write> pieces) {
    Needs needs;
    needs.bad = comm::Comm::caught([&] {
        for (const core::Write& piece : pieces) check_write(piece, x_layout.objects());
        needs.most = plan(pieces);
    });
    if (needs.bad) needs.most = plan({});
    return needs;
}

void RawSink::transfer(std::span<const core::Write> pieces, std::span<const std::uint64_t> agreed) {
    for (const core::Write& piece : pieces)
        x_asked += piece.place.volume() * core::size_of(piece.type);
    move(pieces, agreed);
}

void RawSink::finish_shared() {
    x_target.check_bytes(x_asked);
    {
        const auto phase = x_phases.enter("describe");
        agree_on([&] {
            if (x_comm.rank() == 0)
                write_description(x_target.part(), x_layout.data_end(),
                                  describe_shared(x_layout.objects(), x_attributes));
        });
    }
    x_target.sync();
    x_target.publish();
}

core::FileReport RawSink::report() {
    core::FileReport report;
    x_target.report(report);
    const bool published = !report.parts.empty();
    if (published) report.bytes_logical = x_comm.sum(x_asked);
    tell(report, published);
    return report;
}

}  // namespace tailrace::formats::raw
