// SPDX-License-Identifier: Apache-2.0
// Who is writing under a name now.
#pragma once

#include <filesystem>

#include "formats/file/part_file.hpp"

namespace tailrace::formats {

/// Says that a run is writing under a name: a lock on the sidecar file `name.part.lock`. Not on the
/// part itself, since libraries lock that (HDF5: flock; MPI-IO on NFS: fcntl over the whole
/// file) and would meet our own lock there.
class NameLock {
public:
    NameLock() = default;
    ~NameLock() { release(); }
    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;

    /// Takes it. Where the file system has no locks only the sidecar file is made, which is no
    /// error.  [local]
    /// @throws core::Error{already_exists} where another run holds it, naming that run, or where
    ///         what stands under that name is not ours
    /// @param file  the final name
    void take(const std::filesystem::path& file);
    /// What take() would find, or throw, without making or changing anything.  [local]
    [[nodiscard]] static LeftOver look(const std::filesystem::path& file);
    void release() noexcept;  ///< [local]
    /// Lets go of the lock and leaves the sidecar file: what is left under the name of the part is
    /// ours, and the next run may remove it.  [local]
    void leave() noexcept { x_fd.reset(); }

    /// Whether the sidecar file of a killed run was found: what that run has made is ours.  [local]
    [[nodiscard]] LeftOver left_over() const noexcept { return x_left_over; }

private:
    Descriptor x_fd;
    std::filesystem::path x_path;
    LeftOver x_left_over = LeftOver::refuse;
};

}  // namespace tailrace::formats
