// SPDX-License-Identifier: Apache-2.0
// The C library's streams: fopen, fwrite and their kin. Their own reads and writes of descriptors
// happen inside the C library, where nobody sees them.
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/posix_profile/closes.hpp"
#include "hooks/posix_profile/more.hpp"

namespace posix_profile = tailrace::hooks::posix_profile;
namespace more = tailrace::hooks::posix_profile::more;
namespace session = tailrace::hooks::session;
namespace spool = tailrace::hooks::spool;
using posix_profile::Other;
using posix_profile::streams;
using posix_profile::timed;
using posix_profile::tracked;
using tailrace::hooks::Took;

namespace {

int descriptor_of(FILE* stream) {
    const int error = errno;
    const int fd = stream != nullptr ? fileno(stream) : -1;
    errno = error;
    return fd;
}

bool is_tracked(FILE* stream) { return tracked(descriptor_of(stream), streams); }

int flags_of(const char* mode) {
    const bool both = strchr(mode, '+') != nullptr;
    if (*mode == 'r') return both ? O_RDWR : O_RDONLY;
    return (both ? O_RDWR : O_WRONLY) | (*mode == 'a' ? O_APPEND : 0);
}

template <typename Make>
intptr_t opens(const char* path, const char* mode, Make&& make) {
    posix_profile::WriteOpen write_open(AT_FDCWD, path, flags_of(mode));
    const intptr_t made =
        timed(!session::inside() && session::on(), make, [&](intptr_t stream, Took took) {
            if (stream == 0)
                posix_profile::not_opened(AT_FDCWD, path, flags_of(mode), streams, took);
            if (stream == 0 || stream == -1) return;
            const int fd = descriptor_of(reinterpret_cast<FILE*>(stream));
            posix_profile::opened(fd, flags_of(mode), streams, took);
        });
    if (made != 0 && made != -1) write_open.made(descriptor_of(reinterpret_cast<FILE*>(made)));
    return made;
}

/// The stream leaves its file for another. Without a path it is the same file with another mode,
/// whose copies go on.
template <typename Make>
intptr_t reopens(const char* path, const char* mode, FILE* stream, Make&& make) {
    const int fd = descriptor_of(stream);
    const posix_profile::WriteClose write_close(path != nullptr ? fd : -1);
    return opens(path, mode, [&] {
        return timed(tracked(fd), make, [&](intptr_t, Took took) {
            const Took none{took.start_ns, took.start_ns};  // the time of the call is of the open
            posix_profile::closed(fd, streams, none);
            posix_profile::closed(fd, posix_profile::calls, none);
        });
    });
}

/// Where a stream stands after a call. That of a standard output that was given for appending does
/// not know that what it holds goes to the end of the file.
int64_t end_of(FILE* stream, int fd) {
    struct stat status {};
    const bool appends = fd == STDOUT_FILENO && (fcntl(fd, F_GETFL) & O_APPEND) != 0;
    if (!appends || fstat(fd, &status) != 0) return ftello(stream);
    return status.st_size + static_cast<int64_t>(__fpending(stream));
}

/// A call that moves `bytes(result)` bytes, up to where the stream stands afterwards.
template <typename Make, typename Bytes>
auto moves(FILE* stream, spool::Direction direction, const void* memory, Make&& make,
           Bytes&& bytes) {
    return timed(is_tracked(stream), make, [&](auto result, Took took) {
        const int error = errno;
        const int64_t moved = bytes(result);
        const int fd = descriptor_of(stream);
        const int64_t end = end_of(stream, fd);
        const int64_t start = moved >= 0 && end >= moved ? end - moved : -1;
        posix_profile::moved(fd, streams, {direction, start, moved, memory}, took);
        errno = error;
    });
}

template <typename Make>
int seeks(FILE* stream, Make&& make) {
    return timed(is_tracked(stream), make, [&](int result, Took took) {
        if (result == 0) {
            posix_profile::other(descriptor_of(stream), streams, Other::seek, took);
        }
    });
}

int prints(FILE* stream, int (*make)(FILE*, const char*, va_list), const char* format,
           va_list values) {
    return moves(
        stream, spool::writes, nullptr, [&] { return make(stream, format, values); },
        [](int result) { return static_cast<int64_t>(result); });
}

int print_plain(FILE* stream, const char* format, va_list values) {
    return more::vfprintf(stream, format, values);
}
int print_checked(FILE* stream, const char* format, va_list values) {
    return more::__vfprintf_chk(stream, 1, format, values);
}

}  // namespace

