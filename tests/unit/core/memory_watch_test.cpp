// SPDX-License-Identifier: Apache-2.0
#include "core/memory_watch.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>

using namespace tailrace::core;

TEST_CASE("memory: what a process takes is seen while it has it, and its peak afterwards") {
    constexpr std::uint64_t most = 64 << 20;
    const std::array processes{static_cast<int>(::getpid())};
    const std::uint64_t idle = pss_bytes(processes).value_or(0);
    REQUIRE(idle > 0);
    MemoryWatch watch({processes.begin(), processes.end()}, 0.001);
    {
        const std::vector<std::byte> held(most, std::byte{1});
        const std::uint64_t now = pss_bytes(processes).value_or(0);
        CHECK(now >= idle + most - (1 << 20));
        while (watch.seen().peak_bytes < now)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(pss_bytes(processes).value_or(most) < idle + most / 2);
    CHECK(watch.seen().peak_bytes >= idle + most - (1 << 20));
    CHECK(watch.seen().samples > 1);
}

TEST_CASE("memory: of a process that is not there nothing is known") {
    const std::array processes{static_cast<int>(::getpid()), 1 << 30};
    CHECK(!pss_bytes(processes).has_value());
}
