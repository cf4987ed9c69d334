// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/plan.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

namespace tailrace::hooks::vol {
namespace {

// Not mapped: a file that somebody shortens would end the program.
alignas(8) std::byte bytes[plan::largest_plan + 1];
plan::PlanView view;
std::atomic<bool> asked{false};
std::atomic_flag busy = ATOMIC_FLAG_INIT;

const char* file_of_plan() {
    const char* file = getenv("TAILRACE_PLAN");  // NOLINT(concurrency-mt-unsafe): only read
    return file != nullptr && *file != '\0' ? file : nullptr;
}

void complain(const char* file, const char* why) {
    char line[640];
    snprintf(line, sizeof line,
             "the plan is not applied, the program runs as it is: TAILRACE_PLAN=\"%.300s\": %.200s",
             file, why);
    recorder::say(line);
}

/// What a file holds, at most one byte more than a plan may have; negative: not to be read.
ssize_t read_all(const char* file) {
    const int opened = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0) return -1;
    size_t used = 0;
    ssize_t got = 1;
    while (used < sizeof bytes && got != 0) {
        got = read(opened, bytes + used, sizeof bytes - used);
        if (got > 0) used += static_cast<size_t>(got);
        if (got < 0 && errno != EINTR) break;
    }
    const int error = errno;
    close(opened);
    errno = error;
    return got < 0 ? -1 : static_cast<ssize_t>(used);
}

void load() {
    const char* file = file_of_plan();
    if (file == nullptr) {
        complain("", "it names no compiled plan (tailrace apply and tailrace env set it)");
        return;
    }
    const int before = errno;
    const ssize_t size = read_all(file);
    if (size < 0) {
        char why[128];
        complain(file, strerror_r(errno, why, sizeof why));
    } else {
        std::string_view problem;
        view = plan::PlanView::decode({bytes, static_cast<size_t>(size)}, problem);
        if (!problem.empty()) complain(file, problem.data());
    }
    errno = before;
}

}  // namespace

const plan::PlanView& plan_of_process() {
    if (!asked.load(std::memory_order_acquire)) {
        while (busy.test_and_set(std::memory_order_acquire)) sched_yield();
        if (!asked.load(std::memory_order_relaxed)) {
            if (recorder::applying()) load();
            asked.store(true, std::memory_order_release);
        }
        busy.clear(std::memory_order_release);
    }
    return view;
}

bool takes_part() { return recorder::applying() || file_of_plan() != nullptr; }

void note_outcome(const plan::PlanSetting& setting, const Where& where, spool::Became became,
                  const char* value, const char* reason) {
    const plan::PlanView& of = plan_of_process();
    const plan::KeyInfo& info = plan::keys()[setting.key];
    char hint[300];
    const char* name = info.name.data();  // of a literal, so that a zero byte follows
    if (info.key == plan::Key::hint) {
        snprintf(hint, sizeof hint, "hint.%.255s", of.text(setting.name).data());
        name = hint;
    }
    recorder::outcome(
        {became, of.text(setting.rule).data(), name, where.file, where.dataset, value, reason});
}

}  // namespace tailrace::hooks::vol
