// SPDX-License-Identifier: Apache-2.0
// The calls that are not counted but can be made to fail: open, sync, sizes and names.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "hooks/posix/faults.hpp"
#include "hooks/posix/real.hpp"
#include "hooks/posix/tally.hpp"
#include "hooks/posix/transfer.hpp"
#include "hooks/posix/wrap.hpp"

using tailrace::hooks::posix::active;
using tailrace::hooks::posix::count_swallowed;
using tailrace::hooks::posix::decide;
using tailrace::hooks::posix::Family;
using tailrace::hooks::posix::faults_active;
using tailrace::hooks::posix::File;
using tailrace::hooks::posix::find_file;
using tailrace::hooks::posix::forget_former;
using tailrace::hooks::posix::held_files;
using tailrace::hooks::posix::latch;
using tailrace::hooks::posix::Op;
namespace real = tailrace::hooks::posix::real;

namespace {

/// The errno of a fault, 0 for none.
int fault(Op op, int fd) { return active() && faults_active() ? decide(op, fd, 0).error : 0; }

int fault(Op op, int folder, const char* path, int other = AT_FDCWD,
          const char* other_path = nullptr) {
    return active() && faults_active() ? decide(op, folder, path, other, other_path).error : 0;
}

int failed(int error) {
    errno = error;
    return -1;
}

int opened(int fd, int flags) {
    if (fd >= 0 && (flags & O_CREAT) != 0 && active()) forget_former(fd);
    return fd;
}

/// The held file behind a descriptor, or nullptr.
File* held_file(int fd) {
    struct stat status;
    if (!active() || held_files.load() == 0 || fstat(fd, &status) != 0) return nullptr;
    File* file = find_file(status.st_dev, status.st_ino);
    return file != nullptr && file->held.load() ? file : nullptr;
}

/// Gives a file a size. Held, a failure counts as that of a write and is reported as done: HDF5's
/// I/O concentrators do not answer after a failed one, and the rank that asked waits for ever.
template <class Call>
int truncate_file(int fd, Call&& call) {
    int before = errno;
    File* held = held_file(fd);
    if (held == nullptr || held->latched_errno.load() == 0) {
        errno = before;
        int error = fault(Op::ftruncate, fd);
        int result = error != 0 ? failed(error) : call();
        if (result == 0 || held == nullptr || errno == EINTR || errno == EBADF || errno == EINVAL)
            return result;
        latch(*held, errno);
    }
    count_swallowed(*held, Family::write, 0);
    errno = before;
    return 0;
}

}  // namespace

#define TAILRACE_OPEN(name)                                                    \
    TAILRACE_WRAP(int, name, (const char* path, int flags, ...)) {             \
        TAILRACE_TAKE_MODE(flags)                                              \
        if (int error = fault(Op::open, AT_FDCWD, path)) return failed(error); \
        return opened(real::name(path, flags, mode), flags);                   \
    }
#define TAILRACE_OPENAT(name)                                                  \
    TAILRACE_WRAP(int, name, (int folder, const char* path, int flags, ...)) { \
        TAILRACE_TAKE_MODE(flags)                                              \
        if (int error = fault(Op::open, folder, path)) return failed(error);   \
        return opened(real::name(folder, path, flags, mode), flags);           \
    }
/// A call on an open file, or on names, that returns -1 and sets errno.
#define TAILRACE_FALLIBLE(op, name, parameters, arguments, ...)           \
    TAILRACE_WRAP(int, name, parameters) {                                \
        if (int error = fault(Op::op, __VA_ARGS__)) return failed(error); \
        return real::name arguments;                                      \
    }

TAILRACE_OPEN(open)
TAILRACE_OPEN(open64)
TAILRACE_OPENAT(openat)
TAILRACE_OPENAT(openat64)
TAILRACE_FALLIBLE(open, __open_2, (const char* path, int flags), (path, flags), AT_FDCWD, path)
TAILRACE_FALLIBLE(open, __open64_2, (const char* path, int flags), (path, flags), AT_FDCWD, path)
TAILRACE_FALLIBLE(open, __openat_2, (int folder, const char* path, int flags),
                  (folder, path, flags), folder, path)
TAILRACE_FALLIBLE(open, __openat64_2, (int folder, const char* path, int flags),
                  (folder, path, flags), folder, path)
TAILRACE_FALLIBLE(open, creat, (const char* path, unsigned mode), (path, mode), AT_FDCWD, path)
TAILRACE_FALLIBLE(open, creat64, (const char* path, unsigned mode), (path, mode), AT_FDCWD, path)

TAILRACE_FALLIBLE(fsync, fsync, (int fd), (fd), fd)
TAILRACE_FALLIBLE(fsync, fdatasync, (int fd), (fd), fd)
TAILRACE_WRAP(int, ftruncate, (int fd, off_t size)) {
    return truncate_file(fd, [&] { return real::ftruncate(fd, size); });
}
TAILRACE_WRAP(int, ftruncate64, (int fd, int64_t size)) {
    return truncate_file(fd, [&] { return real::ftruncate64(fd, size); });
}
TAILRACE_FALLIBLE(ftruncate, truncate, (const char* path, off_t size), (path, size), AT_FDCWD, path)
TAILRACE_FALLIBLE(ftruncate, truncate64, (const char* path, int64_t size), (path, size), AT_FDCWD,
                  path)
TAILRACE_FALLIBLE(fallocate, fallocate, (int fd, int mode, off_t offset, off_t size),
                  (fd, mode, offset, size), fd)
TAILRACE_FALLIBLE(fallocate, fallocate64, (int fd, int mode, int64_t offset, int64_t size),
                  (fd, mode, offset, size), fd)

// These two return the error and leave errno alone.
TAILRACE_WRAP(int, posix_fallocate, (int fd, off_t offset, off_t size)) {
    if (int error = fault(Op::fallocate, fd)) return error;
    return real::posix_fallocate(fd, offset, size);
}
TAILRACE_WRAP(int, posix_fallocate64, (int fd, int64_t offset, int64_t size)) {
    if (int error = fault(Op::fallocate, fd)) return error;
    return real::posix_fallocate64(fd, offset, size);
}

TAILRACE_FALLIBLE(rename, rename, (const char* from, const char* to), (from, to), AT_FDCWD, from,
                  AT_FDCWD, to)
TAILRACE_FALLIBLE(rename, renameat,
                  (int from_folder, const char* from, int to_folder, const char* to),
                  (from_folder, from, to_folder, to), from_folder, from, to_folder, to)
TAILRACE_FALLIBLE(rename, renameat2,
                  (int from_folder, const char* from, int to_folder, const char* to,
                   unsigned flags),
                  (from_folder, from, to_folder, to, flags), from_folder, from, to_folder, to)
TAILRACE_FALLIBLE(unlink, unlink, (const char* path), (path), AT_FDCWD, path)
TAILRACE_FALLIBLE(unlink, unlinkat, (int folder, const char* path, int flags),
                  (folder, path, flags), folder, path)

// As on Linux, the descriptor is gone also where close reports an error.
// Of a held file a failure counts as that of a write: HDF5 does not survive it in a subfile.
TAILRACE_WRAP(int, close, (int fd)) {
    int before = errno;
    File* held = held_file(fd);
    errno = before;
    int error = fault(Op::close, fd);
    int result = real::close(fd);
    if (error != 0) result = failed(error);
    if (result == 0 || held == nullptr || errno == EBADF || errno == EINTR) return result;
    latch(*held, errno);
    count_swallowed(*held, Family::write, 0);
    errno = before;
    return 0;
}
