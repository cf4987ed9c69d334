// SPDX-License-Identifier: Apache-2.0
// POSIX asynchronous I/O. The C library makes these reads and writes from threads of its own, past
// every wrapper: a request counts when it is posted, with the bytes that it asks for.
#include <aio.h>
#include <signal.h>

#include "hooks/posix_profile/more.hpp"

namespace posix_profile = tailrace::hooks::posix_profile;
namespace real = tailrace::hooks::posix::real;
namespace spool = tailrace::hooks::spool;
using posix_profile::timed;
using posix_profile::tracked;
using tailrace::hooks::Took;

namespace {

void note(const aiocb& request, bool writes, bool good, Took took) {
    if (!tracked(request.aio_fildes)) return;
    const void* memory = const_cast<const void*>(request.aio_buf);
    posix_profile::moved(request.aio_fildes, posix_profile::calls,
                         {writes ? spool::writes : spool::reads, request.aio_offset,
                          good ? static_cast<int64_t>(request.aio_nbytes) : -1, memory},
                         took);
}

template <typename Make>
int posts(const aiocb* request, bool writes, Make&& make) {
    return timed(request != nullptr && tracked(request->aio_fildes), make,
                 [&](int result, Took took) { note(*request, writes, result == 0, took); });
}

template <typename Make>
int posts_list(int mode, const aiocb* const* list, int count, Make&& make) {
    // Of a mode that is none the C library does not read the list.
    const bool is_read = list != nullptr && (mode == LIO_WAIT || mode == LIO_NOWAIT);
    bool any = false;
    for (int at = 0; is_read && at < count; ++at)
        any = any || (list[at] != nullptr && tracked(list[at]->aio_fildes));
    return timed(any, make, [&](int result, Took took) {
        const int error = errno;
        // With EIO all were made, and one of them failed.
        const bool good = result == 0 || error == EIO;
        for (int at = 0; at < count; ++at) {
            if (list[at] == nullptr) continue;
            const int asked = list[at]->aio_lio_opcode;
            if (asked != LIO_READ && asked != LIO_WRITE) continue;
            note(*list[at], asked == LIO_WRITE, good, took);
            took.start_ns = took.end_ns;  // the time of the call counts once
        }
        errno = error;
    });
}

}  // namespace

#define TAILRACE_AIO(write_name, read_name, list_name)                                          \
    TAILRACE_WRAP(int, write_name, (aiocb * request)) {                                         \
        return posts(request, true, [&] { return real::write_name(request); });                 \
    }                                                                                           \
    TAILRACE_WRAP(int, read_name, (aiocb * request)) {                                          \
        return posts(request, false, [&] { return real::read_name(request); });                 \
    }                                                                                           \
    TAILRACE_WRAP(int, list_name, (int mode, aiocb* const* list, int count, sigevent* event)) { \
        return posts_list(mode, list, count,                                                    \
                          [&] { return real::list_name(mode, list, count, event); });           \
    }
TAILRACE_AIO(aio_write, aio_read, lio_listio)
TAILRACE_AIO(aio_write64, aio_read64, lio_listio64)
