// SPDX-License-Identifier: Apache-2.0
// The life of a file's name: checked, reserved, written as `name.part`, synced, renamed. Shared by
// all formats, so that all keep the same promises (docs/reference/file_names.md).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/io_observer.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/counted_files.hpp"
#include "formats/file/name_lock.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats {

/// When space is set aside. A library that truncates the part when it creates its file gives back
/// what was allocated before: then only the free space is checked at first, and reserve() follows.
/// Where the data goes to other files only the check is made: space set aside in this one would be
/// missing for them. `on_disk` is for data that plain system calls write: reserve_on_disk().
enum class Reserve { at_once, on_disk, after_create, check_only };

/// One file under construction. Every rank holds one; rank 0 acts on the name.
class TargetFile {
public:
    /// Checks folder, permission and `existing`, creates an empty `name.part` on rank 0 and sets
    /// `reserve_bytes` aside in it; waits until every rank sees it. With Publish::in_place the
    /// file has its final name from then on, and `name.manifest`, written by publish(), says that
    /// it is complete.  [collective]
    /// What stands under a name that the run needs beside it (`name.part`, `name.part.lock`,
    /// `name.manifest`) is replaced only where a run of ours has left it.
    /// @throws core::Error{no_such_directory | not_writable | already_exists | no_space_reserved}
    ///         on all ranks; nothing is left behind then
    TargetFile(const comm::Comm& comm, const core::Target& target, core::Phases& phases,
               Reserve when = Reserve::at_once);
    ~TargetFile();  ///< [local] removes an unpublished part
    TargetFile(const TargetFile&) = delete;
    TargetFile& operator=(const TargetFile&) = delete;

    /// The name to open while it is written.  [local]
    [[nodiscard]] const std::filesystem::path& part() const noexcept { return x_part; }
    /// The final name, symbolic links followed.  [local]
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return x_path; }

    /// Another file that belongs to it (a subfile): synced, reported and discarded with it.
    /// Same calls on all ranks.  [local]
    void add_part(const std::filesystem::path& file);
    /// Whether a killed run has left its lock: then parts under this name are of that run. The
    /// same on all ranks.  [local]
    [[nodiscard]] LeftOver left_over() const noexcept { return x_left_over; }

    /// Sets the space aside after a library created its file in the part (again, where that was
    /// done before); blocks only, the size stays. Phase "create".  [collective]
    /// @throws core::Error{Code::no_space_reserved} on all ranks
    void reserve_after_create();
    /// Whether space is to be set aside (core::Target::set_aside).  [local]
    [[nodiscard]] bool sets_aside() const noexcept { return x_target.set_aside; }
    [[nodiscard]] bool reserved() const noexcept { return x_reserved; }  ///< [local]
    [[nodiscard]] const std::string& reservation() const noexcept {      ///< [local]
        return x_reservation;
    }

    /// Holds write errors below the libraries (core::IoObserver::hold_errors), where an observer is
    /// there.  [local]
    void hold_errors(bool hold) noexcept { x_counted.hold(hold); }
    [[nodiscard]] bool holds_errors() const noexcept { return x_counted.holds(); }  ///< [local]
    /// The failure that system calls of this rank saw on the part since it was opened, if any.
    /// Never throws; without an observer always nothing.  [local]
    [[nodiscard]] std::optional<core::Error> seen_failure(const std::string& doing) const noexcept;
    /// Counts of this rank up to now, or to the moment of publish() or discard().  [local]
    [[nodiscard]] std::optional<core::WriterReport> writer() const;
    /// check_bytes_below for this file (formats/file/writers.hpp).  [collective]
    /// @throws core::Error{Code::data_lost} on all ranks
    void check_bytes(std::uint64_t asked_by_this_rank) const;

    /// fsync of the part by one rank per node, then agreement. Phase "sync".  [collective]
    /// @throws core::Error{Code::io | no_space} on all ranks
    void sync();
    /// Renames the part to its final name and syncs the folder; syncs the part first where
    /// sync() was never called. What stood under the name, and what belonged to it, goes when the
    /// new name is durable. Call sync() after the last write. Phase "publish".  [collective]
    /// @throws core::Error on all ranks; the older file is there again then, see stays()
    void publish();
    /// True where publish() failed so late that the new file could not be taken back: it is
    /// complete, and what belongs to it must not go. The same on all ranks.  [local]
    [[nodiscard]] bool stays() const noexcept { return x_stays; }
    /// Removes the part. Never communicates.  [local]
    void discard() noexcept;

    /// Fills path, parts, bytes_stored, bytes_allocated, writers, reservation and durable.
    /// Gathers.  [collective]
    void report(core::FileReport& report) const;

private:
    void create_on_rank_0();
    [[nodiscard]] Descriptor create_with_fresh_inode();
    void set_aside(int fd);
    void take(const Reservation& outcome);
    void rename_and_confirm();
    void share_reservation();
    void move_in_place();
    void see_part();
    void sync_mine(const std::filesystem::path& file) const;
    void write_manifest();
    void remove_replaced() const noexcept;
    void remove_all() const;
    [[nodiscard]] std::vector<std::filesystem::path> my_names() const;
    void remember_writer() noexcept;

    comm::Comm x_comm;
    core::Target x_target;
    core::Phases& x_phases;
    Reserve x_reserve;
    std::filesystem::path x_path, x_part;
    std::vector<std::filesystem::path> x_more;      ///< added parts
    std::vector<std::filesystem::path> x_replaced;  ///< what belonged to the file that is replaced
    NameLock x_lock;                                ///< held by rank 0
    CountedFiles x_counted;                         ///< the part and x_more, open on every rank
    ino_t x_inode = 0;                              ///< rank 0: of the part, names the subfiles
    bool x_wrote_manifest = false;                  ///< rank 0: ours stands
    LeftOver x_left_over = LeftOver::refuse;
    bool x_stays = false;
    bool x_first_of_node = false;
    bool x_owns_part = false;  ///< rank 0: what stands under the name of the part is ours
    bool x_reserved = false, x_published = false, x_discarded = false, x_synced = false;
    std::string x_reservation;
    std::optional<core::WriterReport> x_writer;
};

}  // namespace tailrace::formats
