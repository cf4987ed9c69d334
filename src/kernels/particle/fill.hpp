// SPDX-License-Identifier: Apache-2.0
// The values of the elements, from their position alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/box.hpp"
#include "core/schema.hpp"
#include "core/splitmix.hpp"

namespace tailrace::kernels::particle {

/// A whole number below 2^24 for a number that no two elements of a file share: the upper 24 bits
/// of the SplitMix64 finaliser of `index`.  [local]
[[nodiscard]] constexpr std::uint32_t position_number(std::uint64_t index) noexcept {
    return static_cast<std::uint32_t>(core::mixed_index(index) >> 40);
}

/// Values of a box of one variable in one step, `stride` elements apart in memory. The element
/// with row-major index i among N has position_number((8 step + variable) N + i): as it is for
/// id_1, and as a fraction of 2^24 for the others, exact in float32.  [local]
/// @param dims  of the variable
/// @param type  i32 or f32: what id_1 is stored as
void fill_variable(std::uint64_t step, std::size_t variable, core::Scalar type,
                   const core::Extents& dims, const core::Box& place, std::span<std::byte> values,
                   std::uint64_t stride = 1);

}  // namespace tailrace::kernels::particle
