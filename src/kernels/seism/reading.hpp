// SPDX-License-Identifier: Apache-2.0
// Reading a finished file by another decomposition than the one that wrote it.
#pragma once

#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/record.hpp"
#include "kernels/seism/fill.hpp"
#include "kernels/seism/inputs.hpp"

namespace tailrace::kernels::seism {

/// Boxes of at most `most` elements that cover `box`, in row-major order, cut along the slowest
/// axes that there are.  [local]
[[nodiscard]] std::vector<core::Box> pieces_of(const core::Box& box, std::uint64_t most);

/// Reads every element once, each rank its part, timed from the last rank in to the last rank out
/// (the opening included). Phase "read_back".  [collective]
/// @param buffer  what is read lands here; at least one element
/// @throws core::Error on all ranks
[[nodiscard]] core::ReadBackRecord read_back(const comm::Comm& comm, const Inputs& inputs,
                                             core::Phases& phases, std::span<float> buffer);

/// Reads every element once through a fresh opening and compares it, bit by bit, with its fill.
/// Phase "verify". The result is complete on rank 0 and has the totals everywhere.  [collective]
/// @throws core::Error on all ranks where reading fails; a wrong value is no Error here
[[nodiscard]] core::VerificationRecord verify(const comm::Comm& comm, const Inputs& inputs,
                                              const Fill& fill, core::Phases& phases,
                                              std::span<float> buffer);

}  // namespace tailrace::kernels::seism
