// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix_profile/closes.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>

#include "hooks/common/spooling.hpp"
#include "hooks/posix/real.hpp"
#include "hooks/posix_profile/wanted.hpp"

namespace tailrace::hooks::posix_profile {
namespace {

namespace real = posix::real;

constexpr int most_descriptors = 1 << 16;
constexpr unsigned most_copies = 8;  ///< of one file; further closes are only counted
constexpr uint64_t spare_bytes = uint64_t{256} << 20;
constexpr int64_t tick_ns = 50'000'000;  ///< writes within one may leave the same time of change
constexpr size_t line_bytes = 87;        ///< of a state, with its end

struct Held {
    std::atomic<int> lock;        ///< descriptor plus one; 0: none
    std::atomic<pid_t> pid;       ///< of the process that opened it: a fork only inherits it
    std::atomic<uint64_t> inode;  ///< of the lock: programs close descriptors that are not theirs
};
Held table[most_descriptors];

enum class Mode { not_asked, off, on };
std::atomic<Mode> mode{Mode::not_asked};
char copies[PATH_MAX];   ///< the folder of the copies
char around[PATH_MAX];   ///< the one that it lies in: nothing there is the program's
char working[PATH_MAX];  ///< the one whose files are copied

const char* environment(const char* name) {
    return getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
}

/// Whether copies are asked for. Two threads may find it out at once, and find the same.
bool on() {
    if (mode.load(std::memory_order_acquire) != Mode::not_asked) {
        return mode.load(std::memory_order_relaxed) == Mode::on;
    }
    const char* to = environment("TAILRACE_CLOSES");
    const char* of = environment("TAILRACE_CLOSES_OF");
    Mode found = Mode::off;
    if (to != nullptr && of != nullptr && realpath(to, copies) != nullptr &&
        realpath(of, working) != nullptr) {
        snprintf(around, sizeof around, "%s", copies);
        char* end = strrchr(around, '/');
        if (end != nullptr) *end = '\0';
        found = Mode::on;
    }
    mode.store(found, std::memory_order_release);
    return found == Mode::on;
}

/// Whether the name can be read; else it is an address that is none, which the call refuses.
bool is_name(int folder, const char* path) {
    return faccessat(folder, path, F_OK, 0) == 0 || errno != EFAULT;
}

bool below(const char* path, const char* folder) {
    const size_t bytes = strlen(folder);
    return strncmp(path, folder, bytes) == 0 && path[bytes] == '/';
}

Held* held(int fd) { return fd >= 0 && fd < most_descriptors ? &table[fd] : nullptr; }

uint64_t inode_of(int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/// The lock of a descriptor that this process opened, -1: there is none.
int lock_of(const Held& at) {
    const int lock = at.lock.load() - 1;
    return lock >= 0 && at.pid.load() == getpid() && inode_of(lock) == at.inode.load() ? lock : -1;
}

bool share(int lock) {
    int failed = flock(lock, LOCK_SH);
    while (failed != 0 && errno == EINTR) failed = flock(lock, LOCK_SH);
    return failed == 0;
}

/// Keeps the lock of a descriptor; lets go of it where there is no place.
void keep(int fd, int lock) {
    Held* at = held(fd);
    if (at == nullptr) {
        real::close(lock);
        return;
    }
    const int old = lock_of(*at);  // of a descriptor that was closed where nobody saw it
    if (old >= 0) real::close(old);
    at->pid.store(getpid());
    at->inode.store(inode_of(lock));
    at->lock.store(lock + 1);
}

/// What tells that a file was written. Beside its copies it stands as a line, with the number of
/// closes and that of the copies; then comes its path.
struct State {
    int64_t bytes = -1;
    int64_t changed_ns = 0;
    uint64_t inode = 0;
    unsigned closes = 0;
    unsigned copies = 0;
    unsigned settled = 0;  ///< whoever writes from now on leaves another time of change

    bool is(const State& other) const {
        return bytes == other.bytes && changed_ns == other.changed_ns && inode == other.inode;
    }
};

State state_of(const struct stat& status) {
    State state;
    state.bytes = status.st_size;
    state.changed_ns = status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
    state.inode = status.st_ino;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ns = now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
    state.settled = now_ns - state.changed_ns > tick_ns ? 1 : 0;
    return state;
}

void write_state(int lock, const State& state) {
    char line[line_bytes + 1];
    snprintf(line, sizeof line, "%20lld %20lld %20llu %10u %10u %u\n",
             static_cast<long long>(state.bytes), static_cast<long long>(state.changed_ns),
             static_cast<unsigned long long>(state.inode), state.closes, state.copies,
             state.settled);
    if (real::pwrite(lock, line, strlen(line), 0) < 0) return;  // then it is copied once more
}

/// What stands there, and the path behind it; false where the line is not whole.
bool read_state(int lock, State& state, char (&path)[PATH_MAX]) {
    char text[line_bytes + PATH_MAX];
    const ssize_t got = real::pread(lock, text, sizeof text - 1, 0);
    if (got <= 0) return false;
    text[got] = '\0';
    char* end = strchr(text, '\n');
    if (end == nullptr) return false;
    long long bytes = 0;
    long long changed = 0;
    unsigned long long inode = 0;
    // NOLINTNEXTLINE(cert-err34-c): our own numbers
    const int numbers = sscanf(text, "%lld %lld %llu %u %u %u", &bytes, &changed, &inode,
                               &state.closes, &state.copies, &state.settled);
    state.bytes = bytes;
    state.changed_ns = changed;
    state.inode = inode;
    snprintf(path, sizeof path, "%s", end + 1);
    return numbers == 6;
}

/// Descriptor of the file whose lock stands for `path`; -1: none. Who makes it notes what is there
/// before anybody writes: it gets its name when all of that stands in it.
int lock_file(const char* path) {
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s/%016llx", copies,
             static_cast<unsigned long long>(spooling::hash_of(path)));
    int lock = real::open(name, O_RDWR | O_CLOEXEC, 0);
    if (lock >= 0) return lock;
    char draft[PATH_MAX + 96];
    snprintf(draft, sizeof draft, "%s-%d-%llx", name, getpid(),
             static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(draft)));
    lock = real::open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock < 0) return -1;
    struct stat status {};
    State state;
    if (stat(path, &status) == 0) state = state_of(status);
    write_state(lock, state);
    const auto length = static_cast<ssize_t>(strlen(path));
    const bool whole = real::pwrite(lock, path, strlen(path), line_bytes) == length;
    const bool named = whole && link(draft, name) == 0;
    real::unlink(draft);
    if (named) return lock;
    real::close(lock);
    return real::open(name, O_RDWR | O_CLOEXEC, 0);
}

