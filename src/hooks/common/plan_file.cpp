// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/plan_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks/common/spooling.hpp"

namespace tailrace::hooks::plans {
namespace {

// Not mapped: a file that somebody shortens would end the program.
alignas(8) std::byte bytes[plan::largest_plan + 1];

void complain(const char* file, const char* why) {
    char line[640];
    snprintf(line, sizeof line,
             "the plan is not applied, the program runs as it is: TAILRACE_PLAN=\"%.300s\": %.200s",
             file, why);
    spooling::say(line);
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

}  // namespace

const char* name() {
    const char* file = getenv("TAILRACE_PLAN");  // NOLINT(concurrency-mt-unsafe): only read
    return file != nullptr && *file != '\0' ? file : nullptr;
}

plan::PlanView load() {
    plan::PlanView view;
    const char* file = name();
    if (file == nullptr) {
        complain("", "it names no compiled plan (tailrace apply and tailrace env set it)");
        return view;
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
    return view;
}

void halves_of(const plan::PlanView& of, uint64_t* halves) {
    halves[0] = halves[1] = 0;
    const std::string_view hash = of.hash();
    for (size_t at = 0; at < hash.size() && at < 32; ++at) {
        const char digit = hash[at];
        const int value = digit >= 'a' ? digit - 'a' + 10 : digit - '0';
        halves[at / 16] = halves[at / 16] * 16 + static_cast<uint64_t>(value & 15);
    }
}

const char* name_of(const plan::PlanView& of, const plan::PlanSetting& setting, char (&line)[300]) {
    const plan::KeyInfo& info = plan::keys()[setting.key];
    if (info.key != plan::Key::hint) return info.name.data();  // of a literal: a zero byte follows
    snprintf(line, sizeof line, "hint.%.255s", of.text(setting.name).data());
    return line;
}

}  // namespace tailrace::hooks::plans
