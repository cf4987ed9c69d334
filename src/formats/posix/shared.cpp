// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/shared.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "formats/posix/run_io.hpp"

namespace tailrace::formats::posix {

SharedSink::SharedSink(const comm::Comm& comm, const core::Target& target, const Options& options,
                       core::Phases& phases)
    : RawSink(comm, target, phases, raw::Layout(options.chunks, options.alignment_bytes),
              Reserve::on_disk) {
    const auto phase = phases.enter("open_file");
    agree_on([&] {
        x_fd = Descriptor(open_file(x_target.part(), O_WRONLY));
        if (!x_fd.open()) throw system_error(errno, "cannot open the file", x_target.part());
    });
}

SharedSink::~SharedSink() { discard_if_open(); }

void SharedSink::move(std::span<const core::Write> pieces, std::span<const std::uint64_t>) {
    if (failed()) return;
    guarded([&] {
        RunWriter writer(x_fd.get(), x_target.path());
        for (const core::Write& piece : pieces)
            raw::for_each_piece_run(
                x_layout.objects()[piece.object], piece.place, piece.memory,
                [&](std::uint64_t file, std::uint64_t memory, std::uint64_t bytes) {
                    writer.add(file, piece.data + memory, bytes);
                });
        writer.flush();
    });
}

void SharedSink::publish() {
    // Network file systems report a failed write at close at the latest.
    collective_step("close", "closing " + x_target.path().string(), [&] {
        if (::close(x_fd.release()) != 0)
            throw system_error(errno, "closing the file failed", x_target.path());
    });
    poisoning([&] { finish_shared(); }, false);
}

void SharedSink::tell(core::FileReport& report, bool published) {
    if (!published) return;
    report.data_collective = false;
    report.data_mode = "independent (pwrite)";
}

void SharedSink::discard() noexcept {
    x_fd.reset();
    x_target.discard();
}

}  // namespace tailrace::formats::posix
