// SPDX-License-Identifier: Apache-2.0
// The kernel's own lines; docs/user/slab.md defines them.
#pragma once

#include <string>

#include "core/record.hpp"
#include "kernels/slab/inputs.hpp"
#include "runner/figures.hpp"

namespace tailrace::kernels::slab {

/// The parameters and the smallest contiguous piece of each dataset, before the run.  [local]
[[nodiscard]] std::string echo_text(const Inputs& inputs);
/// Time and rate of each dataset, then of the file.  [local]
[[nodiscard]] std::string classic_text(const Inputs& inputs, const core::Record& record,
                                       const runner::Figures& figures);

}  // namespace tailrace::kernels::slab
