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

/// What to do with a file under the name of a part.
enum class LeftOver { refuse, replace };

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

/// Bytes of a file that lie together.
struct Extent {
    std::uint64_t begin = 0, bytes = 0;
};

/// Allocates `extent`, the size of the file stays. Where the file system cannot
/// (EOPNOTSUPP) the free space is only looked at.  [local]
/// @param whole  bytes that the file needs in all, for the limit of file sizes and for messages
/// @throws core::Error{failure_code} with the bytes needed and free
[[nodiscard]] Reservation reserve(int fd, Extent extent, std::uint64_t whole,
                                  const std::filesystem::path& name, core::Code failure_code);

/// Allocates `bytes` from offset 0.  [local]
[[nodiscard]] inline Reservation reserve(int fd, std::uint64_t bytes,
                                         const std::filesystem::path& name,
                                         core::Code failure_code) {
    return reserve(fd, Extent{0, bytes}, bytes, name, failure_code);
}

/// True on tmpfs: allocating costs as much as writing there, page by page, and takes memory from
/// every process of the node.  [local]
[[nodiscard]] bool lies_in_memory(int fd) noexcept;

/// On tmpfs: that `bytes` more fit into the memory that the machine has available.  [local]
/// @throws core::Error{failure_code} with the bytes needed and available
void check_memory(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                  core::Code failure_code);

/// What can be known without allocating anything: the limit of file sizes, and that the file
/// system has that many free bytes at all.  [local]
/// @throws core::Error{failure_code} with the bytes needed and free
void check_space(int fd, std::uint64_t bytes, const std::filesystem::path& name,
                 core::Code failure_code);

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

/// "it is a folder", for messages.  [local]
[[nodiscard]] std::string kind_of_file(mode_t mode);

/// The Error of a name beside a file that a run needs and that is somebody else's.  [local]
[[nodiscard]] core::Error in_the_way(const std::filesystem::path& name, const std::string& what);

/// The folder that holds `path` ("." where it has none).  [local]
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

}  // namespace tailrace::formats
