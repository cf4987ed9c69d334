// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/plan/plan.hpp"

#include <atomic>

#include "hooks/common/in_child.hpp"
#include "hooks/common/locked.hpp"

namespace tailrace::hooks::vol {
namespace {

plan::PlanView view;
std::atomic<bool> asked{false};
std::atomic_flag busy = ATOMIC_FLAG_INIT;
// Where it was being read the child reads it anew.
const InChild in_child{[] { busy.clear(); }};

}  // namespace

const plan::PlanView& plan_of_process() {
    if (!asked.load(std::memory_order_acquire)) {
        const Locked held(busy);
        if (!asked.load(std::memory_order_relaxed)) {
            if (recorder::applying()) view = plans::load();
            asked.store(true, std::memory_order_release);
        }
    }
    return view;
}

bool takes_part() { return recorder::applying() || plans::name() != nullptr; }

void note_outcome(const plan::PlanSetting& setting, const Where& where, spool::Became became,
                  const char* value, const char* reason) {
    const plan::PlanView& of = plan_of_process();
    char hint[300];
    recorder::outcome({became, of.text(setting.rule).data(), plans::name_of(of, setting, hint),
                       where.file, where.dataset, value, reason});
}

}  // namespace tailrace::hooks::vol
