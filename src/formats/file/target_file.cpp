// SPDX-License-Identifier: Apache-2.0
#include "formats/file/target_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>
#include <utility>

#include "core/cleanup.hpp"
#include "core/context.hpp"
#include "formats/file/companions.hpp"
#include "formats/file/final_name.hpp"
#include "formats/file/writers.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

/// Gives the space back at once, also where a library has the file open and cannot close it.
void remove_file(const fs::path& file) noexcept {
    if (::truncate(file.c_str(), 0) != 0) {
        // Then the space is free when the last descriptor is closed.
    }
    ::unlink(file.c_str());
}

/// Runs `work` on rank 0 and agrees on the outcome.
template <class Work>
void on_rank_0(const comm::Comm& comm, core::Phases& phases, Work&& work) {
    std::optional<Error> mine;
    if (comm.rank() == 0) mine = comm::Comm::caught(std::forward<Work>(work));
    const auto agreeing = phases.enter("agree");
    comm.agree(mine);
}

}  // namespace

TargetFile::TargetFile(const comm::Comm& comm, const core::Target& target, core::Phases& phases,
                       Reserve when)
    : x_comm(comm), x_target(target), x_phases(phases), x_reserve(when), x_path(target.path) {
    // In place the old file goes as soon as the name is taken, so the space must be sure by then.
    if (target.publish == core::Publish::in_place && when == Reserve::after_create)
        x_reserve = Reserve::at_once;
    const auto phase = x_phases.enter("create");
    std::optional<Error> mine = comm::Comm::caught([&] { x_path = follow_links(target.path); });
    x_part = part_of(x_path);
    if (!mine && x_comm.rank() == 0) mine = comm::Comm::caught([&] { create_on_rank_0(); });
    if (mine) discard();
    {
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
    }
    try {
        if (x_target.publish == core::Publish::in_place) move_in_place();
        share_reservation();
        x_first_of_node = x_comm.split_node().rank() == 0;
        mine = comm::Comm::caught([&] { see_part(); });
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
    } catch (...) {
        discard();
        throw;
    }
}

TargetFile::~TargetFile() {
    if (!x_published && !x_discarded) discard();
}

void TargetFile::create_on_rank_0() {
    check_target(x_path, x_target.existing);
    x_lock.take(x_path);
    core::remove_on_interrupt(lock_of(x_path));
    x_left_over = x_lock.left_over();
    check_beside(x_path, x_target.publish, x_left_over);
    x_replaced = companions_of(x_path);
    const Descriptor fd = create_with_fresh_inode();
    core::remove_on_interrupt(x_part);
    x_owns_part = true;
    set_aside(fd.get());
}

// A library that names its subfiles after the inode would write into files that have such names
// already: then another inode is taken.
Descriptor TargetFile::create_with_fresh_inode() {
    std::vector<Descriptor> taken;  // open, so that their numbers are not given again
    for (int attempt = 0; attempt < 100; ++attempt) {
        Descriptor fd =
            create_part(x_part, x_target.create, taken.empty() ? x_left_over : LeftOver::replace);
        struct stat info {};
        if (::fstat(fd.get(), &info) != 0)
            throw system_error(errno, "cannot look at the file", x_part);
        x_inode = info.st_ino;
        if (x_target.publish != core::Publish::in_place || subfiles_of(x_path, x_inode).empty())
            return fd;
        taken.push_back(std::move(fd));
    }
    ::unlink(x_part.c_str());
    throw Error(Code::already_exists, "names of its subfiles are taken", x_path.string(),
                "remove " + x_path.string() + ".subfile_*, or choose another file name");
}

void TargetFile::set_aside(int fd) {
    const std::uint64_t bytes = x_target.reserve_bytes;
    const auto phase = x_phases.enter("reserve");
    if (!x_target.set_aside && x_reserve != Reserve::check_only)
        return take(only_look(fd, bytes, x_path, Code::no_space_reserved, "reserve off"));
    switch (x_reserve) {
        case Reserve::at_once:
            return take(reserve(fd, bytes, x_path, Code::no_space_reserved));
        case Reserve::on_disk:
            return take(reserve_on_disk(fd, bytes, x_path, Code::no_space_reserved));
        case Reserve::check_only:
            return take(only_look(fd, bytes, x_path, Code::no_space_reserved, "subfiles"));
        case Reserve::after_create:
            check_space(fd, bytes, x_path, Code::no_space_reserved);
            x_reservation = "not yet";
    }
}

void TargetFile::take(const Reservation& outcome) {
    x_reserved = outcome.reserved;
    x_reservation = outcome.text;
}

