// SPDX-License-Identifier: Apache-2.0
// What the limit has to write to stand beside a kernel.
#pragma once

#include "formats/limit/limit.hpp"
#include "kernels/run/kernel.hpp"
#include "kernels/run/writing.hpp"

namespace tailrace::kernels::run {

/// The pieces of a rank in a step, as they lie behind each other in `data`.  [local]
[[nodiscard]] std::vector<core::Write> writes_of(int rank, const Kernel& kernel, std::uint64_t step,
                                                 std::span<const std::byte> data);

/// The pieces of one rank, at their places in the file, from `buffer`; kernel and buffer must
/// outlive it. Mode and hints are those of the kernel's MPI-IO.  [local]
[[nodiscard]] formats::limit::Work limit_work(int rank, const Kernel& kernel, const Buffer& buffer);

}  // namespace tailrace::kernels::run
