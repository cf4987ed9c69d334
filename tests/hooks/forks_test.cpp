// SPDX-License-Identifier: Apache-2.0
// A fork while another thread reads the environment or the plan: the child does not wait for that
// thread, which it has not got.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "hooks/common/locked.hpp"
#include "hooks/common/session.hpp"
#include "hooks/vol/plan/plan.hpp"
#include "vol/recorded.hpp"

namespace {

using recorded::Folder;
using tailrace::hooks::session::Turn;
namespace session = tailrace::hooks::session;
namespace vol = tailrace::hooks::vol;

/// A variable that takes a process long to ask for, as a file on a slow disk would; nullptr: none.
std::atomic<const char*> slow{nullptr};
std::atomic<bool> waits{false};

constexpr int true_in_time = 7;

/// Forks while another thread does `work` and has come to `variable`, does it in the child, and
/// ends as that: with 14 (SIGALRM) where it never does.
[[noreturn]] void fork_meanwhile(const char* variable, const std::function<bool()>& work) {
    slow = variable;
    std::thread(work).detach();
    while (!waits) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        slow = nullptr;
        alarm(10);
        _exit(work() ? true_in_time : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/// The same in a process that is meant to run in `mode`: how it ended.
int forked_meanwhile(const char* mode, const char* variable, const std::function<bool()>& work) {
    const Folder folder;
    const std::string plan = (folder.path / "plan").string();
    std::ofstream(plan) << "no plan";
    const pid_t process = fork();
    if (process == 0) {
        setenv("TAILRACE_MODE", mode, 1);
        setenv("TAILRACE_PROFILE_DIR", folder.path.c_str(), 1);
        setenv("TAILRACE_PLAN", plan.c_str(), 1);
        setenv("OMPI_COMM_WORLD_RANK", "1", 1);  // the first one says that this is no plan
        fork_meanwhile(variable, work);
    }
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

/// For the hooks that are in this program: the C library's, but for `slow`.
extern "C" char* getenv(const char* name) noexcept {
    const char* const waited_for = slow;
    if (waited_for != nullptr && strcmp(name, waited_for) == 0) {
        waits = true;
        while (slow != nullptr) usleep(1000);
    }
    const size_t length = strlen(name);
    for (char** at = environ; at != nullptr && *at != nullptr; ++at)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
    return nullptr;
}

TEST_CASE("a child of a process that is still asking how it is meant to run asks anew") {
    const auto connector = [] {
        return vol::recorder::on() && recorded::open_file("/tmp/no such.h5") != nullptr;
    };
    const auto preloaded = [] { return session::on() && static_cast<bool>(Turn()); };
    CHECK(forked_meanwhile("record", "TAILRACE_MODE", connector) == true_in_time);
    CHECK(forked_meanwhile("record", "OMPI_COMM_WORLD_RANK", connector) == true_in_time);
    CHECK(forked_meanwhile("record", "TAILRACE_MODE", preloaded) == true_in_time);
    CHECK(forked_meanwhile("record", "TAILRACE_PROFILE_MIB", preloaded) == true_in_time);
}

TEST_CASE("a child of a process that is still reading the plan reads it anew") {
    const auto connector = [] {
        return vol::plan_of_process().empty() && vol::recorder::applying();
    };
    CHECK(forked_meanwhile("apply", "TAILRACE_PLAN", connector) == true_in_time);
}

TEST_CASE("a lock is held by one thread at a time") {
    constexpr int times = 200000;
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    volatile int counted = 0;  // not atomic: what the lock is for
    const auto count = [&] {
        for (int k = 0; k < times; ++k) {
            const tailrace::hooks::Locked held(flag);
            counted = counted + 1;
        }
    };
    std::thread other(count);
    count();
    other.join();
    CHECK(counted == 2 * times);
    CHECK_FALSE(flag.test_and_set());  // given back
}
