// SPDX-License-Identifier: Apache-2.0
// The output for a person. The first two blocks have the labels and columns of the classic kernel;
// docs/user/seism.md defines every line.
#pragma once

#include <span>
#include <string>

#include "core/record.hpp"
#include "kernels/seism/figures.hpp"
#include "kernels/seism/inputs.hpp"

namespace tailrace::kernels::seism {

/// "Label:" and a value in column 32, with a line end.  [local]
[[nodiscard]] std::string labelled(const std::string& label, const std::string& value);

/// The parameters, before the run.  [local]
[[nodiscard]] std::string echo_text(const Inputs& inputs);
/// The classic block of results, then the new lines.  [local]
[[nodiscard]] std::string results_text(const Inputs& inputs, const core::Record& record,
                                       const Figures& figures);
/// Min, median and max over the measured repetitions.  [local]
[[nodiscard]] std::string summary_text(std::span<const Figures> measured);

/// Which ranks wrote with which calls; one line or two.  [local]
[[nodiscard]] std::string who_wrote_text(const core::Record& record);
/// Where one of several ranks did all the writing: that, and the setting that changes it for the
/// MPI-IO implementation in use; otherwise empty.  [local]
[[nodiscard]] std::string advice_text(const core::Record& record);

}  // namespace tailrace::kernels::seism
