// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/recorder_state.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace tailrace::hooks::vol::recorder {
namespace {

using intent::spool::Writer;

constexpr uint64_t default_mib = 16;
constexpr uint64_t most_mib = 4096;
constexpr uint32_t most_generations = 64;

enum class Mode { not_asked, off, record, apply };

std::atomic_flag busy = ATOMIC_FLAG_INIT;
std::atomic<bool> forked{false};
Mode mode = Mode::not_asked;
bool spooling = false;
Writer spool_writer;
uint32_t now_generation = 0;
const char* bases[most_generations];
char folder[PATH_MAX];
uint64_t most_bytes = default_mib << 20;

const char* environment(const char* name) {
    return getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
}

void say_of(const char* what, const char* value) {
    char line[512];
    snprintf(line, sizeof line, "%s\"%.200s\"", what, value);
    say(line);
}

void text(uint32_t of, const char* characters, size_t bytes) {
    const uint64_t offset = spool_writer.add(
        spool::kind_text, sizeof(spool::TextRecord) + static_cast<uint64_t>(bytes));
    if (offset == 0) return;
    auto& record = spool_writer.at<spool::TextRecord>(offset);
    record.of = of;
    record.bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, characters, bytes);
}

void describe_program() {
    char buffer[8192];
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t bytes = read(file, buffer, sizeof buffer);
        if (bytes > 0) text(spool::text_command, buffer, static_cast<size_t>(bytes));
        close(file);
    }
    const ssize_t bytes = readlink("/proc/self/exe", buffer, sizeof buffer);
    if (bytes > 0) text(spool::text_program, buffer, static_cast<size_t>(bytes));
    if (getcwd(buffer, sizeof buffer) != nullptr) text(spool::text_folder, buffer, strlen(buffer));
    // Where MPI is loaded for all to see; it may be asked before it is initialised.
    using Ask = int (*)(char*, int*);
    const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"));
    if (ask != nullptr) {
        int length = 0;
        memset(buffer, 0, sizeof buffer);
        if (ask(buffer, &length) == 0) {
            text(spool::text_mpi, buffer, strcspn(buffer, "\n,"));
        }
    }
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
    describe_program();
    for (unsigned number = 0; number < known_libraries; ++number) keep_library(libraries[number]);
    spool_writer.publish();
    return true;
}

void begin_spool(const char* what_not) {
    const char* where = environment("TAILRACE_PROFILE_DIR");
    // As it is now: the program may go to another folder, and the spool is opened again to grow.
    if (where == nullptr || realpath(where, folder) == nullptr) {
        // A plan may be applied without a word about it.
        if (where != nullptr || mode == Mode::record) {
            char line[128];
            snprintf(line, sizeof line,
                     "%s: the folder is missing: TAILRACE_PROFILE_DIR=", what_not);
            say_of(line, where != nullptr ? where : "");
        }
        return;
    }
    const char* size = environment("TAILRACE_PROFILE_MIB");
    if (size != nullptr) {
        const long long mib = atoll(size);
        if (mib > 0) most_bytes = (static_cast<uint64_t>(mib) < most_mib ? mib : most_mib) << 20;
    }
    spooling = begin(false);
    if (!spooling) {
        char line[128];
        snprintf(line, sizeof line, "%s: no file can be made in TAILRACE_PROFILE_DIR=", what_not);
        say_of(line, folder);
        return;
    }
    pthread_atfork(nullptr, nullptr, [] {
        forked.store(true);
        busy.clear();  // whoever held it stayed behind in the parent
    });
}

void read_environment() {
    const char* asked = environment("TAILRACE_MODE");
    if (asked == nullptr || strcmp(asked, "off") == 0) {
        mode = Mode::off;
    } else if (strcmp(asked, "apply") == 0) {
        mode = Mode::apply;
        begin_spool("what becomes of the plan is not noted down");
    } else if (strcmp(asked, "record") == 0) {
        mode = Mode::record;
        begin_spool("nothing is recorded");
        if (!spooling) mode = Mode::off;
    } else {
        say_of("it is record, apply or off; the program runs as it is: TAILRACE_MODE=", asked);
        mode = Mode::off;
    }
}

void ask_environment() {
    if (mode != Mode::not_asked) return;
    while (busy.test_and_set(std::memory_order_acquire)) sched_yield();
    if (mode == Mode::not_asked) read_environment();
    busy.clear(std::memory_order_release);
}

void stop_spooling() {
    spooling = false;
    if (mode == Mode::record) mode = Mode::off;
}

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

void say(const char* text) {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        const char* rank = environment(name);
        if (rank != nullptr && strcmp(rank, "0") != 0) return;
    }
    char line[1024];
    const int bytes = snprintf(line, sizeof line, "tailrace: %.1000s\n", text);
    if (bytes > 0 && write(STDERR_FILENO, line, strnlen(line, sizeof line)) < 0) return;
}

bool on() {
    ask_environment();
    return mode == Mode::record;
}

bool applying() {
    ask_environment();
    return mode == Mode::apply;
}

int64_t now() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return static_cast<int64_t>(at.tv_sec) * 1'000'000'000 + at.tv_nsec;
}

Turn::Turn(bool outcomes) : x_errno(errno), x_open(false) {
    if (!(outcomes ? applying() : on()) || !spooling) return;
    for (unsigned tries = 0; busy.test_and_set(std::memory_order_acquire); ++tries) {
        if (tries > 64) sched_yield();
    }
    move_over();
    x_open = spooling;
    if (!x_open) busy.clear(std::memory_order_release);
}

Turn::~Turn() {
    if (x_open) {
        spool_writer.publish();
        spool_writer.header().last_ns = relative(now());
        busy.clear(std::memory_order_release);
    }
    errno = x_errno;
}

Writer& writer() { return spool_writer; }
uint32_t generation() { return now_generation; }
const char* base_of(uint32_t generation) {
    return generation < now_generation ? bases[generation] : nullptr;
}

int64_t relative(int64_t at) {
    const int64_t since = at - spool_writer.header().start_monotonic_ns;
    return since > 0 ? since : 0;
}

void widen(spool::Period& span, Took took) {
    const int64_t start = relative(took.start_ns);
    const int64_t end = relative(took.end_ns);
    if (span.end_ns == 0 || start < span.start_ns) span.start_ns = start;
    if (end > span.end_ns) span.end_ns = end;
}

uint64_t mixed(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdU;
    return hash ^ (hash >> 32);
}

uint64_t hash_of(const char* text) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (; text != nullptr && *text != '\0'; ++text) {
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3U;
    }
    return hash;
}

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
