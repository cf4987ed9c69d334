// SPDX-License-Identifier: Apache-2.0
// The particle kernel as the run sees it: eight variables in each step, or one array of particles.
#pragma once

#include <memory>

#include "kernels/particle/inputs.hpp"
#include "runner/kernel.hpp"

namespace tailrace::kernels::particle {

[[nodiscard]] std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs);  ///< [local]

}  // namespace tailrace::kernels::particle
