// SPDX-License-Identifier: Apache-2.0
// The history kernel as the run sees it: each record is a step, and files follow one another.
#pragma once

#include <functional>
#include <memory>

#include "kernels/history/inputs.hpp"
#include "runner/kernel.hpp"

namespace tailrace::kernels::history {

/// Who opens the files; empty: each rank, by the format of the inputs.
using MakeOpener = std::function<std::unique_ptr<runner::Opener>()>;

[[nodiscard]] std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs,
                                                          MakeOpener opener = {});  ///< [local]

}  // namespace tailrace::kernels::history
