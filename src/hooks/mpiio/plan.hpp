// SPDX-License-Identifier: Apache-2.0
// The plan of this process, and what became of it.
#pragma once

#include "hooks/common/outcomes.hpp"
#include "hooks/common/plan_file.hpp"

namespace tailrace::hooks::mpiio {

/// The plan that TAILRACE_PLAN names, where TAILRACE_MODE is apply; empty where there is none or it
/// cannot be used, which is said once.  [local]
const plan::PlanView& plan_of_process();

/// Whether this process has to vote when ranks open a file together. Also where the plan is
/// switched off here alone, as long as TAILRACE_PLAN is there: others may wait for it.  [local]
bool takes_part();

/// Whether the MPI is the one that collective settings were proven with (TAILRACE_PROVEN names it
/// behind a semicolon); true where the variable is not set: the launcher has looked.  [local]
bool is_proven();

/// Counts an outcome; nothing where there is no folder for it.  [local]
void outcome(const Outcome& outcome);

}  // namespace tailrace::hooks::mpiio
