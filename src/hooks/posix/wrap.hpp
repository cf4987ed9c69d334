// SPDX-License-Identifier: Apache-2.0
// How a function of libc is defined here without meeting its declaration in a header.
#pragma once

#include <fcntl.h>
#include <stdarg.h>

/// Defines the exported C symbol `name`. The C++ name differs, so that attributes, redirections
/// (_FILE_OFFSET_BITS) and fortified inlines of the system headers do not apply. Not noexcept:
/// thread cancellation unwinds through these frames.
#define TAILRACE_WRAP(result, name, arguments)              \
    extern "C" __attribute__((visibility("default"), used)) \
    result tailrace_wrap_##name arguments __asm__(#name);   \
    extern "C" result tailrace_wrap_##name arguments

/// `mode`, which is there only with flags that make a file.
#define TAILRACE_TAKE_MODE(flags)                  \
    unsigned mode = 0;                             \
    if (tailrace::hooks::posix::has_mode(flags)) { \
        va_list values;                            \
        va_start(values, flags);                   \
        mode = va_arg(values, unsigned);           \
        va_end(values);                            \
    }

namespace tailrace::hooks::posix {

inline bool has_mode(int flags) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace tailrace::hooks::posix
