// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/per_rank.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/cleanup.hpp"
#include "core/error.hpp"
#include "formats/posix/run_io.hpp"
#include "formats/raw/contents.hpp"
#include "formats/raw/trailer.hpp"
#include "formats/writers.hpp"

namespace tailrace::formats::posix {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

/// Space and striping are for the parts, not for the manifest.
core::Target for_manifest(core::Target target) {
    target.reserve_bytes = 0;
    target.create = {};
    return target;
}

fs::path name_of_part(const fs::path& manifest, int rank) {
    return folder_of(manifest) / raw::part_name(manifest.filename().string(), rank);
}

/// Parts that the manifest of an earlier run names, and that are really named as its parts.
std::vector<fs::path> parts_of_old_manifest(const fs::path& manifest) {
    std::vector<fs::path> parts;
    try {
        const std::string text = raw::read_description_or_manifest(manifest);
        const raw::Contents contents = raw::parse_contents(text, manifest.string());
        for (std::size_t r = 0; r < contents.parts.size(); ++r)
            if (contents.parts[r] ==
                raw::part_name(manifest.filename().string(), static_cast<int>(r)))
                parts.push_back(folder_of(manifest) / contents.parts[r]);
    } catch (const Error&) {  // some other file: it is replaced, and there are no parts
    }
    return parts;
}

}  // namespace

PerRankSink::PerRankSink(const comm::Comm& comm, const core::Target& target, const Options& options,
                         core::Phases& phases)
    : SinkBase(comm, phases, raw::Layout({}, 1)),
      x_manifest(comm, for_manifest(target), phases),
      x_existing(target.existing) {
    const auto phase = phases.enter("create");
    x_mine = name_of_part(x_manifest.path(), comm.rank());
    x_mine_part = x_mine;
    x_mine_part += ".part";
    try {
        agree_on([&] {
            check_options(options);
            create_mine(target);
        });
    } catch (...) {
        remove_mine();
        throw;
    }
}

PerRankSink::~PerRankSink() {
    discard_if_open();
    if (core::IoObserver* observer = core::io_observer(); observer != nullptr && x_fd.open())
        observer->forget("/proc/self/fd/" + std::to_string(x_fd.get()));
}

void PerRankSink::check_options(const Options& options) const {
    if (!options.chunks.empty())
        throw Error(Code::bad_input, "chunks have no meaning in a file per rank",
                    x_manifest.path().string(),
                    "leave out chunk, or use format posix (one shared file)");
}

void PerRankSink::create_mine(const core::Target& target) {
    check_target(x_mine, target.existing);
    x_owns_part = true;
    core::remove_on_interrupt(x_mine_part);
    x_fd = create_part(x_mine_part, target.create);
    if (core::IoObserver* observer = core::io_observer()) observer->forget(x_mine_part);
    const std::uint64_t ranks = static_cast<std::uint64_t>(x_comm.size());
    const std::uint64_t share =
        target.reserve_bytes / ranks + (target.reserve_bytes % ranks != 0 ? 1 : 0);
    const Reservation outcome = reserve(x_fd.get(), share, x_mine, Code::no_space_reserved);
    x_reserved = outcome.reserved;
    x_reservation = outcome.text;
}

void PerRankSink::remove_mine() noexcept {
    if (!x_owns_part) return;
    ::unlink(x_renamed ? x_mine.c_str() : x_mine_part.c_str());
    core::keep_on_interrupt(x_renamed ? x_mine : x_mine_part);
    x_owns_part = false;
}

std::optional<core::WriterReport> PerRankSink::writer() const {
    return my_writer_report(x_comm.rank(), {"/proc/self/fd/" + std::to_string(x_fd.get())},
                            x_phases);
}

void PerRankSink::transfer(std::span<const core::Write> pieces, const raw::BatchPlan&) {
    if (failed()) return;
    const std::optional<Error> mine = comm::Comm::caught([&] {
        RunWriter writer(x_fd.get(), x_mine);
        for (const core::Write& piece : pieces) {
            if (piece.place.empty()) continue;
            // In the part a piece is an array of its own.
            const raw::Placed packed{
                x_layout.objects()[piece.object].object, piece.place.count, {}, x_end, 0};
            const core::Box whole{core::Extents(piece.place.rank(), 0), piece.place.count};
            raw::for_each_piece_run(
                packed, whole, piece.memory,
                [&](std::uint64_t file, std::uint64_t memory, std::uint64_t bytes) {
                    writer.add(file, piece.data + memory, bytes);
                });
            x_pieces.push_back({piece.object, piece.place, x_end});
            x_end += piece.place.volume() * core::size_of(piece.type);
        }
        writer.flush();
    });
    if (mine) fail(*mine);
}

