// SPDX-License-Identifier: Apache-2.0
#include "core/results_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/phases.hpp"

namespace tailrace::core {

namespace {

constexpr auto pause = std::chrono::milliseconds(20);  // between two tries for the lock

/// A file descriptor that closes itself.
struct Descriptor {
    int number;
    explicit Descriptor(int fd) : number(fd) {}
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

[[noreturn]] void cannot(const std::filesystem::path& file, const std::string& what, int number) {
    throw Error(code_of_errno(number), what + ": " + describe_errno(number), file.string(),
                "choose another results file, or make room");
}

/// True where the file has content that does not end in a line end: a writer was killed there.
bool ends_in_mid_line(int descriptor) {
    const off_t size = ::lseek(descriptor, 0, SEEK_END);
    char last = '\n';
    return size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n';
}

/// A pipe without a reader would keep records that nobody gets, and one whose reader sleeps would
/// keep the writer: it is opened so that neither waits.
int open_to_append(const std::filesystem::path& file, int more) {
    struct stat there {};
    if (::stat(file.c_str(), &there) == 0 && S_ISFIFO(there.st_mode))
        return ::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return ::open(file.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | more, 0666);
}

/// Writes in one call where the system takes it in one; a full pipe is waited for.
/// @returns the bytes written
std::size_t write_all(int descriptor, std::string_view text, double patience_s) {
    std::size_t done = 0;
    for (const double end = now_s() + patience_s; done < text.size();) {
        const ssize_t some = ::write(descriptor, text.data() + done, text.size() - done);
        if (some > 0) done += static_cast<std::size_t>(some);
        if (some > 0 || errno == EINTR) continue;
        if (some == 0 || errno != EAGAIN || now_s() >= end) break;
        std::this_thread::sleep_for(pause);
    }
    return done;
}

/// Where the file system has no locks, O_APPEND has to do.
void lock(int descriptor, const std::filesystem::path& path, double patience_s) {
    for (const double end = now_s() + patience_s; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return;
        if (now_s() >= end)
            throw Error(Code::timed_out,
                        "another process has held the lock of the results file for " +
                            std::to_string(static_cast<long>(patience_s)) + " s",
                        path.string(),
                        "end that process (`fuser` names it), or choose another results file");
        std::this_thread::sleep_for(pause);
    }
}

[[noreturn]] void not_writable(const std::filesystem::path& file, int number) {
    throw Error(Code::not_writable, "the results cannot be written: " + describe_errno(number),
                file.string(), "give `results FILE` a place where you may write");
}

}  // namespace

void check_results_file(const std::filesystem::path& file) {
    namespace fs = std::filesystem;
    struct stat there {};
    if (::stat(file.c_str(), &there) == 0) {
        if (S_ISDIR(there.st_mode))
            throw Error(Code::not_writable, "the results file is a folder", file.string(),
                        "give `results FILE` the name of a file");
        const Descriptor opened(open_to_append(file, O_NONBLOCK));
        if (opened.number < 0 && errno == ENXIO && S_ISFIFO(there.st_mode))
            throw Error(Code::not_writable, "the results file is a pipe that nobody reads",
                        file.string(), "start its reader first, or give `results FILE` a file");
        if (opened.number < 0) not_writable(file, errno);
        return;
    }
    if (errno != ENOENT && errno != ENOTDIR) not_writable(file, errno);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code failed;
    if (!fs::is_directory(folder, failed))
        throw Error(Code::no_such_directory,
                    "there is no folder " + in_quotes(folder.string()) + " for the results",
                    file.string(), "create it, or give `results FILE` another one");
    if (file.filename().empty())
        throw Error(Code::not_writable, "the results file has no name", file.string(),
                    "give `results FILE` the name of a file");
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        not_writable(file, errno);
}

void try_results_file(const std::filesystem::path& file) {
    check_results_file(file);
    struct stat there {};
    if (::stat(file.c_str(), &there) == 0) return;
    const std::filesystem::path probe =
        (file.has_parent_path() ? file.parent_path() : std::filesystem::path(".")) /
        (".tailrace-" + std::to_string(::getpid()));
    const Descriptor made(::open(probe.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (made.number >= 0)
        ::unlink(probe.c_str());
    else if (errno != EEXIST)
        not_writable(file, errno);
}

void append_line(const std::filesystem::path& path, std::string_view line, double patience_s) {
    const Descriptor file(open_to_append(path, O_CREAT));
    if (file.number < 0) cannot(path, "cannot open the results file", errno);
    lock(file.number, path, patience_s);
    std::string text = ends_in_mid_line(file.number) ? "\n" : "";
    text.append(line).append("\n");
    errno = 0;
    const std::size_t done = write_all(file.number, text, patience_s);
    if (done == 0) cannot(path, "cannot write the results file", errno);
    if (done < text.size())
        cannot(path,
               "only " + std::to_string(done) + " of " + std::to_string(text.size()) +
                   " bytes of a record were written",
               errno != 0 ? errno : ENOSPC);
    if (::fsync(file.number) != 0 && errno != EINVAL && errno != EROFS)
        cannot(path, "cannot sync the results file", errno);
}

}  // namespace tailrace::core
