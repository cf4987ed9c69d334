// SPDX-License-Identifier: Apache-2.0
// Calls that move bytes from one descriptor to another within the kernel: of what is copied one
// file was read and the other written.
#include <unistd.h>

#include "hooks/posix_profile/more.hpp"

namespace posix_profile = tailrace::hooks::posix_profile;
namespace more = tailrace::hooks::posix_profile::more;
namespace spool = tailrace::hooks::spool;
using posix_profile::timed;
using posix_profile::tracked;
using tailrace::hooks::Took;

namespace {

/// One end of a copy. Where the call was given an offset it did not use that of the descriptor, and
/// has moved it on. Only what moved bytes has surely read it: it may be an address that is none.
void note(int fd, const int64_t* offset, spool::Direction direction, ssize_t result, Took took) {
    int64_t end = -1;
    if (offset == nullptr && result >= 0) end = more::lseek64(fd, 0, SEEK_CUR);
    if (offset != nullptr && result > 0) end = *offset;
    const int64_t start = end >= result ? end - result : -1;
    posix_profile::moved(fd, posix_profile::calls, {direction, start, result, nullptr}, took);
}

template <typename Make>
ssize_t copies(int in, const int64_t* in_offset, int out, const int64_t* out_offset, Make&& make) {
    if (!tracked(in) && !tracked(out)) return make();
    return timed(true, make, [&](ssize_t result, Took took) {
        const int error = errno;
        if (tracked(in)) note(in, in_offset, spool::reads, result, took);
        // At the end of the file nothing was there to be written.
        if (tracked(out) && result != 0) note(out, out_offset, spool::writes, result, took);
        errno = error;
    });
}

}  // namespace

#define TAILRACE_COPY(name)                                                                      \
    TAILRACE_WRAP(ssize_t, name,                                                                 \
                  (int in, int64_t* in_offset, int out, int64_t* out_offset, size_t bytes,       \
                   unsigned flags)) {                                                            \
        return copies(in, in_offset, out, out_offset,                                            \
                      [&] { return more::name(in, in_offset, out, out_offset, bytes, flags); }); \
    }
#define TAILRACE_SEND(name)                                                             \
    TAILRACE_WRAP(ssize_t, name, (int out, int in, int64_t* in_offset, size_t bytes)) { \
        return copies(in, in_offset, out, nullptr,                                      \
                      [&] { return more::name(out, in, in_offset, bytes); });           \
    }

TAILRACE_COPY(copy_file_range)
TAILRACE_COPY(splice)
static_assert(sizeof(off_t) == sizeof(int64_t));
TAILRACE_SEND(sendfile)
TAILRACE_SEND(sendfile64)
