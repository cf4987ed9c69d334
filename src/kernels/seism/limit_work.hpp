// SPDX-License-Identifier: Apache-2.0
// What the limit has to write to stand beside this kernel.
#pragma once

#include "formats/limit/limit.hpp"
#include "kernels/seism/inputs.hpp"
#include "kernels/seism/repetition.hpp"

namespace tailrace::kernels::seism {

/// The pieces of one rank, at their places in the file, from `buffer`, which must outlive it; mode
/// and hints of the kernel's MPI-IO.  [local]
[[nodiscard]] formats::limit::Work limit_work(int rank, const Inputs& inputs, const Buffer& buffer);

}  // namespace tailrace::kernels::seism
