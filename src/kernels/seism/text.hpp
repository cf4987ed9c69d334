// SPDX-License-Identifier: Apache-2.0
// The lines with the labels and columns of the classic kernel; docs/user/seism.md defines them.
#pragma once

#include <string>

#include "core/record.hpp"
#include "kernels/seism/inputs.hpp"
#include "runner/figures.hpp"

namespace tailrace::kernels::seism {

/// The parameters, before the run.  [local]
[[nodiscard]] std::string echo_text(const Inputs& inputs);
/// The classic block of results.  [local]
[[nodiscard]] std::string classic_text(const core::Record& record, const runner::Figures& figures);

}  // namespace tailrace::kernels::seism
