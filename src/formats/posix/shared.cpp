// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/shared.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "formats/posix/run_io.hpp"

namespace tailrace::formats::posix {

SharedSink::SharedSink(const comm::Comm& comm, const core::Target& target, const Options& options,
                       core::Phases& phases)
    : SinkBase(comm, phases, raw::Layout(options.chunks, options.alignment_bytes)),
      x_target(comm, target, phases, Reserve::on_disk) {
    const auto phase = phases.enter("open_file");
    agree_on([&] {
        x_fd = Descriptor(open_file(x_target.part(), O_WRONLY));
        if (!x_fd.open()) throw system_error(errno, "cannot open the file", x_target.part());
    });
}

SharedSink::~SharedSink() { discard_if_open(); }

void SharedSink::transfer(std::span<const core::Write> pieces, const raw::BatchPlan&) {
    if (failed()) return;
    const std::optional<core::Error> mine = comm::Comm::caught([&] {
        RunWriter writer(x_fd.get(), x_target.path());
        for (const core::Write& piece : pieces)
            raw::for_each_piece_run(
                x_layout.objects()[piece.object], piece.place, piece.memory,
                [&](std::uint64_t file, std::uint64_t memory, std::uint64_t bytes) {
                    writer.add(file, piece.data + memory, bytes);
                });
        writer.flush();
    });
    if (mine) fail(*mine);
}

void SharedSink::force() { x_target.sync(); }

core::FileReport SharedSink::publish() {
    {
        // Network file systems report a failed write at close at the latest.
        const auto phase = x_phases.enter("close");
        agree_on([&] {
            if (::close(x_fd.release()) != 0)
                throw system_error(errno, "closing the file failed", x_target.path());
        });
    }
    core::FileReport report = finish_shared();
    report.data_collective = false;
    report.data_mode = "independent (pwrite)";
    return report;
}

void SharedSink::abandon(raw::Abandoned) noexcept {
    x_fd.reset();
    x_target.discard();
}

}  // namespace tailrace::formats::posix