void PerRankSink::force() {
    const auto phase = x_phases.enter("sync");
    agree_on([&] {
        if (::fsync(x_fd.get()) != 0)
            throw system_error(errno, "fsync failed, data may be lost", x_mine);
    });
}

void PerRankSink::describe_mine() {
    const auto phase = x_phases.enter("describe");
    agree_on([&] {
        raw::write_description(x_mine_part, x_end, raw::describe_part(x_comm.rank(), x_pieces));
        if (x_reserved) drop_excess(x_fd.get());
    });
}

// Before the first part is replaced: an old manifest must not speak of new parts.
std::vector<fs::path> PerRankSink::remove_old_manifest() {
    std::vector<fs::path> parts;
    const auto phase = x_phases.enter("publish");
    agree_on([&] {
        if (x_comm.rank() != 0 || x_existing == core::Existing::refuse) return;
        parts = parts_of_old_manifest(x_manifest.path());
        if (::unlink(x_manifest.path().c_str()) != 0 && errno != ENOENT)
            throw system_error(errno, "cannot remove the old manifest", x_manifest.path());
        sync_folder(folder_of(x_manifest.path()));
    });
    return parts;
}

void PerRankSink::rename_mine() {
    const auto phase = x_phases.enter("publish");
    agree_on([&] {
        rename_part(x_mine_part, x_mine, x_existing);
        x_renamed = true;
        core::remove_on_interrupt(x_mine);
        core::keep_on_interrupt(x_mine_part);
    });
}

void PerRankSink::publish_manifest() {
    const auto phase = x_phases.enter("describe");
    agree_on([&] {
        if (x_comm.rank() != 0) return;
        std::vector<std::string> parts;
        for (int r = 0; r < x_comm.size(); ++r)
            parts.push_back(raw::part_name(x_manifest.path().filename().string(), r));
        const std::string text = raw::describe_manifest(x_layout.objects(), x_attributes, parts);
        const Descriptor fd(open_file(x_manifest.part(), O_WRONLY));
        if (!fd.open()) throw system_error(errno, "cannot open the file", x_manifest.part());
        write_fully(fd.get(), text.data(), text.size(), 0, x_manifest.part());
    });
    x_manifest.sync();
    x_manifest.publish();
    core::keep_on_interrupt(x_mine);
}

core::FileReport PerRankSink::publish() {
    {
        const auto agreeing = x_phases.enter("agree");
        check_bytes_below(x_comm, x_manifest.path(), asked(), writer());
    }
    describe_mine();
    force();
    const std::vector<fs::path> old_parts = remove_old_manifest();
    rename_mine();
    publish_manifest();
    x_owns_part = false;  // complete now
    for (std::size_t r = static_cast<std::size_t>(x_comm.size()); r < old_parts.size(); ++r)
        ::unlink(old_parts[r].c_str());
    return make_report();
}

core::FileReport PerRankSink::make_report() {
    core::FileReport report;
    x_manifest.report(report);
    report.writers.clear();
    gather_writers(x_comm, writer(), report);
    struct stat info {};
    const bool known = ::fstat(x_fd.get(), &info) == 0;
    report.bytes_stored +=
        x_comm.sum(known ? static_cast<std::uint64_t>(info.st_size) : std::uint64_t{0});
    report.bytes_allocated +=
        x_comm.sum(known ? static_cast<std::uint64_t>(info.st_blocks) * 512 : std::uint64_t{0});
    for (int r = 0; r < x_comm.size(); ++r)
        report.parts.push_back(name_of_part(x_manifest.path(), r).string());
    report.bytes_logical = x_comm.sum(asked());
    report.reserved = x_comm.min(std::uint64_t{x_reserved ? 1u : 0u}) == 1;
    report.reservation = "per rank: " + x_reservation;
    report.data_collective = false;
    report.data_mode = "independent (pwrite, a file per rank)";
    return report;
}

void PerRankSink::abandon(raw::Abandoned) noexcept {
    remove_mine();
    x_manifest.discard();
}

core::FileReport PerRankSink::report_discarded() const {
    core::FileReport report;
    report.path = x_manifest.path();
    report.reserved = x_reserved;
    report.reservation = x_reservation;
    return report;
}

}  // namespace tailrace::formats::posix
