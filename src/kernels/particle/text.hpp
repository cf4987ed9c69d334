// SPDX-License-Identifier: Apache-2.0
// The kernel's own lines, h5bench's block of results; docs/user/particle.md defines them.
#pragma once

#include <string>
#include <vector>

#include "core/record.hpp"
#include "kernels/particle/inputs.hpp"
#include "runner/figures.hpp"
#include "runner/kernel.hpp"

namespace tailrace::kernels::particle {

/// The parameters, before the run.  [local]
[[nodiscard]] std::string echo_text(const Inputs& inputs);
/// What h5bench prints after a write, and after a read where there was one.  [local]
[[nodiscard]] std::string classic_text(const Inputs& inputs, const core::Record& record,
                                       const runner::Figures& figures);

/// The names of the tables csv_file and read_csv_file, as far as they are asked for.  [local]
[[nodiscard]] std::vector<runner::NamedFile> files_written(const Inputs& inputs);
/// These tables with h5bench's rows "metric, value, unit", sizes in bytes whatever their size. One
/// name for both: one file, the rows of the read behind.  [local]
[[nodiscard]] std::vector<runner::SideFile> side_files(const Inputs& inputs,
                                                       const core::Record& record,
                                                       const runner::Figures& figures);

}  // namespace tailrace::kernels::particle
