// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/plan.hpp"

#include <stdlib.h>
#include <string.h>

#include "hooks/common/in_child.hpp"
#include "hooks/common/locked.hpp"
#include "hooks/common/mpi_library.hpp"
#include "hooks/common/session.hpp"

namespace tailrace::hooks::mpiio {
namespace {

plan::PlanView view;
std::atomic<bool> asked{false};
std::atomic_flag busy = ATOMIC_FLAG_INIT;
// Where it was being read the child reads it anew.
const InChild in_child{[] { busy.clear(); }};
Outcomes outcomes;

}  // namespace

const plan::PlanView& plan_of_process() {
    if (!asked.load(std::memory_order_acquire)) {
        const Locked held(busy);
        if (!asked.load(std::memory_order_relaxed)) {
            if (session::applying()) view = plans::load();
            asked.store(true, std::memory_order_release);
        }
    }
    return view;
}

bool takes_part() { return session::applying() || plans::name() != nullptr; }

bool is_proven() {
    const char* proven = getenv("TAILRACE_PROVEN");  // NOLINT(concurrency-mt-unsafe): only read
    if (proven == nullptr || *proven == '\0') return true;
    const char* version = strchr(proven, ';');
    MpiVersion own;
    return version != nullptr && own.ask() && strcmp(own.text, version + 1) == 0;
}

void outcome(const Outcome& outcome) {
    const session::Turn turn(true);
    if (turn) outcomes.count(session::writer(), session::generation(), outcome);
}

}  // namespace tailrace::hooks::mpiio
