// SPDX-License-Identifier: Apache-2.0
// What happens at each read and write of a descriptor. The functions themselves are those of the
// counting interposer (hooks/posix/wrap_transfer.cpp), which is compiled here once more.
#include "hooks/posix/transfer.hpp"

#include <unistd.h>

#include "hooks/posix_profile/more.hpp"

namespace tailrace::hooks::posix {

ssize_t observe(const Transfer& transfer) {
    using namespace posix_profile;
    return timed(
        tracked(transfer.fd), [&] { return transfer.make(transfer); },
        [&](ssize_t result, Took took) {
            const int error = errno;
            Moved what{transfer.writes ? spool::writes : spool::reads, -1, result, transfer.data};
            if (transfer.positioned && transfer.offset >= 0) {
                what.offset = transfer.offset;
            } else if (result >= 0) {
                const int64_t end = more::lseek64(transfer.fd, 0, SEEK_CUR);
                what.offset = end >= result ? end - result : -1;
            }
            // Refused, it may be an address that is none.
            if (transfer.vector) {
                what.memory = result >= 0 && transfer.length > 0
                                  ? static_cast<const iovec*>(transfer.data)->iov_base
                                  : nullptr;
            }
            moved(transfer.fd, calls, what, took);
            errno = error;
        });
}

}  // namespace tailrace::hooks::posix

namespace tailrace::hooks::posix_profile::more {
#define TAILRACE_REAL(result, name, arguments) constinit posix::Real<result arguments> name{#name};
#include "hooks/posix_profile/more_functions.def"
#undef TAILRACE_REAL
}  // namespace tailrace::hooks::posix_profile::more
