// SPDX-License-Identifier: Apache-2.0
// Descriptors that a process has from whoever started it: of `program > file` a shell opens the
// file, and the program writes it.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks/posix_profile/recorder.hpp"

namespace tailrace::hooks::posix_profile {
namespace {

static_assert(offsetof(dirent, d_name) == 19, "entries are as the kernel gives them");

/// Past the C library, which would allocate memory for it.
template <typename Visit>
void each_descriptor(Visit&& visit) {
    const long folder =
        syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    alignas(dirent) char entries[4096];
    for (;;) {
        const long bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (bytes <= 0) break;
        for (long at = 0; at < bytes;) {
            const auto* entry = reinterpret_cast<const dirent*>(entries + at);
            if (entry->d_name[0] != '.') visit(atoi(entry->d_name));
            at += entry->d_reclen;
        }
    }
    syscall(SYS_close, folder);
}

/// What was opened for this process alone, by libraries that were there before us, was seen. To its
/// standard error a program writes messages, also in signal handlers, where no spool is to begin.
bool may_be_data(int fd) {
    const int flags = fcntl(fd, F_GETFD);
    return flags != -1 && (flags & FD_CLOEXEC) == 0 && fd != STDERR_FILENO;
}

/// When the hook is loaded: what the program does with its descriptors comes afterwards.
__attribute__((constructor)) void take_what_is_given() {
    const int error = errno;
    if (session::on()) {
        each_descriptor([](int fd) {
            if (may_be_data(fd)) given(fd);
        });
    }
    errno = error;
}

}  // namespace
}  // namespace tailrace::hooks::posix_profile
