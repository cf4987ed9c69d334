// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/per_rank.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "core/cleanup.hpp"
#include "core/error.hpp"
#include "formats/file/companions.hpp"
#include "formats/file/final_name.hpp"
#include "formats/file/writers.hpp"
#include "formats/posix/run_io.hpp"
#include "formats/raw/trailer.hpp"

namespace tailrace::formats::posix {

namespace fs = std::filesystem;
using core::Code;

namespace {

/// Space and striping are for the parts, not for the manifest.
core::Target for_manifest(core::Target target) {
    target.reserve_bytes = 0;
    target.create = {};
    return target;
}

}  // namespace

PerRankSink::PerRankSink(const comm::Comm& comm, const core::Target& target, const Options& options,
                         core::Phases& phases)
    : RawSink(comm, for_manifest(target), phases, raw::Layout({}, 1), Reserve::at_once) {
    const auto phase = phases.enter("create");
    choose_names();
    const auto ranks = static_cast<std::uint64_t>(x_comm.size());
    const std::uint64_t share =
        target.reserve_bytes / ranks + (target.reserve_bytes % ranks != 0 ? 1 : 0);
    const auto here = static_cast<std::uint64_t>(x_comm.split_node().size());
    try {
        agree_on([&] {
            check_per_rank(options, x_target.path());
            create_mine(target);
            // For all ranks of the node, before one of them takes some.
            check_space(x_fd.get(), share * here, x_mine, Code::no_space_reserved);
        });
        agree_on([&] { reserve_mine(share, target.set_aside); });
    } catch (...) {
        remove_mine();
        throw;
    }
}

// By rank 0: the manifest that stands there decides.
void PerRankSink::choose_names() {
    std::uint64_t second = 0;
    agree_on([&] {
        if (x_comm.rank() != 0) return;
        check_parts_beside(x_target.path());
        second = part_names_for(x_target.path()) == PartNames::second ? 1 : 0;
    });
    x_names = x_comm.broadcast_value(second) == 1 ? PartNames::second : PartNames::first;
    x_mine = part_of(x_comm.rank());
    x_mine_part = formats::part_of(x_mine);
}

fs::path PerRankSink::part_of(int rank) const {
    return part_of_rank(x_target.path(), rank, x_names);
}

PerRankSink::~PerRankSink() {
    discard_if_open();
    if (core::IoObserver* observer = core::io_observer(); observer != nullptr && x_fd.open())
        observer->forget(x_fd.name());
}

void PerRankSink::create_mine(const core::Target& target) {
    check_part(x_mine, target.existing, x_target.left_over());
    x_fd = create_part(x_mine_part, target.create, x_target.left_over());
    x_owns_part = true;
    core::remove_on_interrupt(x_mine_part);
    if (core::IoObserver* observer = core::io_observer()) observer->forget(x_mine_part);
}

void PerRankSink::reserve_mine(std::uint64_t share, bool set_aside) {
    const auto phase = x_phases.enter("reserve");
    const Reservation outcome =
        set_aside ? reserve_on_disk(x_fd.get(), share, x_mine, Code::no_space_reserved)
                  : only_look(x_fd.get(), share, x_mine, Code::no_space_reserved, "reserve off");
    x_reserved = outcome.reserved;
    x_reservation = outcome.text;
}

void PerRankSink::remove_mine() noexcept {
    if (!x_owns_part) return;
    if (!x_target.stays()) ::unlink(x_renamed ? x_mine.c_str() : x_mine_part.c_str());
    core::keep_on_interrupt(x_mine);
    core::keep_on_interrupt(x_mine_part);
    x_owns_part = false;
}

std::optional<core::WriterReport> PerRankSink::writer() const {
    return my_writer_report(x_comm.rank(), {x_fd.name()}, x_phases);
}

void PerRankSink::move(std::span<const core::Write> pieces, std::span<const std::uint64_t>) {
    if (failed()) return;
    guarded([&] {
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

void PerRankSink::rename_mine() {
    const auto phase = x_phases.enter("publish");
    agree_on([&] {
        // What a killed run has left under that name was seen to be a part when ours was made.
        core::remove_on_interrupt(x_mine, x_mine_part);
        rename_part(x_mine_part, x_mine, core::Existing::replace);
        x_renamed = true;
        core::keep_on_interrupt(x_mine_part);
    });
}

void PerRankSink::publish_manifest() {
    const auto phase = x_phases.enter("describe");
    agree_on([&] {
        if (x_comm.rank() != 0) return;
        std::vector<std::string> parts;
        for (int r = 0; r < x_comm.size(); ++r) parts.push_back(part_of(r).filename().string());
        const std::string text = raw::describe_manifest(x_layout.objects(), x_attributes, parts);
        const Descriptor fd(open_file(x_target.part(), O_WRONLY));
        if (!fd.open()) throw system_error(errno, "cannot open the file", x_target.part());
        write_fully(fd.get(), text.data(), text.size(), 0, x_target.part());
    });
    x_target.sync();
    // On all ranks before the manifest has its name: an interrupt must not take what it names.
    agree_on([&] { core::keep_on_interrupt(x_mine); });
    x_target.publish();
}

void PerRankSink::publish() {
    poisoning([&] { publish_all(); }, false);
    x_owns_part = false;  // complete now
    if (x_comm.rank() == 0) remove_strays();
}

void PerRankSink::publish_all() {
    {
        const auto agreeing = x_phases.enter("agree");
        check_bytes_below(x_comm, x_target.path(), asked(), writer());
    }
    describe_mine();
    force();
    rename_mine();
    publish_manifest();
}

// Parts of killed runs on more ranks: no manifest speaks of them, nor will one.
void PerRankSink::remove_strays() const noexcept {
    try {
        const std::string own = x_target.path().filename().string();
        std::set<std::string> ours;
        for (int r = 0; r < x_comm.size(); ++r) ours.insert(part_of(r).filename().string());
        std::vector<fs::path> strays;
        for (const auto& entry : fs::directory_iterator(folder_of(x_target.path()))) {
            fs::path name = entry.path().filename();
            const bool unfinished = name.extension() == ".part";
            if (unfinished) name.replace_extension();
            if (!is_part_name(own, name.string())) continue;
            if (unfinished ? x_target.left_over() == LeftOver::replace
                           : !ours.contains(name.string()) && is_part(entry.path()))
                strays.push_back(entry.path());
        }
        for (const fs::path& file : strays) ::unlink(file.c_str());
    } catch (...) {  // they take space and do no harm
    }
}

void PerRankSink::tell(core::FileReport& report, bool published) {
    say_who_wrote(report);
    if (!published) return;
    struct stat info {};
    const bool known = ::fstat(x_fd.get(), &info) == 0;
    report.bytes_stored +=
        x_comm.sum(known ? static_cast<std::uint64_t>(info.st_size) : std::uint64_t{0});
    report.bytes_allocated +=
        x_comm.sum(known ? static_cast<std::uint64_t>(info.st_blocks) * 512 : std::uint64_t{0});
    for (int r = 0; r < x_comm.size(); ++r) report.parts.push_back(part_of(r).string());
    report.data_collective = false;
    report.data_mode = "independent (pwrite, a file per rank)";
}

void PerRankSink::discard() noexcept {
    remove_mine();
    x_target.discard();
}

/// The data is in the parts: what x_target knows is of the manifest alone.
void PerRankSink::say_who_wrote(core::FileReport& report) const {
    report.reserved = x_comm.min(std::uint64_t{x_reserved ? 1u : 0u}) == 1;
    report.reservation = "per rank: " + x_reservation;
    report.writers.clear();
    gather_writers(x_comm, writer(), report);
}

}  // namespace tailrace::formats::posix
