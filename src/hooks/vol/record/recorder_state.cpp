// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/record/recorder_state.hpp"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "hooks/common/in_child.hpp"
#include "hooks/common/locked.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

using intent::spool::Writer;

constexpr uint32_t most_generations = 64;

enum class Mode { not_asked, off, record, apply };

std::atomic_flag busy = ATOMIC_FLAG_INIT;
std::atomic<bool> forked{false};
std::atomic<Mode> mode{Mode::not_asked};  ///< told when all else is ready
bool is_spooling = false;
Writer spool_writer;
uint32_t now_generation = 0;
const char* bases[most_generations];
char folder[PATH_MAX];
uint64_t most_bytes = 0;

const char* environment(const char* name) {
    return getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
}

void say_of(const char* what, const char* value) {
    char line[512];
    snprintf(line, sizeof line, "%s\"%.200s\"", what, value);
    say(line);
}

/// The HDF5 libraries of the process; a fork inherits them.
struct Known {
    unsigned version[3];
    bool parallel;
    const char* path;
};
constexpr unsigned most_libraries = 8;
Known libraries[most_libraries];
unsigned known_libraries = 0;

void keep_library(const Known& known) {
    const size_t bytes = strlen(known.path);
    const uint64_t offset =
        spool_writer.add(spool::kind_library, sizeof(spool::LibraryRecord) + bytes);
    if (offset == 0) return;
    auto& record = spool_writer.at<spool::LibraryRecord>(offset);
    for (int part = 0; part < 3; ++part) record.version[part] = known.version[part];
    record.parallel = known.parallel ? 1 : 0;
    record.path_bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, known.path, bytes);
}

bool begin(bool inherited) {
    if (!spool_writer.begin(folder, most_bytes, 1, inherited)) return false;
    spooling::describe_program(spool_writer);
    for (unsigned number = 0; number < known_libraries; ++number) keep_library(libraries[number]);
    spool_writer.publish();
    return true;
}

/// @param must  a folder has to be named: without one `what_not` is said
void begin_spool(bool must, const char* what_not) {
    const char* where = environment("TAILRACE_PROFILE_DIR");
    // As it is now: the program may go to another folder, and the spool is opened again to grow.
    if (where == nullptr || realpath(where, folder) == nullptr) {
        // A plan may be applied without a word about it.
        if (where != nullptr || must) {
            char line[128];
            snprintf(line, sizeof line,
                     "%s: the folder is missing: TAILRACE_PROFILE_DIR=", what_not);
            say_of(line, where != nullptr ? where : "");
        }
        return;
    }
    most_bytes = spooling::most_bytes();
    is_spooling = begin(false);
    if (!is_spooling) {
        char line[128];
        snprintf(line, sizeof line, "%s: no file can be made in TAILRACE_PROFILE_DIR=", what_not);
        say_of(line, folder);
    }
}

Mode read_environment() {
    const char* asked = environment("TAILRACE_MODE");
    if (asked == nullptr || strcmp(asked, "off") == 0) return Mode::off;
    if (strcmp(asked, "apply") == 0) {
        begin_spool(false, "what becomes of the plan is not noted down");
        return Mode::apply;
    }
    if (strcmp(asked, "record") == 0) {
        begin_spool(true, "nothing is recorded");
        return is_spooling ? Mode::record : Mode::off;
    }
    say_of("it is record, apply or off; the program runs as it is: TAILRACE_MODE=", asked);
    return Mode::off;
}

Mode asked_mode() {
    const Mode known = mode.load(std::memory_order_acquire);
    if (known != Mode::not_asked) return known;
    const Locked held(busy);
    if (mode.load() == Mode::not_asked) mode.store(read_environment(), std::memory_order_release);
    return mode.load();
}

void stop_spooling() {
    is_spooling = false;
    if (mode.load() == Mode::record) mode.store(Mode::off);
}

const InChild in_child{[] {
    if (mode.load() == Mode::not_asked) {
        // Another thread may have been at it: the child asks anew, and begins a spool of its own.
        is_spooling = false;
        spool_writer.forget();
    } else {
        forked.store(true);
    }
    busy.clear();  // whoever held it stayed behind in the parent
}};

/// In a child: the parent's spool is left alone, entries move over as they are met again.
void move_over() {
    if (!forked.exchange(false)) return;
    if (now_generation + 1 >= most_generations) {
        stop_spooling();
        return;
    }
    bases[now_generation] = spool_writer.base();
    spool_writer.forget();
    ++now_generation;
    if (!begin(true)) stop_spooling();
}

}  // namespace

bool on() { return asked_mode() == Mode::record; }
bool applying() { return asked_mode() == Mode::apply; }

Turn::Turn(bool outcomes) : x_errno(errno), x_open(false) {
    if (!(outcomes ? applying() : on()) || !is_spooling) return;
    for (unsigned tries = 0; busy.test_and_set(std::memory_order_acquire); ++tries) {
        if (tries > 64) sched_yield();
    }
    move_over();
    x_open = is_spooling;
    if (!x_open) busy.clear(std::memory_order_release);
}

Turn::~Turn() {
    if (x_open) {
        spool_writer.publish();
        spool_writer.header().last_ns = spooling::relative(spool_writer, now());
        busy.clear(std::memory_order_release);
    }
    errno = x_errno;
}

Writer& writer() { return spool_writer; }
uint32_t generation() { return now_generation; }
const char* base_of(uint32_t generation) {
    return generation < now_generation ? bases[generation] : nullptr;
}

void widen(spool::Period& span, Took took) { spooling::widen(spool_writer, span, took); }

void count(spool::Calls& calls, uint64_t what, uint64_t about) {
    ++calls.calls;
    calls.order_hash = mixed(mixed(calls.order_hash, what), about);
}

void library(const unsigned version[3], bool parallel, const char* path) {
    const Turn turn;
    if (!turn) return;
    if (known_libraries < most_libraries) {
        Known& known = libraries[known_libraries++];
        for (int part = 0; part < 3; ++part) known.version[part] = version[part];
        known.parallel = parallel;
        known.path = path;
        keep_library(known);
    }
}

}  // namespace tailrace::hooks::vol::recorder
