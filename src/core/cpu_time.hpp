// SPDX-License-Identifier: Apache-2.0
// Processor time, beside the clock on the wall of core/phases.hpp.
#pragma once

#include <ctime>

namespace tailrace::core {

inline double cpu_seconds(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
/// Of the calling thread, and of all threads of the process together.  [local]
inline double thread_cpu_s() noexcept { return cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }
inline double process_cpu_s() noexcept { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace tailrace::core