bool copy_bytes(int from, int to, uint64_t bytes) {
    if (ioctl(to, FICLONE, from) == 0) return true;
    constexpr size_t piece = size_t{1} << 18;
    char* buffer = static_cast<char*>(malloc(piece));
    uint64_t at = 0;
    while (buffer != nullptr && at < bytes) {
        const ssize_t got = real::pread(from, buffer, piece, static_cast<off_t>(at));
        if (got <= 0) break;
        const auto count = static_cast<size_t>(got);
        if (real::pwrite(to, buffer, count, static_cast<off_t>(at)) != got) break;
        at += count;
    }
    free(buffer);
    return at == bytes;
}

bool has_room(int file, uint64_t bytes) {
    struct statvfs system {};
    return fstatvfs(file, &system) == 0 &&
           system.f_bavail * uint64_t{system.f_frsize} > 2 * bytes + spare_bytes;
}

/// The number of the copy is that of the close.
bool copy(const char* path, int lock, const State& state) {
    if (state.copies >= most_copies || !has_room(lock, static_cast<uint64_t>(state.bytes))) {
        return false;
    }
    const int from = real::open(path, O_RDONLY | O_CLOEXEC, 0);
    if (from < 0) return false;
    char name[PATH_MAX + 64];
    snprintf(name, sizeof name, "%s/%016llx.%u", copies,
             static_cast<unsigned long long>(spooling::hash_of(path)), state.closes);
    const int to = real::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool good = to >= 0 && copy_bytes(from, to, static_cast<uint64_t>(state.bytes));
    if (to >= 0) real::close(to);
    real::close(from);
    if (!good && to >= 0) real::unlink(name);
    return good;
}

void copy_if_changed(int lock) {
    State before;
    char path[PATH_MAX];
    if (!read_state(lock, before, path)) return;
    struct stat status {};
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return;
    State now = state_of(status);
    if (before.settled != 0 && now.is(before)) return;
    now.closes = before.closes + 1;
    now.copies = before.copies;
    if (copy(path, lock, now)) ++now.copies;
    write_state(lock, now);
}

}  // namespace

WriteOpen::WriteOpen(int folder, const char* path, int flags) : x_lock(-1) {
    if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_TMPFILE) == O_TMPFILE || path == nullptr) {
        return;
    }
    const int error = errno;
    char* full = on() && is_name(folder, path) ? spooling::absolute_in(folder, path) : nullptr;
    if (full != nullptr && below(full, working) && !below(full, around) &&
        wanted(full, true, copies)) {
        x_lock = lock_file(full);
        if (x_lock >= 0 && !share(x_lock)) {
            real::close(x_lock);
            x_lock = -1;
        }
    }
    free(full);
    errno = error;
}

WriteOpen::~WriteOpen() {
    if (x_lock < 0) return;
    const int error = errno;
    real::close(x_lock);
    errno = error;
}

void WriteOpen::made(int fd) {
    if (fd < 0 || x_lock < 0) return;
    keep(fd, x_lock);
    x_lock = -1;
}

WriteClose::WriteClose(int fd) : x_lock(-1) {
    Held* at = held(fd);
    if (at == nullptr || at->lock.load(std::memory_order_relaxed) == 0) return;
    const int error = errno;
    x_lock = lock_of(*at);
    if (x_lock >= 0) at->lock.store(0);
    errno = error;
}

WriteClose::~WriteClose() {
    if (x_lock < 0) return;
    const int error = errno;
    if (flock(x_lock, LOCK_EX | LOCK_NB) == 0) {
        copy_if_changed(x_lock);
        flock(x_lock, LOCK_UN);  // a fork may hold it too
    }
    real::close(x_lock);
    errno = error;
}

void opened_too(int from, int to) {
    const Held* at = held(from);
    if (at == nullptr || at->lock.load(std::memory_order_relaxed) == 0) return;
    const int error = errno;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", lock_of(*at));
    const int lock = real::open(name, O_RDWR | O_CLOEXEC, 0);  // one of its own
    if (lock >= 0 && share(lock)) {
        keep(to, lock);
    } else if (lock >= 0) {
        real::close(lock);
    }
    errno = error;
}

}  // namespace tailrace::hooks::posix_profile
