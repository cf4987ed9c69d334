// SPDX-License-Identifier: Apache-2.0
// The kernel's own lines; docs/user/history.md defines them.
#pragma once

#include <string>

#include "core/record.hpp"
#include "kernels/history/inputs.hpp"
#include "runner/figures.hpp"

namespace tailrace::kernels::history {

[[nodiscard]] std::string echo_text(const Inputs& inputs);  ///< [local]
/// The stall of the model, and the rest of its time.  [local]
[[nodiscard]] std::string classic_text(const Inputs& inputs, const core::Record& record,
                                       const runner::Figures& figures);

}  // namespace tailrace::kernels::history
