// SPDX-License-Identifier: Apache-2.0
// The output for a person that all kernels have in common, in the columns of the classic kernels;
// docs/user/seism.md defines every line.
#pragma once

#include <span>
#include <string>

#include "core/record.hpp"
#include "runner/figures.hpp"
#include "runner/kernel.hpp"

namespace tailrace::runner {

/// "Label:" and a value in column 32, with a line end.  [local]
[[nodiscard]] std::string labelled(const std::string& label, const std::string& value);
/// "1" or "0".  [local]
[[nodiscard]] std::string yes(bool value);
/// Whether metadata was read collectively, and how that is known.  [local]
[[nodiscard]] std::string metadata_text(const core::TransfersRecord& transfers);

/// The kernel's classic block of results, then the common lines.  [local]
[[nodiscard]] std::string results_text(const Kernel& kernel, const core::Record& record,
                                       const Figures& figures);
/// Min, median and max over the measured repetitions.  [local]
[[nodiscard]] std::string summary_text(std::span<const Figures> measured);

/// Which ranks wrote with which calls; one line or two.  [local]
[[nodiscard]] std::string who_wrote_text(const core::Record& record);
/// Where one of several ranks did all the writing: that, and the setting that changes it for the
/// MPI-IO implementation in use; otherwise empty.  [local]
[[nodiscard]] std::string advice_text(const core::Record& record);

}  // namespace tailrace::runner
