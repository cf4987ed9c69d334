// SPDX-License-Identifier: Apache-2.0
// The kernel's own lines, h5bench's block of results; docs/user/particle.md defines them.
#pragma once

#include <string>

#include "core/record.hpp"
#include "kernels/particle/inputs.hpp"
#include "kernels/run/figures.hpp"

namespace tailrace::kernels::particle {

/// The parameters, before the run.  [local]
[[nodiscard]] std::string echo_text(const Inputs& inputs);
/// What h5bench prints after a write, and after a read where there was one.  [local]
[[nodiscard]] std::string classic_text(const Inputs& inputs, const core::Record& record,
                                       const run::Figures& figures);

}  // namespace tailrace::kernels::particle
