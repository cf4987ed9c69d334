// SPDX-License-Identifier: Apache-2.0
// The life of the interposer in a process: set up early, cleared in forked children, report at the
// end.
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "hooks/posix/faults.hpp"
#include "hooks/posix/real.hpp"
#include "hooks/posix/report.hpp"
#include "hooks/posix/tally.hpp"
#include "hooks/posix/transfer.hpp"
#include "hooks/posix/uring.hpp"
#include "hooks/posix/wrap.hpp"

namespace tailrace::hooks::posix {
namespace {

std::atomic<pid_t> owner{0};
std::atomic<bool> reported{false};

void clear_in_child() {
    reset_after_fork();
    forget_rings();
    held_files.store(0);
    owner.store(getpid());
    reported.store(false);
}

/// Once per process. A vfork child shares our memory but not our number: it must not report.
void report_once() {
    if (!active() || owner.load() != getpid() || reported.exchange(true)) return;
    write_report();
}

__attribute__((constructor(101))) void set_up() {
    find_all();
    find_whether_active();
    owner.store(getpid());
    pthread_atfork(nullptr, nullptr, clear_in_child);
    if (active()) (void)faults_active();  // a malformed rule is told now, not at some later call
}

__attribute__((destructor(101))) void tear_down() { report_once(); }

}  // namespace
}  // namespace tailrace::hooks::posix

namespace {
[[noreturn]] void leave(const char* name, int status) {
    tailrace::hooks::posix::report_once();
    using Exit = void (*)(int);
    auto* real_exit = reinterpret_cast<Exit>(tailrace::hooks::posix::find_next(name, nullptr));
    if (real_exit != nullptr) real_exit(status);
    __builtin_trap();
}
}  // namespace

TAILRACE_WRAP(void, _exit, (int status)) { leave("_exit", status); }
TAILRACE_WRAP(void, _Exit, (int status)) { leave("_Exit", status); }

/// For other hooks in the same process: from now on calls count under this phase.
extern "C" __attribute__((visibility("default"), used)) void tailrace_posix_enter_phase(
    const char* name) {
    using namespace tailrace::hooks::posix;
    set_current_phase(phase_index(name, static_cast<unsigned>(strlen(name))));
}
