// SPDX-License-Identifier: Apache-2.0
// The amr kernel as the run sees it: a file that all ranks share, and AMReX's own folder.
#pragma once

#include "kernels/amr/inputs.hpp"
#include "runner/run.hpp"

namespace tailrace::kernels::amr {

/// The outputs that the inputs ask for, in the order of the original.  [local]
/// @throws core::Error{bad_input | io}
[[nodiscard]] runner::Outputs make_outputs(const Inputs& inputs);

}  // namespace tailrace::kernels::amr
