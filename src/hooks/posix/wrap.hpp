// SPDX-License-Identifier: Apache-2.0
// How a function of libc is defined here without meeting its declaration in a header.
#pragma once

/// Defines the exported C symbol `name`. The C++ name differs, so that attributes, redirections
/// (_FILE_OFFSET_BITS) and fortified inlines of the system headers do not apply. Not noexcept:
/// thread cancellation unwinds through these frames.
#define TAILRACE_WRAP(result, name, arguments)              \
    extern "C" __attribute__((visibility("default"), used)) \
    result tailrace_wrap_##name arguments __asm__(#name);   \
    extern "C" result tailrace_wrap_##name arguments
