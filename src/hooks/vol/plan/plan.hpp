// SPDX-License-Identifier: Apache-2.0
// The plan of this process: a compiled file, read once. Nothing is parsed afterwards.
#pragma once

#include "hooks/common/plan_file.hpp"
#include "hooks/vol/record/recorder.hpp"

namespace tailrace::hooks::vol {

/// The plan that TAILRACE_PLAN names, where TAILRACE_MODE is apply; empty where there is none or it
/// cannot be used, which is said once.  [local]
const plan::PlanView& plan_of_process();

/// Whether this process has to vote when ranks open a file together. Also where the plan is
/// switched off here alone, as long as TAILRACE_PLAN is there: others may wait for it.  [local]
bool takes_part();

/// What every outcome at one place has in common.
struct Where {
    const char* file;
    const char* dataset;  ///< "": the file
};

/// Notes down what became of a setting.
void note_outcome(const plan::PlanSetting& setting, const Where& where, spool::Became became,
                  const char* value, const char* reason);

}  // namespace tailrace::hooks::vol
