// SPDX-License-Identifier: Apache-2.0
// A folder of files that gets its name in one step: there as a whole, or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/name_lock.hpp"

namespace tailrace::formats::split {

/// "plt00000" for "plt00000/": the part stands beside the folder, not in it.  [local]
[[nodiscard]] std::filesystem::path without_slash(const std::filesystem::path& path);

/// One folder under construction, `name.part`. Every rank holds one; rank 0 acts on the name.
class FolderTarget {
public:
    /// Checks the folder around it, permission and `existing`, and makes an empty `name.part`. A
    /// folder that a killed run has moved out of the way gets its name back.  [collective]
    /// @param ours  names of files of which a folder that may be replaced has one; an empty folder
    ///              may be, too
    /// @throws core::Error{no_such_directory | not_writable | already_exists | no_space_reserved}
    /// on
    ///         all ranks; nothing is left behind then
    FolderTarget(const comm::Comm& comm, const core::Target& target,
                 std::span<const std::string> ours, core::Phases& phases);
    ~FolderTarget();  ///< [local] removes an unpublished folder
    FolderTarget(const FolderTarget&) = delete;
    FolderTarget& operator=(const FolderTarget&) = delete;

    /// The name while it is written.  [local]
    [[nodiscard]] const std::filesystem::path& part() const noexcept { return x_part; }
    /// The final name, symbolic links followed.  [local]
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return x_path; }

    /// Syncs the folders below and gives the whole its name. The files are synced before. What
    /// stood under the name goes when the new one is durable. Phase "publish".  [collective]
    /// @throws core::Error on all ranks; the older folder is there again then
    void publish();
    [[nodiscard]] bool published() const noexcept { return x_published; }  ///< [local]
    /// Removes the part, with all that is in it. Never communicates.  [local]
    void discard() noexcept;

private:
    void create_on_rank_0(const core::Target& target);
    void remove_left_over() const;
    void see_part() const;
    void rename_and_confirm();
    void release() noexcept;

    comm::Comm x_comm;
    core::Phases& x_phases;
    core::Existing x_existing;
    std::vector<std::string> x_ours;
    std::filesystem::path x_path, x_part, x_old;
    NameLock x_lock;  ///< held by rank 0
    bool x_owns_part = false, x_published = false, x_discarded = false;
};

}  // namespace tailrace::formats::split
