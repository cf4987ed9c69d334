// SPDX-License-Identifier: Apache-2.0
// Opening, closing, copying, seeking, syncing and mapping of descriptors.
#include "hooks/posix_profile/closes.hpp"
#include "hooks/posix_profile/more.hpp"

namespace posix_profile = tailrace::hooks::posix_profile;
namespace real = tailrace::hooks::posix::real;
namespace more = tailrace::hooks::posix_profile::more;
namespace session = tailrace::hooks::session;
using posix_profile::calls;
using posix_profile::Other;
using posix_profile::streams;
using posix_profile::timed;
using posix_profile::tracked;
using tailrace::hooks::Took;

namespace {

bool recording() { return !session::inside() && session::on(); }

template <typename Make>
int opens(int folder, const char* path, int flags, Make&& make) {
    posix_profile::WriteOpen write_open(folder, path, flags);
    const int made = timed(recording(), make, [&](int fd, Took took) {
        if (fd >= 0) posix_profile::opened(fd, flags, calls, took);
        if (fd == -1) posix_profile::not_opened(folder, path, flags, calls, took);
    });
    write_open.made(made);
    return made;
}

/// The file gets its name from the call. Nobody else has it, so that its copy can begin afterwards.
template <typename Make>
int makes(char* name, int flags, Make&& make) {
    const int made = timed(recording(), make, [&](int fd, Took took) {
        if (fd >= 0) posix_profile::opened(fd, flags, calls, took);
    });
    if (made >= 0) posix_profile::WriteOpen(AT_FDCWD, name, flags).made(made);
    return made;
}

template <typename Make>
auto notes(int fd, Other what, Make&& make) {
    return timed(tracked(fd), make, [&](auto result, Took took) {
        if (result >= 0) posix_profile::other(fd, calls, what, took);
    });
}

template <typename Make>
int copies(int from, Make&& make) {
    const int to = make();
    if (to >= 0 && to != from && recording()) posix_profile::copied(from, to);
    if (to >= 0 && to != from) posix_profile::opened_too(from, to);
    return to;
}

}  // namespace

#define TAILRACE_OPEN(name)                                                                 \
    TAILRACE_WRAP(int, name, (const char* path, int flags, ...)) {                          \
        TAILRACE_TAKE_MODE(flags)                                                           \
        return opens(AT_FDCWD, path, flags, [&] { return real::name(path, flags, mode); }); \
    }
#define TAILRACE_OPENAT(name)                                                                     \
    TAILRACE_WRAP(int, name, (int folder, const char* path, int flags, ...)) {                    \
        TAILRACE_TAKE_MODE(flags)                                                                 \
        return opens(folder, path, flags, [&] { return real::name(folder, path, flags, mode); }); \
    }
#define TAILRACE_OPENS(name, folder, flags, parameters, arguments)               \
    TAILRACE_WRAP(int, name, parameters) {                                       \
        return opens(folder, path, flags, [&] { return real::name arguments; }); \
    }
#define TAILRACE_NOTES(result, from, name, what, parameters, arguments)      \
    TAILRACE_WRAP(result, name, parameters) {                                \
        return notes(fd, Other::what, [&] { return from::name arguments; }); \
    }

TAILRACE_OPEN(open)
TAILRACE_OPEN(open64)
TAILRACE_OPENAT(openat)
TAILRACE_OPENAT(openat64)
TAILRACE_OPENS(__open_2, AT_FDCWD, flags, (const char* path, int flags), (path, flags))
TAILRACE_OPENS(__open64_2, AT_FDCWD, flags, (const char* path, int flags), (path, flags))
TAILRACE_OPENS(__openat_2, folder, flags, (int folder, const char* path, int flags),
               (folder, path, flags))
TAILRACE_OPENS(__openat64_2, folder, flags, (int folder, const char* path, int flags),
               (folder, path, flags))
TAILRACE_OPENS(creat, AT_FDCWD, O_CREAT | O_WRONLY, (const char* path, unsigned mode), (path, mode))
TAILRACE_OPENS(creat64, AT_FDCWD, O_CREAT | O_WRONLY, (const char* path, unsigned mode),
               (path, mode))

