// SPDX-License-Identifier: Apache-2.0
#include "server/frontend/writer_thread.hpp"

#include <pthread.h>

#include <utility>

#include "core/cpu_time.hpp"
#include "core/phases.hpp"

namespace tailrace::server {

WriterThread::WriterThread() : x_thread([this] { run(); }) {}

WriterThread::~WriterThread() {
    {
        const std::lock_guard lock(x_mutex);
        x_end = true;
        x_tasks.clear();
    }
    x_wake.notify_one();
    x_thread.join();
}

void WriterThread::post(std::uint64_t collection, Item item, std::function<void()> task) {
    {
        const std::lock_guard lock(x_mutex);
        x_tasks.push_back({collection, item, std::move(task)});
    }
    x_wake.notify_one();
}

std::vector<Done> WriterThread::take() {
    const std::lock_guard lock(x_mutex);
    if (x_broken) std::rethrow_exception(x_broken);
    return std::exchange(x_done, {});
}

bool WriterThread::moves() {
    clockid_t clock{};
    if (pthread_getcpuclockid(x_thread.native_handle(), &clock) != 0) return true;
    const double used_s = core::cpu_seconds(clock);
    const double before_s = std::exchange(x_used_s, used_s);
    const std::lock_guard lock(x_mutex);
    return !x_busy || used_s > before_s;
}

void WriterThread::run() {
    std::unique_lock lock(x_mutex);
    for (;;) {
        x_wake.wait(lock, [this] { return x_end || (!x_tasks.empty() && !x_broken); });
        if (x_end) return;
        Task task = std::move(x_tasks.front());
        x_tasks.pop_front();
        x_busy = true;
        lock.unlock();
        std::optional<core::Error> error;
        std::exception_ptr broken;
        try {
            task.run();
        } catch (const core::Error& thrown) {
            error = thrown;
        } catch (...) {
            broken = std::current_exception();
        }
        const double ended_s = core::now_s();
        task.run = {};  // lets go of its memory before it is said to have ended
        lock.lock();
        x_busy = false;
        x_broken = broken;
        if (!broken) x_done.push_back({task.collection, task.item, std::move(error), ended_s});
    }
}

}  // namespace tailrace::server
