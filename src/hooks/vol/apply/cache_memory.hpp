// SPDX-License-Identifier: Apache-2.0
// How much memory a plan may take in this process.
#pragma once

#include <stdint.h>

namespace tailrace::hooks::vol {

/// A quarter of what the machine has, or of what its control groups leave the job where that is
/// less, shared by the ranks of the node; never more than a quarter of the process's own limit. As
/// it was when it was first asked for; 0: not known.  [local]
uint64_t memory_for_caches();

}  // namespace tailrace::hooks::vol
