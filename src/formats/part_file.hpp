// SPDX-License-Identifier: Apache-2.0
// What one process does to the name of a file under construction. TargetFile makes it collective.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// A file descriptor that closes itself.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : x_fd(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : x_fd(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;

    [[nodiscard]] int get() const noexcept { return x_fd; }
    [[nodiscard]] bool open() const noexcept { return x_fd >= 0; }
    int release() noexcept;
    void reset() noexcept;

private:
    int x_fd = -1;
};

/// Opens with O_CLOEXEC, trying again after EINTR; -1 and errno on failure.  [local]
[[nodiscard]] int open_file(const std::filesystem::path& path, int flags);

/// The name that a chain of symbolic links ends in, so that the file is replaced and the link
/// stays.  [local]
/// @throws core::Error{Code::bad_input} for a circle of links
[[nodiscard]] std::filesystem::path follow_links(const std::filesystem::path& path);

/// Checks the name, its folder and what is there now, touching nothing.  [local]
/// @throws core::Error{bad_input | no_such_directory | not_writable | already_exists}
void check_target(const std::filesystem::path& path, core::Existing existing);

/// Says that a run is writing under a name: a lock on the sidecar file `name.part.lock`. Not on the
/// part itself, since libraries lock that (HDF5: flock; MPI-IO on NFS: fcntl over the whole
/// file) and would meet our own lock there.
class NameLock {
public:
    NameLock() = default;
    ~NameLock() { release(); }
    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;

    /// Takes it. Where the file system has no locks it is not taken, which is no error.  [local]
    /// @throws core::Error{already_exists} where another run holds it, naming that run
    void take(const std::filesystem::path& part);
    void release() noexcept;  ///< [local]

private:
    Descriptor x_fd;
    std::filesystem::path x_path;
};

/// Makes a new, empty file in the place of what a killed run may have left.  [local]
/// @param create  makes it where given (core::Target::create)
/// @throws core::Error
[[nodiscard]] Descriptor create_part(
    const std::filesystem::path& part,
    const std::function<void(const std::filesystem::path&)>& create = {});

/// What came of setting space aside.
struct Reservation {
    bool reserved = false;  ///< blocks are really allocated
    std::string text;       ///< by what, or why not
};

/// Allocates `bytes` from offset 0, the size of the file stays. Where the file system cannot
/// (EOPNOTSUPP) the free space is only looked at.  [local]
/// @throws core::Error{failure_code} with the bytes needed and free
[[nodiscard]] Reservation reserve(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                                  core::Code failure_code);

/// What can be known without allocating anything: the limit of file sizes, and that the file
/// system has that many free bytes at all.  [local]
/// @throws core::Error{failure_code} with the bytes needed and free
void check_space(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                 core::Code failure_code);

/// Gives back what was set aside beyond the end of the file.  [local]
void drop_excess(int fd) noexcept;

/// Gives the part its final name; refuses to replace anything with Existing::refuse.  [local]
/// @throws core::Error
void rename_part(const std::filesystem::path& part, const std::filesystem::path& path,
                 core::Existing existing);

/// Makes names in a folder durable; file systems that cannot sync folders are forgiven.  [local]
/// @throws core::Error{Code::io}
void sync_folder(const std::filesystem::path& folder);

/// Writes all of it at `offset`, in calls of at most 1 GiB.  [local]
/// @throws core::Error{no_space | io} with the bytes asked and written
void write_fully(int fd, const void* data, std::uint64_t bytes, std::uint64_t offset,
                 const std::filesystem::path& name);

/// Reads all of it from `offset`.  [local]
/// @throws core::Error{io} on failure and at the end of the file
void read_fully(int fd, void* data, std::uint64_t bytes, std::uint64_t offset,
                const std::filesystem::path& name);

/// The Error of a system call.  [local]
[[nodiscard]] core::Error system_error(int error_number, const std::string& what,
                                       const std::filesystem::path& name);

/// The folder that holds `path` ("." where it has none).  [local]
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

}  // namespace tailrace::formats
