// SPDX-License-Identifier: Apache-2.0
// Ends a test case that takes too long, and shows first where every thread stands.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tailrace::test {

/// A deadline per test case, kept by a thread of its own. When it passes, the stacks of all threads
/// go to standard error (by gdb where it is installed, else the main thread's only) and the process
/// ends with status 124.
class Watchdog {
public:
    /// @param tag      stands before every line, as "[rank 2]"
    /// @param seconds  per case; 0 switches the watchdog off
    /// @param linger_s how long to wait before ending: other ranks print too, and a launcher kills
    ///                 them as soon as one has ended
    Watchdog(std::string tag, int seconds, int linger_s);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    void start(const std::string& what);  ///< begins the time of one case  [local]
    void stop();                          ///< the case ended  [local]

private:
    void run();
    void bark() const;

    std::string x_tag;
    std::chrono::seconds x_limit;
    std::chrono::seconds x_linger;
    std::mutex x_mutex;
    std::condition_variable x_changed;
    std::string x_what;
    std::chrono::steady_clock::time_point x_deadline;
    bool x_armed = false;
    bool x_runs = false;
    bool x_quit = false;
    std::thread x_thread;
};

/// Seconds per case, from TAILRACE_TEST_CASE_SECONDS (set by CTest); 60 without it.  [local]
[[nodiscard]] int case_seconds();

}  // namespace tailrace::test
