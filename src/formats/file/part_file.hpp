// SPDX-License-Identifier: Apache-2.0
// What one process does to the name of a file under construction. TargetFile makes it collective.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "core/sink.hpp"
#include "formats/file/names.hpp"

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
    /// A name of the open file that holds whatever becomes of its path.  [local]
    [[nodiscard]] std::filesystem::path name() const {
        return "/proc/self/fd/" + std::to_string(x_fd);
    }

private:
    int x_fd = -1;
};

/// Opens with O_CLOEXEC, trying again after EINTR; -1 and errno on failure.  [local]
[[nodiscard]] int open_file(const std::filesystem::path& path, int flags);

/// Makes a new, empty file. What stands there is replaced only where it is a regular file and the
/// caller knows that a killed run has left it; never is anything written through a link.  [local]
/// @param create  makes it where given (core::Target::create)
/// @throws core::Error; already_exists where the name is taken by something else
[[nodiscard]] Descriptor create_part(
    const std::filesystem::path& part,
    const std::function<void(const std::filesystem::path&)>& create = {},
    LeftOver left_over = LeftOver::refuse);

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

/// check_space, told as a Reservation that sets nothing aside.  [local]
/// @param why  nothing is: "subfiles"
[[nodiscard]] Reservation only_look(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                                    core::Code failure_code, const std::string& why);

/// For data that plain system calls write: as reserve(), but on tmpfs as only_look(). Allocating
/// there goes page by page under the lock that the writes wait for, and spares them less than it
/// takes; and these calls report a memory that fills up by themselves.  [local]
[[nodiscard]] Reservation reserve_on_disk(int fd, std::uint64_t bytes,
                                          const std::filesystem::path& name,
                                          core::Code failure_code);

/// True on tmpfs.  [local]
[[nodiscard]] bool lies_in_memory(int fd) noexcept;

/// On tmpfs: that `bytes` more fit into the memory that the machine, and the control groups of this
/// process, have available.  [local]
/// @throws core::Error{failure_code} with the bytes needed and available
void check_memory(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                  core::Code failure_code);

/// What can be known without allocating anything: the limit of file sizes, and that the file
/// system has that many free bytes at all.  [local]
/// @throws core::Error{failure_code} with the bytes needed and free
void check_space(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                 core::Code failure_code);

/// Bytes that check_space() would grant a new file in `folder`; UINT64_MAX where the file system
/// does not tell.  [local]
[[nodiscard]] std::uint64_t free_bytes(const std::filesystem::path& folder) noexcept;

/// Gives back what was set aside beyond the end of the file.  [local]
void drop_excess(int fd) noexcept;

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

}  // namespace tailrace::formats
