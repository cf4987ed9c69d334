// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/session.hpp"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

namespace tailrace::hooks::session {
namespace {

enum class Mode { not_asked, off, record, apply };

std::atomic_flag busy = ATOMIC_FLAG_INIT;
std::atomic<Mode> mode{Mode::not_asked};
std::atomic<bool> forked{false};
std::atomic<pid_t> owner{0};
std::atomic<int64_t> start_ns{0};  ///< of this process, as far as it is known here
bool has_folder = false;
bool begun = false;
bool is_fork = false;
uint32_t now_generation = 0;
uint64_t most_bytes = 0;
char spool_folder[PATH_MAX];
spool::Writer spool_writer;
// Ours come before the program: there is room in its static block.
__thread __attribute__((tls_model("initial-exec"))) bool is_inside = false;

const char* environment(const char* name) {
    return getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
}

void lock() {
    for (unsigned tries = 0; busy.test_and_set(std::memory_order_acquire); ++tries) {
        if (tries > 64) sched_yield();
    }
}
void unlock() { busy.clear(std::memory_order_release); }

/// The spool begins after the first call that is recorded; times count from before it.
void set_back_the_start() {
    spool::Header& header = spool_writer.header();
    const int64_t late_ns = header.start_monotonic_ns - start_ns.load();
    if (late_ns <= 0) return;
    header.start_monotonic_ns -= late_ns;
    header.start_wall_ns -= late_ns;
}

bool begin() {
    begun = true;
    if (!spool_writer.begin(spool_folder, most_bytes, hook, is_fork)) {
        constexpr char line[] =
            "tailrace: nothing is recorded of a process: no file can be made in "
            "TAILRACE_PROFILE_DIR\n";
        spooling::to_standard_error(line, sizeof line - 1);
        return false;
    }
    set_back_the_start();
    spooling::describe_program(spool_writer);
    spool_writer.publish();
    return true;
}

void read_environment() {
    const char* asked = environment("TAILRACE_MODE");
    const char* where = environment("TAILRACE_PROFILE_DIR");
    Mode found = Mode::off;
    if (asked != nullptr && strcmp(asked, "record") == 0) found = Mode::record;
    if (asked != nullptr && strcmp(asked, "apply") == 0) found = Mode::apply;
    has_folder = found != Mode::off && where != nullptr && realpath(where, spool_folder) != nullptr;
    if (found == Mode::record && !has_folder) found = Mode::off;
    if (has_folder) {
        most_bytes = spooling::most_bytes();
        owner.store(getpid());
        start_ns.store(now());
    }
    mode.store(found, std::memory_order_release);
}

/// In a child: the parent's spool is left alone.
void move_over() {
    if (!forked.exchange(false)) return;
    is_fork = is_fork || begun;
    begun = false;
    spool_writer.forget();
    ++now_generation;
}

void mend_child() {
    if (mode.load() != Mode::not_asked) {  // else the child asks anew
        owner.store(getpid());
        start_ns.store(now());
        forked.store(true);
    }
    busy.clear();  // whoever held it stayed behind in the parent
}

/// When the hook is loaded, so before anything can be locked; what other libraries do in their
/// constructors may be recorded earlier.
__attribute__((constructor)) void watch_forks() {
    static std::atomic<bool> watching{false};
    if (!watching.exchange(true)) pthread_atfork(nullptr, nullptr, mend_child);
}

Mode asked() {
    if (mode.load(std::memory_order_acquire) == Mode::not_asked && !is_inside) {
        const int error = errno;
        is_inside = true;
        watch_forks();
        lock();
        if (mode.load() == Mode::not_asked) read_environment();
        unlock();
        is_inside = false;
        errno = error;
    }
    return mode.load(std::memory_order_relaxed);
}

}  // namespace

bool on() { return asked() == Mode::record; }
bool applying() { return asked() == Mode::apply; }

const char* folder() { return spool_folder; }

bool ours() { return on() && owner.load(std::memory_order_relaxed) == getpid(); }
bool inside() { return is_inside; }

Turn::Turn(bool outcomes) : x_errno(errno), x_open(false) {
    const Mode wanted = outcomes ? Mode::apply : Mode::record;
    if (is_inside || asked() != wanted) return;
    is_inside = true;
    lock();
    move_over();
    x_open = mode.load() == wanted && has_folder;
    if (x_open && !begun && !begin()) {
        has_folder = x_open = false;  // a plan goes on without a word about it
        if (!outcomes) mode.store(Mode::off);
    }
    if (!x_open) {
        unlock();
        is_inside = false;
    }
}

Turn::~Turn() {
    if (x_open) {
        spool_writer.publish();
        spool_writer.header().last_ns = spooling::relative(spool_writer, now());
        unlock();
        is_inside = false;
    }
    errno = x_errno;
}

spool::Writer& writer() { return spool_writer; }
uint32_t generation() { return now_generation; }

void widen(spool::Period& span, Took took) { spooling::widen(spool_writer, span, took); }

}  // namespace tailrace::hooks::session