#define TAILRACE_MAKES(name, flags, parameters, arguments)                          \
    TAILRACE_WRAP(int, name, parameters) {                                          \
        return makes(path, O_RDWR | (flags), [&] { return more::name arguments; }); \
    }
TAILRACE_MAKES(mkstemp, 0, (char* path), (path))
TAILRACE_MAKES(mkstemp64, 0, (char* path), (path))
TAILRACE_MAKES(mkostemp, flags, (char* path, int flags), (path, flags))
TAILRACE_MAKES(mkostemp64, flags, (char* path, int flags), (path, flags))
TAILRACE_MAKES(mkstemps, 0, (char* path, int tail), (path, tail))
TAILRACE_MAKES(mkstemps64, 0, (char* path, int tail), (path, tail))
TAILRACE_MAKES(mkostemps, flags, (char* path, int tail, int flags), (path, tail, flags))
TAILRACE_MAKES(mkostemps64, flags, (char* path, int tail, int flags), (path, tail, flags))

TAILRACE_WRAP(int, close, (int fd)) {
    const posix_profile::WriteClose write_close(fd);
    const bool below_stream = tracked(fd, streams);  // afterwards the number may be another's
    return timed(
        tracked(fd), [&] { return real::close(fd); },
        [&](int result, Took took) {
            if (result != 0 && errno == EBADF) return;
            posix_profile::closed(fd, calls, took);
            if (below_stream) posix_profile::closed(fd, streams, took);
        });
}

TAILRACE_WRAP(int, dup, (int fd)) {
    return copies(fd, [&] { return more::dup(fd); });
}
TAILRACE_WRAP(int, dup2, (int fd, int to)) {
    if (fd == to) return more::dup2(fd, to);
    const posix_profile::WriteClose write_close(to);
    return copies(fd, [&] { return more::dup2(fd, to); });
}
TAILRACE_WRAP(int, dup3, (int fd, int to, int flags)) {
    if (fd == to) return more::dup3(fd, to, flags);
    const posix_profile::WriteClose write_close(to);
    return copies(fd, [&] { return more::dup3(fd, to, flags); });
}

// The third argument is a number or an address: both are passed alike.
#define TAILRACE_FCNTL(name)                                               \
    TAILRACE_WRAP(int, name, (int fd, int command, ...)) {                 \
        va_list values;                                                    \
        va_start(values, command);                                         \
        void* value = va_arg(values, void*);                               \
        va_end(values);                                                    \
        if (command != F_DUPFD && command != F_DUPFD_CLOEXEC)              \
            return more::name(fd, command, value);                         \
        return copies(fd, [&] { return more::name(fd, command, value); }); \
    }
TAILRACE_FCNTL(fcntl)
TAILRACE_FCNTL(fcntl64)

TAILRACE_NOTES(off_t, more, lseek, seek, (int fd, off_t offset, int from), (fd, offset, from))
TAILRACE_NOTES(int64_t, more, lseek64, seek, (int fd, int64_t offset, int from), (fd, offset, from))
TAILRACE_NOTES(int, real, fsync, sync, (int fd), (fd))
TAILRACE_NOTES(int, real, fdatasync, sync, (int fd), (fd))

// What is then done with the memory is seen by nobody; that there is a map is.
#define TAILRACE_MAP(name, offset_t)                                                         \
    TAILRACE_WRAP(                                                                           \
        intptr_t, name,                                                                      \
        (void* address, size_t bytes, int protection, int flags, int fd, offset_t offset)) { \
        return timed(                                                                        \
            fd >= 0 && tracked(fd),                                                          \
            [&] { return more::name(address, bytes, protection, flags, fd, offset); },       \
            [&](intptr_t result, Took took) {                                                \
                if (result != -1) posix_profile::other(fd, calls, Other::map, took);         \
            });                                                                              \
    }
TAILRACE_MAP(mmap, off_t)
TAILRACE_MAP(mmap64, int64_t)
