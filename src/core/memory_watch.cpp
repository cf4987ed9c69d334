// SPDX-License-Identifier: Apache-2.0
#include "core/memory_watch.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

namespace tailrace::core {

std::optional<std::uint64_t> pss_bytes(std::span<const int> processes) {
    std::uint64_t sum = 0;
    for (const int process : processes) {
        std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
        std::optional<std::uint64_t> kilobytes;
        for (std::string word; !kilobytes && file >> word;)
            if (std::uint64_t number = 0; word == "Pss:" && file >> number) kilobytes = number;
        if (!kilobytes) return std::nullopt;
        sum += *kilobytes * 1024;
    }
    return sum;
}

MemoryWatch::MemoryWatch(std::vector<int> processes, double every_s)
    : x_processes(std::move(processes)), x_every_s(every_s), x_thread([this] { run(); }) {}

MemoryWatch::~MemoryWatch() {
    {
        const std::lock_guard lock(x_mutex);
        x_end = true;
    }
    x_wake.notify_one();
    x_thread.join();
}

MemoryWatch::Seen MemoryWatch::seen() const {
    const std::lock_guard lock(x_mutex);
    return x_seen;
}

void MemoryWatch::look() {
    const auto bytes = pss_bytes(x_processes);
    const std::lock_guard lock(x_mutex);
    if (!bytes) return;
    x_seen.peak_bytes = std::max(x_seen.peak_bytes, *bytes);
    ++x_seen.samples;
}

void MemoryWatch::run() {
    const auto every = std::chrono::duration<double>(x_every_s);
    std::unique_lock lock(x_mutex);
    while (!x_end) {
        lock.unlock();
        look();
        lock.lock();
        x_wake.wait_for(lock, every, [this] { return x_end; });
    }
}

}  // namespace tailrace::core
