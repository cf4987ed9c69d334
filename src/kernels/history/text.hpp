// SPDX-License-Identifier: Apache-2.0
// The kernel's own lines; docs/user/history.md defines them.
#pragma once

#include <cstdint>
#include <string>

#include "comm/comm.hpp"
#include "core/record.hpp"
#include "kernels/history/inputs.hpp"
#include "runner/figures.hpp"

namespace tailrace::kernels::history {

[[nodiscard]] std::string echo_text(const Inputs& inputs);  ///< [local]
/// The stall of the model, and the rest of its time.  [local]
[[nodiscard]] std::string classic_text(const Inputs& inputs, const core::Record& record,
                                       const runner::Figures& figures);
/// The time of a memory copy of what a rank holds in a step, by all ranks at once, from and to
/// touched memory; of one step and of all.  [collective]
[[nodiscard]] std::string copy_text(const comm::Comm& comm, std::uint64_t bytes,
                                    std::uint64_t steps);

}  // namespace tailrace::kernels::history
