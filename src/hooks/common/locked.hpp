// SPDX-License-Identifier: Apache-2.0
// A lock for a few lines that call nothing that waits. An atomic flag and not a mutex: a child that
// was forked while another thread held it can simply clear it (hooks/common/in_child.hpp).
#pragma once

#include <sched.h>

#include <atomic>

namespace tailrace::hooks {

/// Holds `flag` as long as it lives. Not to be nested for the same flag.
class Locked {
public:
    explicit Locked(std::atomic_flag& flag) : x_flag(flag) {
        while (x_flag.test_and_set(std::memory_order_acquire)) sched_yield();
    }
    ~Locked() { x_flag.clear(std::memory_order_release); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    std::atomic_flag& x_flag;
};

}  // namespace tailrace::hooks
