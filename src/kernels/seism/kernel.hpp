// SPDX-License-Identifier: Apache-2.0
// The seism kernel as the run sees it.
#pragma once

#include <memory>

#include "kernels/seism/inputs.hpp"
#include "runner/kernel.hpp"

namespace tailrace::kernels::seism {

/// Loads the fill function where there is one.  [local]
/// @throws core::Error{Code::bad_plugin} at the line of its key
[[nodiscard]] std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs);

}  // namespace tailrace::kernels::seism
