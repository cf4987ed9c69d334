// SPDX-License-Identifier: Apache-2.0
// What the file says about itself.
#pragma once

#include "core/schema.hpp"
#include "kernels/seism/inputs.hpp"

namespace tailrace::kernels::seism {

/// The dataset /chunked; as plain root attributes every effective parameter; and the classic
/// compound attribute `simulation_attributes`, for readers of the kernel that this one follows.
/// The values are those of docs/user/seism.md, "The file".  [local]
[[nodiscard]] core::Schema schema_of(const Inputs& inputs);

}  // namespace tailrace::kernels::seism
