// SPDX-License-Identifier: Apache-2.0
// The compiled plan of this process: read once, nothing is parsed afterwards.
#pragma once

#include <stdint.h>

#include "intent/plan/lookup.hpp"

namespace tailrace::hooks {

namespace plan = intent::plan;

namespace plans {

/// What TAILRACE_PLAN names; nullptr: nothing.  [local]
const char* name();
/// Reads it into the memory of this library. Empty where it cannot be used, which is said.  [local]
plan::PlanView load();
/// The two halves of its hash; 0 and 0 where it is empty.  [local]
void halves_of(const plan::PlanView& of, uint64_t* halves);
/// hint.NAME, or the name of the key: in `line` or a literal.  [local]
const char* name_of(const plan::PlanView& of, const plan::PlanSetting& setting, char (&line)[300]);

}  // namespace plans
}  // namespace tailrace::hooks
