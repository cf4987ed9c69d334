// SPDX-License-Identifier: Apache-2.0
#include "formats/file/name_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "core/context.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

constexpr std::string_view first_word = "process ";  // of our sidecar files

std::string first_line_of(int fd) {
    char text[256];
    const ssize_t length = ::pread(fd, text, sizeof text, 0);
    if (length <= 0) return {};
    const std::string all(text, static_cast<std::size_t>(length));
    return all.substr(0, all.find('\n'));
}

struct Opened {
    Descriptor fd;
    bool was_there = false;
};

/// A sidecar file that is there, not open where there is none. Never through a link, and waiting
/// for nobody at a pipe.
Descriptor open_present(const fs::path& path, const fs::path& part) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return {};
    if (!S_ISREG(info.st_mode)) throw in_the_way(path, kind_of_file(info.st_mode));
    Descriptor fd(open_file(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.open() && errno != ENOENT)
        throw system_error(errno, "cannot open " + path.string(), part);
    return fd;
}

Opened open_sidecar(const fs::path& path, const fs::path& part) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        Descriptor fd(open_file(path, O_RDWR | O_NOFOLLOW | O_CREAT | O_EXCL));
        if (fd.open()) return {std::move(fd), false};
        if (errno != EEXIST) throw system_error(errno, "cannot create " + path.string(), part);
        fd = open_present(path, part);
        if (fd.open()) return {std::move(fd), true};
    }
    throw Error(Code::io, "its lock comes and goes all the time", path.string(),
                "choose another file name");
}

/// Empty: of a run that has just begun, or of a disk that was full.
void check_ours(int fd, const fs::path& path) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) throw system_error(errno, "cannot look at the lock", path);
    if (!S_ISREG(info.st_mode)) throw in_the_way(path, kind_of_file(info.st_mode));
    if (info.st_size != 0 && !first_line_of(fd).starts_with(first_word))
        throw in_the_way(path, "it is not the lock of a run of ours");
}

/// Where the file system has no locks that is no error.
void try_lock(int fd, int kind, const fs::path& part) {
    if (::flock(fd, kind | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EACCES)) return;
    const std::string who = first_line_of(fd);
    throw Error(Code::already_exists,
                "another run is writing it now (" + (who.empty() ? "another process" : who) + ")",
                part.string(), "wait for that run, or choose another file name");
}

bool still_named(int fd, const fs::path& path) {
    struct stat mine {};
    struct stat there {};
    return ::fstat(fd, &mine) == 0 && ::lstat(path.c_str(), &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

void write_who(int fd) {
    const std::string who =
        std::string(first_word) + std::to_string(::getpid()) + " on " + core::host_name() + "\n";
    if (::ftruncate(fd, 0) != 0 ||
        ::pwrite(fd, who.data(), who.size(), 0) != static_cast<ssize_t>(who.size())) {
        // The lock holds without the text (a full disk): only the message of others is poorer.
    }
}

}  // namespace

void NameLock::take(const fs::path& file) {
    const fs::path part = part_of(file), path = lock_of(file);
    for (int attempt = 0; attempt < 100; ++attempt) {
        Opened opened = open_sidecar(path, part);
        const int fd = opened.fd.get();
        check_ours(fd, path);
        try_lock(fd, LOCK_EX, part);
        // The run before may have removed the name after we opened it: then we hold nothing.
        if (!still_named(fd, path)) continue;
        write_who(fd);
        x_fd = std::move(opened.fd);
        x_path = path;
        x_left_over = opened.was_there ? LeftOver::replace : LeftOver::refuse;
        return;
    }
    throw Error(Code::io, "its lock changes hands all the time", path.string(),
                "choose another file name");
}

LeftOver NameLock::look(const fs::path& file) {
    const fs::path part = part_of(file), path = lock_of(file);
    const Descriptor fd = open_present(path, part);
    if (!fd.open()) return LeftOver::refuse;
    check_ours(fd.get(), path);
    try_lock(fd.get(), LOCK_SH, part);
    return LeftOver::replace;
}

void NameLock::release() noexcept {
    if (!x_fd.open()) return;
    ::unlink(x_path.c_str());
    x_fd.reset();
}

}  // namespace tailrace::formats
