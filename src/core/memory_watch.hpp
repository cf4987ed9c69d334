// SPDX-License-Identifier: Apache-2.0
// Memory of several processes of this machine together, while they work. What they share counts
// once: the proportional set size (PSS) of /proc/PID/smaps_rollup.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace tailrace::core {

/// Nothing if one of them cannot be read: it has ended, or belongs to somebody else.  [local]
[[nodiscard]] std::optional<std::uint64_t> pss_bytes(std::span<const int> processes);

/// Looks again and again, in a thread of its own, as long as it lives.
class MemoryWatch {
public:
    struct Seen {
        std::uint64_t peak_bytes = 0, samples = 0;
    };
    MemoryWatch(std::vector<int> processes, double every_s);
    ~MemoryWatch();
    MemoryWatch(const MemoryWatch&) = delete;
    MemoryWatch& operator=(const MemoryWatch&) = delete;
    [[nodiscard]] Seen seen() const;  ///< so far  [local]

private:
    void look();
    void run();

    std::vector<int> x_processes;
    double x_every_s;
    mutable std::mutex x_mutex;
    std::condition_variable x_wake;
    bool x_end = false;
    Seen x_seen;
    std::thread x_thread;  // last: it uses the others
};

}  // namespace tailrace::core
