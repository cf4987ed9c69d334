// SPDX-License-Identifier: Apache-2.0
#include "formats/file/part_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/group_memory.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

constexpr std::uint64_t largest_call_bytes = std::uint64_t{1} << 30;

void check_file_size_limit(std::uint64_t bytes, const fs::path& name, Code code) {
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    if (bytes > limit.rlim_cur)
        throw Error(code,
                    "the file needs " + std::to_string(bytes) +
                        " bytes, this process may write files of " +
                        std::to_string(limit.rlim_cur) + " bytes (RLIMIT_FSIZE)",
                    name.string(), "raise the limit (ulimit -f), or write less");
}

std::uint64_t free_bytes(int fd) {
    struct statvfs info {};
    if (::fstatvfs(fd, &info) != 0) return 0;
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

Error too_little_space(Code code, std::uint64_t needed, std::uint64_t free, const fs::path& name) {
    return Error(code,
                 "too little disk space: " + std::to_string(needed) + " bytes needed, " +
                     std::to_string(free) + " bytes free",
                 name.string(), "free space there, or write to another file system");
}

/// What the file has already: a library may have allocated before.
std::uint64_t taken_bytes(int fd) noexcept {
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        reset();
        x_fd = other.release();
    }
    return *this;
}

int Descriptor::release() noexcept { return std::exchange(x_fd, -1); }

void Descriptor::reset() noexcept {
    if (x_fd >= 0) ::close(x_fd);
    x_fd = -1;
}

