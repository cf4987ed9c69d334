// SPDX-License-Identifier: Apache-2.0
// The slab kernel as the run sees it: each of its datasets is a step.
#pragma once

#include <memory>

#include "kernels/slab/inputs.hpp"
#include "runner/kernel.hpp"

namespace tailrace::kernels::slab {

[[nodiscard]] std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs);  ///< [local]

}  // namespace tailrace::kernels::slab
