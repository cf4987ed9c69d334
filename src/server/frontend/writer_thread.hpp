// SPDX-License-Identifier: Apache-2.0
// The thread beside a front end that writes what is complete, so that messages are taken meanwhile.
// It calls neither MPI nor a Channel.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "server/buffer/byte_queue.hpp"

namespace tailrace::server {

/// What became of a task.
struct Done {
    std::uint64_t collection = 0;
    Item item = 0;
    std::optional<core::Error> error{};
    double ended_s = 0;
};

class WriterThread {
public:
    WriterThread();
    ~WriterThread();  ///< what has not begun is left out; waits for what has
    WriterThread(const WriterThread&) = delete;
    WriterThread& operator=(const WriterThread&) = delete;

    /// Tasks run one after the other; a core::Error that one throws is its result.  [local]
    void post(std::uint64_t collection, Item item, std::function<void()> task);
    /// What has ended since the last call.  [local]
    /// @throws what a task has thrown that is no core::Error; no task runs after it
    [[nodiscard]] std::vector<Done> take();
    /// Whether it has nothing to do, or has used the processor since the last call.  [local]
    [[nodiscard]] bool moves();

private:
    struct Task {
        std::uint64_t collection;
        Item item;
        std::function<void()> run;
    };
    void run();

    std::mutex x_mutex;
    std::condition_variable x_wake;
    std::deque<Task> x_tasks;
    std::vector<Done> x_done;
    std::exception_ptr x_broken;
    bool x_end = false, x_busy = false;
    double x_used_s = 0;   // of the processor, as moves() last saw it
    std::thread x_thread;  // last: it uses the others
};

}  // namespace tailrace::server