// The reservation has succeeded on the part: only now may the old file go, and what belongs to it
// goes first, as long as it is found through its file.
void TargetFile::move_in_place() {
    on_rank_0(x_comm, x_phases, [&] {
        ::unlink(manifest_of(x_path).c_str());  // it says that the old file is complete
        remove_replaced();
        core::remove_on_interrupt(x_path, x_part);
        rename_part(x_part, x_path, x_target.existing);
        core::keep_on_interrupt(x_part);
    });
    x_part = x_path;
}

// Another node may learn of the new name late (caches of network file systems), or never (a folder
// that is not shared).
void TargetFile::see_part() {
    for (int attempt = 0;; ++attempt) {
        Descriptor found(open_file(x_part, O_RDONLY));
        if (found.open()) {
            if (core::IoObserver* observer = core::io_observer()) observer->forget(found.name());
            return x_counted.add(x_part, std::move(found));
        }
        const int seen = errno;
        if (seen != ENOENT && seen != ESTALE)
            throw system_error(seen, "cannot open the file", x_part);
        if (attempt == 100)
            throw Error(
                Code::no_such_directory,
                "the file that rank 0 created is not seen on " + core::host_name() + " after 10 s",
                x_part.string(), "choose a folder that all nodes share");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void TargetFile::add_part(const fs::path& file) {
    if (std::find(x_more.begin(), x_more.end(), file) != x_more.end()) return;
    x_more.push_back(file);
    x_counted.add(file, Descriptor(open_file(file, O_RDONLY)));
    if (x_comm.rank() == 0) core::remove_on_interrupt(file);
}

void TargetFile::share_reservation() {
    x_reserved = x_comm.broadcast_value(std::uint64_t{x_reserved ? 1u : 0u}) == 1;
    x_reservation = x_comm.broadcast(x_reservation);
    x_left_over =
        static_cast<LeftOver>(x_comm.broadcast_value(static_cast<std::uint64_t>(x_left_over)));
}

void TargetFile::reserve_after_create() {
    const auto phase = x_phases.enter("reserve");
    on_rank_0(x_comm, x_phases, [&] {
        if (!x_target.set_aside) return;  // looked at when the file was created
        const Descriptor fd(open_file(x_part, O_RDWR));
        if (!fd.open()) throw system_error(errno, "cannot open the file", x_part);
        take(reserve(fd.get(), x_target.reserve_bytes, x_path, Code::no_space_reserved));
    });
    share_reservation();
}

std::optional<Error> TargetFile::seen_failure(const std::string& doing) const noexcept {
    return x_counted.failure(doing, x_path);
}

std::optional<core::WriterReport> TargetFile::writer() const {
    return x_writer ? x_writer : x_counted.writer(x_comm.rank(), x_phases);
}

void TargetFile::check_bytes(std::uint64_t asked_by_this_rank) const {
    const auto agreeing = x_phases.enter("agree");
    check_bytes_below(x_comm, x_path, asked_by_this_rank, writer());
}

void TargetFile::remember_writer() noexcept {
    try {
        x_writer = writer();
    } catch (...) {  // the report then says "not measured"
    }
}

// The descriptor that was open during the writes is the one that hears of write-back errors; a
// library may have put another file under the name, though.
void TargetFile::sync_mine(const fs::path& file) const {
    struct stat open_one {};
    struct stat named {};
    if (::stat(file.c_str(), &named) != 0)
        throw system_error(errno, "cannot look at the file", file);
    const int seen = x_counted.descriptor(file);
    const bool same = seen >= 0 && ::fstat(seen, &open_one) == 0 &&
                      open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
    const Descriptor fresh(same ? -1 : open_file(file, O_RDONLY));
    if (!same && !fresh.open()) throw system_error(errno, "cannot open the file to sync it", file);
    if (::fsync(same ? seen : fresh.get()) != 0)
        throw system_error(errno, "fsync failed, data may be lost", file);
}

void TargetFile::sync() {
    const auto phase = x_phases.enter("sync");
    std::optional<Error> mine;
    if (x_first_of_node)
        mine = comm::Comm::caught([&] {
            sync_mine(x_part);
            for (const fs::path& file : x_more) sync_mine(file);
        });
    const auto agreeing = x_phases.enter("agree");
    x_comm.agree(mine);
    x_synced = true;
}

// A reader that finds the new file must not find the old one's subfiles beside it: inode numbers,
// which their names carry, are used again.
void TargetFile::remove_replaced() const noexcept {
    for (const fs::path& file : x_replaced) ::unlink(file.c_str());
}

void TargetFile::write_manifest() {
    auto names = nlohmann::json::array({x_path.filename().string()});
    for (const fs::path& file : x_more) names.push_back(file.filename().string());
    const nlohmann::ordered_json manifest_json{{"format", "tailrace-complete/1"}, {"files", names}};
    const std::string text =
        manifest_json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    const fs::path manifest = manifest_of(x_path);
    const fs::path part = part_of(manifest);
    const Descriptor fd = create_part(part, {}, x_left_over);
    core::remove_on_interrupt(part);
    try {
        write_fully(fd.get(), text.data(), text.size(), 0, part);
        if (::fsync(fd.get()) != 0) throw system_error(errno, "fsync failed", part);
        core::remove_on_interrupt(manifest, part);
        rename_part(part, manifest, core::Existing::refuse);
    } catch (...) {
        ::unlink(part.c_str());
        throw;
    }
    x_wrote_manifest = true;
    sync_folder(folder_of(x_path));
}

void TargetFile::rename_and_confirm() {
    FinalName name(x_part, x_path, x_target.existing);
    const auto failed = comm::Comm::caught([&] { name.confirm(); });
    x_stays = name.stays();
    if (x_stays) {
        core::keep_on_interrupt(x_part);  // not our data any more
        x_owns_part = false;
    }
    if (failed) throw Error(*failed);
}

void TargetFile::publish() {
    if (!x_synced) sync();
    const auto phase = x_phases.enter("publish");
    remember_writer();
    try {
        on_rank_0(x_comm, x_phases, [&] {
            if (x_reserved) {
                const Descriptor fd(open_file(x_part, O_RDWR));
                if (fd.open()) drop_excess(fd.get());
            }
            if (x_target.publish == core::Publish::in_place) {
                write_manifest();
            } else {
                rename_and_confirm();
                remove_replaced();
            }
            core::keep_on_interrupt(my_names());
            x_lock.release();
        });
    } catch (const Error&) {  // agreed: all ranks are here
        x_stays = x_comm.broadcast_value(std::uint64_t{x_stays ? 1u : 0u}) == 1;
        throw;
    }
    x_published = true;
}

/// All that an interrupt removes.
std::vector<fs::path> TargetFile::my_names() const {
    const fs::path manifest = manifest_of(x_path);
    std::vector<fs::path> names{x_part, lock_of(x_path), manifest, part_of(manifest)};
    names.insert(names.end(), x_more.begin(), x_more.end());
    return names;
}

void TargetFile::discard() noexcept {
    if (x_published || x_discarded) return;
    remember_writer();
    x_discarded = true;
    try {
        if (x_owns_part) remove_all();
        if (x_comm.rank() == 0) core::keep_on_interrupt(my_names());
    } catch (...) {  // no memory for a name: the file stays, under its temporary name
    }
    x_lock.release();
}

// In place: all subfiles, also those that nobody has told of since the library failed before. None
// had such a name when the part was made.
void TargetFile::remove_all() const {
    if (x_wrote_manifest) ::unlink(manifest_of(x_path).c_str());
    if (x_target.publish == core::Publish::in_place)
        for (const std::string& file : subfiles_of(x_path, x_inode)) remove_file(file);
    for (const fs::path& file : x_more) remove_file(file);
    remove_file(x_part);
}

void TargetFile::report(core::FileReport& report) const {
    report.path = x_path;
    report.reserved = x_reserved;
    report.reservation = x_reservation;
    report.durable = x_synced && x_published;
    std::vector<fs::path> files;
    if (!x_discarded) {
        files.push_back(x_published ? x_path : x_part);
        files.insert(files.end(), x_more.begin(), x_more.end());
    }
    report.parts.clear();
    for (const fs::path& file : files) report.parts.push_back(file.string());
    std::uint64_t sizes[2] = {0, 0};
    if (x_comm.rank() == 0)
        for (const fs::path& file : files) {
            struct stat info {};
            if (::stat(file.c_str(), &info) != 0) continue;
            const auto size = static_cast<std::uint64_t>(info.st_size);
            const auto blocks = static_cast<std::uint64_t>(info.st_blocks) * 512;
            // Beside subfiles the file itself has the size of all of them, as a hole.
            const bool stub = !x_more.empty() && file == files.front();
            sizes[0] += stub ? std::min(size, blocks) : size;
            sizes[1] += blocks;
        }
    x_comm.broadcast(std::as_writable_bytes(std::span(sizes)));
    report.bytes_stored = sizes[0];
    report.bytes_allocated = sizes[1];
    gather_writers(x_comm, writer(), report);
}

}  // namespace tailrace::formats
