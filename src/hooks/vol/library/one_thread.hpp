// SPDX-License-Identifier: Apache-2.0
// Whether a single thread works with us. The lock that an HDF5 for several threads has is not ours
// to ask for: what is done outside of its calls only that thread may do.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include <atomic>

namespace tailrace::hooks::vol {

/// Threads are known by their number, which another one may have later: not while the first lives.
class OneThread {
public:
    /// This thread makes a call of ours: whether it is the first one of a second thread.  [local]
    bool is_second() {
        const auto self = static_cast<uint64_t>(pthread_self());
        uint64_t before = x_thread.load(std::memory_order_relaxed);
        if (before == self || before == several) return false;
        if (before == nobody && x_thread.compare_exchange_strong(before, self)) return false;
        return x_thread.exchange(several) != several;
    }
    /// What had to be done by a single one is over; that there were several is not forgotten.
    void forget() {
        if (!are_several()) x_thread.store(nobody);
    }
    /// A child that is forked has one thread.
    void begin_anew() { x_thread.store(nobody); }
    [[nodiscard]] bool are_several() const { return x_thread.load() == several; }
    /// Whether this thread has made all calls since then, and at least one.  [local]
    [[nodiscard]] bool is_this() const {
        return x_thread.load() == static_cast<uint64_t>(pthread_self());
    }

private:
    static constexpr uint64_t nobody = 0;
    static constexpr uint64_t several = ~uint64_t{0};
    std::atomic<uint64_t> x_thread{nobody};
};

}  // namespace tailrace::hooks::vol
