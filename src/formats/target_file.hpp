// SPDX-License-Identifier: Apache-2.0
// The life of a file's name: checked, reserved, written as `name.part`, synced, renamed. Shared by
// all formats, so that all keep the same promises.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/io_observer.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// One file under construction. Every rank holds one; rank 0 acts on the name.
class TargetFile {
public:
    /// Checks folder, permission and `existing`, creates an empty `name.part` on rank 0 and sets
    /// `reserve_bytes` aside in it; waits until every rank sees it.  [collective]
    /// @throws core::Error{no_such_directory | not_writable | already_exists | no_space_reserved}
    ///         on all ranks; nothing is left behind then
    TargetFile(const comm::Comm& comm, const core::Target& target, core::Phases& phases);
    ~TargetFile();  ///< [local] removes an unpublished part
    TargetFile(const TargetFile&) = delete;
    TargetFile& operator=(const TargetFile&) = delete;

    [[nodiscard]] const std::filesystem::path& part() const noexcept { return x_part; }  ///< [local]
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return x_path; }  ///< [local]

    /// Sets the space aside again after a library truncated the part; blocks only, the size stays.
    /// [collective]
    /// @throws core::Error{Code::no_space} on all ranks
    void reserve_again();
    [[nodiscard]] bool reserved() const noexcept { return x_reserved; }  ///< [local]
    [[nodiscard]] const std::string& reservation() const noexcept { return x_reservation; }

    /// Holds write errors below the libraries (core::IoObserver::hold_errors), where an observer is
    /// there.  [local]
    void hold_errors(bool hold) noexcept;
    /// The failure that system calls of this rank saw on the part since it was opened, if any.
    /// Never throws; without an observer always nothing.  [local]
    [[nodiscard]] std::optional<core::Error> seen_failure(const std::string& doing) const;

    /// fsync of the part by one rank per node, then agreement. Phase "sync".  [collective]
    /// @throws core::Error{Code::io | no_space} on all ranks
    void sync();
    /// Renames the part to its final name and syncs the folder. Phase "publish".  [collective]
    void publish();
    /// Removes the part. Never communicates.  [local]
    void discard() noexcept;

    /// Fills path, parts, bytes_stored, bytes_allocated, writers and reservation. Gathers.  [collective]
    void report(core::FileReport& report) const;

private:
    comm::Comm x_comm;
    core::Target x_target;
    core::Phases& x_phases;
    std::filesystem::path x_path, x_part;
    bool x_reserved = false, x_published = false, x_synced = false;
    std::string x_reservation;
    std::vector<std::string> x_phase_names;
};

}  // namespace tailrace::formats