TAILRACE_WRAP(intptr_t, fopen, (const char* path, const char* mode)) {
    return opens(path, mode, [&] { return more::fopen(path, mode); });
}
TAILRACE_WRAP(intptr_t, fopen64, (const char* path, const char* mode)) {
    return opens(path, mode, [&] { return more::fopen64(path, mode); });
}
TAILRACE_WRAP(intptr_t, fdopen, (int fd, const char* mode)) {
    return timed(
        tracked(fd), [&] { return more::fdopen(fd, mode); },
        [&](intptr_t stream, Took took) {
            if (stream != 0 && stream != -1) posix_profile::made_stream(fd, took);
        });
}

TAILRACE_WRAP(intptr_t, freopen, (const char* path, const char* mode, FILE* stream)) {
    return reopens(path, mode, stream, [&] { return more::freopen(path, mode, stream); });
}
TAILRACE_WRAP(intptr_t, freopen64, (const char* path, const char* mode, FILE* stream)) {
    return reopens(path, mode, stream, [&] { return more::freopen64(path, mode, stream); });
}

TAILRACE_WRAP(int, fclose, (FILE * stream)) {
    const int fd = descriptor_of(stream);
    const posix_profile::WriteClose write_close(fd);
    return timed(
        tracked(fd), [&] { return more::fclose(stream); },
        [&](int, Took took) {
            posix_profile::closed(fd, streams, took);
            posix_profile::closed(fd, posix_profile::calls, took);
        });
}

#define TAILRACE_FMOVE(name, direction, parameters, arguments)                    \
    TAILRACE_WRAP(size_t, name, parameters) {                                     \
        return moves(                                                             \
            stream, spool::direction, data, [&] { return more::name arguments; }, \
            [&](size_t result) { return static_cast<int64_t>(result * size); });  \
    }
#define TAILRACE_FWRITE(name)                                                                 \
    TAILRACE_FMOVE(name, writes, (const void* data, size_t size, size_t count, FILE* stream), \
                   (data, size, count, stream))
#define TAILRACE_FREAD(name)                                                           \
    TAILRACE_FMOVE(name, reads, (void* data, size_t size, size_t count, FILE* stream), \
                   (data, size, count, stream))
// Programs built with _FORTIFY_SOURCE call these where the size is not a constant.
#define TAILRACE_FREAD_CHK(name)                                                       \
    TAILRACE_FMOVE(name, reads,                                                        \
                   (void* data, size_t room, size_t size, size_t count, FILE* stream), \
                   (data, room, size, count, stream))
#define TAILRACE_FPUTS(name)                                                                   \
    TAILRACE_WRAP(int, name, (const char* text, FILE* stream)) {                               \
        return moves(                                                                          \
            stream, spool::writes, text, [&] { return more::name(text, stream); },             \
            [&](int result) { return result < 0 ? -1 : static_cast<int64_t>(strlen(text)); }); \
    }
TAILRACE_FWRITE(fwrite)
TAILRACE_FWRITE(fwrite_unlocked)
TAILRACE_FREAD(fread)
TAILRACE_FREAD(fread_unlocked)
TAILRACE_FREAD_CHK(__fread_chk)
TAILRACE_FREAD_CHK(__fread_unlocked_chk)
TAILRACE_FPUTS(fputs)
TAILRACE_FPUTS(fputs_unlocked)

TAILRACE_WRAP(int, vfprintf, (FILE * stream, const char* format, va_list values)) {
    return prints(stream, print_plain, format, values);
}
TAILRACE_WRAP(int, fprintf, (FILE * stream, const char* format, ...)) {
    va_list values;
    va_start(values, format);
    const int result = prints(stream, print_plain, format, values);
    va_end(values);
    return result;
}
TAILRACE_WRAP(int, __fprintf_chk, (FILE * stream, int, const char* format, ...)) {
    va_list values;
    va_start(values, format);
    const int result = prints(stream, print_checked, format, values);
    va_end(values);
    return result;
}
TAILRACE_WRAP(int, __vfprintf_chk, (FILE * stream, int, const char* format, va_list values)) {
    return prints(stream, print_checked, format, values);
}

TAILRACE_WRAP(int, fseek, (FILE * stream, long offset, int from)) {
    return seeks(stream, [&] { return more::fseek(stream, offset, from); });
}
TAILRACE_WRAP(int, fseeko, (FILE * stream, off_t offset, int from)) {
    return seeks(stream, [&] { return more::fseeko(stream, offset, from); });
}
TAILRACE_WRAP(int, fseeko64, (FILE * stream, int64_t offset, int from)) {
    return seeks(stream, [&] { return more::fseeko64(stream, offset, from); });
}
