// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix/faults.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks/posix/fault_rules.hpp"
#include "hooks/posix/tally.hpp"

namespace tailrace::hooks::posix {
namespace {

/// What has happened to a rule so far.
struct Progress {
    std::atomic<uint64_t> matched, acted, used_bytes;
    std::atomic<bool> was_short;
};

enum Mode : int { unread, reading, none, in_force };

FaultRule rules[max_rules];
Progress progress[max_rules];
unsigned rule_count = 0;
int own_rank = 0;
const char* environment_error = nullptr;
constinit std::atomic<int> mode{unread};

int rank_of_this_process() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* value = getenv(name)) return atoi(value);
    return 0;
}

const char* install_rules(const char* text) {
    const char* wrong = parse_fault_rules(text, rules, rule_count);
    if (wrong != nullptr) rule_count = 0;
    for (Progress& each : progress) {
        each.matched = each.acted = each.used_bytes = 0;
        each.was_short = false;
    }
    own_rank = rank_of_this_process();
    mode.store(rule_count == 0 ? none : in_force, std::memory_order_release);
    return wrong;
}

void read_environment() {
    int expected = unread;
    if (!mode.compare_exchange_strong(expected, reading)) return;
    environment_error = install_rules(getenv("TAILRACE_FAULT"));
    if (environment_error == nullptr) return;
    char text[1200];
    int length = snprintf(text, sizeof text,
                          "tailrace: error: TAILRACE_FAULT: %s. No rule is in force.\n"
                          "       hint: the grammar is in docs/developer/interposer.md\n",
                          environment_error);
    // The raw call: ours would come back here.
    (void)syscall(SYS_write, 2, text, static_cast<size_t>(length));
}

bool path_matches(const char* pattern, const char* path) {
    return path != nullptr && fnmatch(pattern, path, 0) == 0;
}

/// The names of a call; each is tried as given and as absolute.
struct Names {
    const char* given[2];
    char absolute[2][PATH_MAX];

    [[nodiscard]] bool match(const char* pattern) const {
        return pattern[0] == 0 || path_matches(pattern, given[0]) ||
               path_matches(pattern, given[1]) || path_matches(pattern, absolute[0]) ||
               path_matches(pattern, absolute[1]);
    }
};

void link_of(int fd, char* path, size_t size) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
    constexpr char mark[] = " (deleted)";
    constexpr ssize_t mark_length = sizeof mark - 1;
    if (length > mark_length && strcmp(path + length - mark_length, mark) == 0)
        path[length - mark_length] = 0;
}

void make_absolute(int folder, const char* path, char* absolute) {
    absolute[0] = 0;
    if (path == nullptr || path[0] == '/') return;
    if (folder != AT_FDCWD)
        link_of(folder, absolute, PATH_MAX);
    else if (getcwd(absolute, PATH_MAX) == nullptr)
        absolute[0] = 0;
    size_t used = strlen(absolute);
    snprintf(absolute + used, PATH_MAX - used, "/%s", path);
}

void wait_ms(unsigned milliseconds) {
    timespec left{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/// A disk that fills up: grants what is left below the limit.
Verdict limit(const FaultRule& rule, Progress& done, uint64_t bytes) {
    uint64_t before = done.used_bytes.fetch_add(bytes);
    if (before + bytes <= rule.limit_bytes) return {};
    uint64_t left = before < rule.limit_bytes ? rule.limit_bytes - before : 0;
    done.used_bytes.fetch_sub(bytes - left);
    if (left > 0) return {.limited = true, .bytes = left};
    return {.error = rule.error};
}

Verdict act(const FaultRule& rule, Progress& done, uint64_t bytes) {
    if (rule.has_limit) {
        if (rule.delay_ms != 0) wait_ms(rule.delay_ms);
        return limit(rule, done, bytes);
    }
    bool cuts = rule.short_bytes != 0 && rule.short_bytes < bytes;
    // With an errno only the first call is cut, and it is not one of `times`.
    if (rule.error != 0 && rule.short_bytes != 0 && !done.was_short.exchange(true))
        return {.limited = cuts, .bytes = rule.short_bytes};
    if (done.acted.fetch_add(1) >= rule.times) return {};
    if (rule.delay_ms != 0) wait_ms(rule.delay_ms);
    if (rule.error != 0) return {.error = rule.error};
    return {.limited = cuts, .bytes = rule.short_bytes};
}

Verdict apply_rules(Op op, const Names& names, uint64_t bytes) {
    Verdict verdict;
    const char* phase = phase_name(current_phase());
    for (unsigned index = 0; index < rule_count; ++index) {
        const FaultRule& rule = rules[index];
        if (rule.op != op || (rule.rank >= 0 && rule.rank != own_rank)) continue;
        if (rule.phase[0] != 0 && fnmatch(rule.phase, phase, 0) != 0) continue;
        if (!names.match(rule.path)) continue;
        if (progress[index].matched.fetch_add(1) < rule.after) continue;
        Verdict own = act(rule, progress[index], bytes);
        if (own.error != 0) return own;
        if (own.limited && (!verdict.limited || own.bytes < verdict.bytes)) verdict = own;
    }
    return verdict;
}

bool any_rule_for(Op op) {
    for (unsigned index = 0; index < rule_count; ++index)
        if (rules[index].op == op) return true;
    return false;
}

}  // namespace

bool faults_active() {
    int now = mode.load(std::memory_order_acquire);
    if (now == none) return false;
    if (now == unread) {
        int before = errno;
        read_environment();
        errno = before;
        now = mode.load(std::memory_order_acquire);
    }
    return now == in_force;
}

Verdict decide(Op op, int fd, uint64_t bytes) {
    if (!any_rule_for(op)) return {};
    int before = errno;
    Names names;
    names.given[0] = names.absolute[0];
    names.given[1] = nullptr;
    link_of(fd, names.absolute[0], PATH_MAX);
    names.absolute[1][0] = 0;
    Verdict verdict = apply_rules(op, names, bytes);
    errno = before;
    return verdict;
}

Verdict decide(Op op, int folder, const char* path, int other_folder, const char* other_path) {
    if (!any_rule_for(op)) return {};
    int before = errno;
    Names names;
    names.given[0] = path;
    names.given[1] = other_path;
    make_absolute(folder, path, names.absolute[0]);
    make_absolute(other_folder, other_path, names.absolute[1]);
    Verdict verdict = apply_rules(op, names, 0);
    errno = before;
    return verdict;
}

const char* set_faults(const char* text) {
    mode.store(reading);
    return install_rules(text);
}

const char* fault_error() {
    (void)faults_active();
    return environment_error;
}

}  // namespace tailrace::hooks::posix