int open_file(const fs::path& path, int flags) {
    int fd = -1;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

Error system_error(int error_number, const std::string& what, const fs::path& name) {
    const Code code = core::code_of_errno(error_number);
    return Error(code, what + ": " + core::describe_errno(error_number), name.string(),
                 code == Code::no_space ? "free space there, or write to another file system"
                                        : "check the path and the file system's log");
}

Descriptor create_part(const fs::path& part, const std::function<void(const fs::path&)>& create,
                       LeftOver left_over) {
    check_left_over(part, left_over);
    if (::unlink(part.c_str()) != 0 && errno != ENOENT)
        throw system_error(errno, "cannot remove the left-over " + part.string(), part);
    try {
        if (create) create(part);
        Descriptor fd(open_file(part, O_RDWR | O_NOFOLLOW | (create ? 0 : O_CREAT | O_EXCL)));
        if (!fd.open()) throw system_error(errno, "cannot create the file", part);
        return fd;
    } catch (...) {
        if (create) ::unlink(part.c_str());  // it may have been made and could not be opened
        throw;
    }
}

bool lies_in_memory(int fd) noexcept {
    struct statfs info {};
    return ::fstatfs(fd, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

namespace {

/// What a new file in a file system that lies in memory may take; UINT64_MAX elsewhere. Its own
/// size may be all of the memory, and who allocates that ends with the kernel killing processes.
struct Memory {
    std::uint64_t available = UINT64_MAX, granted = UINT64_MAX;
};

Memory memory_for(int fd) noexcept {
    if (!lies_in_memory(fd)) return {};
    const std::uint64_t available = core::memory_free();
    return {available, available - available / 20};
}

/// Blocks kept for root count as free: who may have them is for the reservation to find out.
std::optional<std::uint64_t> free_blocks_bytes(int fd) noexcept {
    struct statvfs info {};
    if (::fstatvfs(fd, &info) != 0 || info.f_blocks == 0) return std::nullopt;  // it does not tell
    return static_cast<std::uint64_t>(info.f_bfree) * info.f_frsize;
}

}  // namespace

void check_memory(int fd, std::uint64_t bytes, const fs::path& name, Code failure_code) {
    const Memory memory = memory_for(fd);
    if (memory.granted == UINT64_MAX || bytes <= memory.granted + taken_bytes(fd)) return;
    throw Error(failure_code,
                "too little memory: " + std::to_string(bytes) +
                    " bytes needed in a file system that lies in memory, " +
                    std::to_string(memory.available) + " bytes available",
                name.string(), "write to a disk, or less");
}

void check_space(int fd, std::uint64_t bytes, const fs::path& name, Code failure_code) {
    if (bytes == 0) return;
    check_file_size_limit(bytes, name, failure_code);
    check_memory(fd, bytes, name, failure_code);
    const std::optional<std::uint64_t> free = free_blocks_bytes(fd);
    if (!free) return;
    if (bytes > *free + taken_bytes(fd) || bytes > static_cast<std::uint64_t>(INT64_MAX))
        throw too_little_space(failure_code, bytes, *free, name);
}

std::uint64_t free_bytes(const fs::path& folder) noexcept {
    const Descriptor fd(open_file(folder, O_RDONLY | O_DIRECTORY));
    if (!fd.open()) return UINT64_MAX;
    return std::min(memory_for(fd.get()).granted, free_blocks_bytes(fd.get()).value_or(UINT64_MAX));
}

Reservation only_look(int fd, std::uint64_t bytes, const fs::path& name, Code failure_code,
                      const std::string& why) {
    if (bytes == 0) return {false, "not asked for"};
    check_space(fd, bytes, name, failure_code);
    return {false, "nothing set aside (" + why + "); free space looked at for " +
                       std::to_string(bytes) + " bytes"};
}

Reservation reserve_on_disk(int fd, std::uint64_t bytes, const fs::path& name, Code failure_code) {
    return lies_in_memory(fd) ? only_look(fd, bytes, name, failure_code, "in memory")
                              : reserve(fd, bytes, name, failure_code);
}

Reservation reserve(int fd, std::uint64_t bytes, const fs::path& name, Code failure_code) {
    if (bytes == 0) return {false, "not asked for"};
    // A call that cannot succeed may take all that is free before it fails, from everybody.
    check_space(fd, bytes, name, failure_code);
    int result = 0;
    do {
        result = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    if (result == 0) return {true, std::to_string(bytes) + " bytes by fallocate"};
    const int seen = errno;
    if (seen == ENOSPC || seen == EDQUOT || seen == EFBIG)
        throw too_little_space(failure_code, bytes, free_bytes(fd), name);
    if (seen != EOPNOTSUPP && seen != ENOSYS && seen != EINVAL)
        throw system_error(seen, "cannot set space aside", name);
    const std::uint64_t free = free_bytes(fd);
    if (free < bytes) throw too_little_space(failure_code, bytes, free, name);
    return {false, "nothing set aside, this file system cannot; " + std::to_string(free) +
                       " bytes were free for " + std::to_string(bytes)};
}

void drop_excess(int fd) noexcept {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return;
    const std::uint64_t allocated = static_cast<std::uint64_t>(info.st_blocks) * 512;
    const std::uint64_t block = static_cast<std::uint64_t>(std::max<blksize_t>(info.st_blksize, 1));
    if (allocated <= static_cast<std::uint64_t>(info.st_size) + block) return;
    // A truncation to the same size frees what lies behind; when it fails the file is only larger.
    if (::ftruncate(fd, info.st_size) != 0) return;
}

void write_fully(int fd, const void* data, std::uint64_t bytes, std::uint64_t offset,
                 const fs::path& name) {
    const auto* from = static_cast<const char*>(data);
    std::uint64_t done = 0;
    while (done < bytes) {
        const std::size_t now = std::min(bytes - done, largest_call_bytes);
        const ssize_t wrote = ::pwrite(fd, from + done, now, static_cast<off_t>(offset + done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
            const int seen = wrote < 0 ? errno : ENOSPC;
            throw system_error(seen,
                               "writing failed at offset " + std::to_string(offset + done) + ": " +
                                   std::to_string(bytes) + " bytes asked, " + std::to_string(done) +
                                   " written",
                               name);
        }
        done += static_cast<std::uint64_t>(wrote);
    }
}

void read_fully(int fd, void* data, std::uint64_t bytes, std::uint64_t offset,
                const fs::path& name) {
    auto* to = static_cast<char*>(data);
    std::uint64_t done = 0;
    while (done < bytes) {
        const std::size_t now = std::min(bytes - done, largest_call_bytes);
        const ssize_t got = ::pread(fd, to + done, now, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Error(Code::io,
                        "reading failed at offset " + std::to_string(offset + done) + ": " +
                            std::to_string(bytes) + " bytes asked, " + std::to_string(done) +
                            " read: " + core::describe_errno(errno),
                        name.string(), "check the file system's log");
        if (got == 0)
            throw Error(Code::data_lost,
                        "the file ends at byte " + std::to_string(offset + done) + ", " +
                            std::to_string(bytes - done) + " bytes are missing",
                        name.string(), "it is incomplete or damaged; write it again");
        done += static_cast<std::uint64_t>(got);
    }
}

}  // namespace tailrace::formats
