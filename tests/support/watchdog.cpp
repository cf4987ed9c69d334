// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tailrace::test {
namespace {

pthread_t main_thread;  // the one that runs the cases

void print_own_stack(int) {
    std::array<void*, 64> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

/// All threads by gdb; false where gdb is missing or may not attach.
bool print_stacks_with_gdb(const std::string& tag) {
    const std::string pid = std::to_string(getpid());
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return false;
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDERR_FILENO);
        dup2(nothing, STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        unsetenv("LD_PRELOAD");
        execlp("gdb", "gdb", "-q", "-nx", "-batch", "-p", pid.c_str(), "-ex",
               "set print frame-arguments scalars", "-ex", "thread apply all backtrace 40",
               nullptr);
        _exit(127);
    }
    prctl(PR_SET_PTRACER, child, 0, 0, 0);  // where ptrace is restricted to parents
    close(ends[1]);
    bool any = false;
    if (FILE* lines = fdopen(ends[0], "r")) {
        std::array<char, 1024> line{};
        while (fgets(line.data(), line.size(), lines)) {
            const std::string text = line.data();
            if (text.rfind("Thread ", 0) != 0 && text.rfind('#', 0) != 0) continue;
            any = true;
            std::fprintf(stderr, "%s %s", tag.c_str(), text.c_str());
        }
        std::fclose(lines);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return any;
}

}  // namespace

int case_seconds() {
    const char* text = std::getenv("TAILRACE_TEST_CASE_SECONDS");
    return text ? std::atoi(text) : 60;
}

Watchdog::Watchdog(std::string tag, int seconds, int linger_s)
    : x_tag(std::move(tag)), x_limit(seconds), x_linger(linger_s) {
    main_thread = pthread_self();
    if (seconds <= 0) return;
    x_thread = std::thread([this] { run(); });
    // A case may fork: a thread that is being started may hold the memory's lock under a sanitizer,
    // and the child would wait for it for ever.
    std::unique_lock lock(x_mutex);
    x_changed.wait(lock, [this] { return x_runs; });
}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(x_mutex);
        x_quit = true;
    }
    x_changed.notify_all();
    if (x_thread.joinable()) x_thread.join();
}

void Watchdog::start(const std::string& what) {
    {
        const std::lock_guard lock(x_mutex);
        x_what = what;
        x_deadline = std::chrono::steady_clock::now() + x_limit;
        x_armed = true;
    }
    x_changed.notify_all();
}

void Watchdog::stop() {
    {
        const std::lock_guard lock(x_mutex);
        x_armed = false;
    }
    x_changed.notify_all();
}

void Watchdog::run() {
    std::unique_lock lock(x_mutex);
    x_runs = true;
    x_changed.notify_all();
    while (!x_quit) {
        if (!x_armed) {
            x_changed.wait(lock);
        } else if (std::chrono::steady_clock::now() >= x_deadline) {
            bark();
        } else {
            x_changed.wait_until(lock, x_deadline);
        }
    }
}

void Watchdog::bark() const {
    std::fprintf(stderr, "%s watchdog: \"%s\" took more than %lld s; where its threads stand:\n",
                 x_tag.c_str(), x_what.c_str(), static_cast<long long>(x_limit.count()));
    if (!print_stacks_with_gdb(x_tag)) {
        std::fprintf(stderr, "%s (no gdb; the main thread only)\n", x_tag.c_str());
        struct sigaction action {};
        action.sa_handler = print_own_stack;
        sigaction(SIGUSR2, &action, nullptr);
        pthread_kill(main_thread, SIGUSR2);
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    std::fflush(stderr);
    std::this_thread::sleep_for(x_linger);
    _exit(124);
}

}  // namespace tailrace::test
