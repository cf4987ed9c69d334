// SPDX-License-Identifier: Apache-2.0
// How many elements a set of regular places holds, each counted once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/box.hpp"
#include "intent/spool/decode.hpp"

namespace tailrace::intent::spool {

/// The boxes that `places` consist of, inside an array of `dims`.  [local]
/// @return nothing where there are too many to look at
[[nodiscard]] std::optional<std::vector<core::Box>> boxes_of(std::span<const DecodedPlace> places,
                                                             std::span<const std::uint64_t> dims);

/// Elements in at least one of `boxes`.  [local]
/// @return nothing where counting would take too long
[[nodiscard]] std::optional<std::uint64_t> distinct_elements(std::span<const core::Box> boxes);

/// Joins boxes that touch or overlap along one dimension, as long as there are some.  [local]
[[nodiscard]] std::vector<core::Box> joined(std::vector<core::Box> boxes);

}  // namespace tailrace::intent::spool
