// SPDX-License-Identifier: Apache-2.0
// The values of the elements, from their position alone.
#pragma once

#include <cstdint>
#include <span>

#include "core/box.hpp"
#include "core/splitmix.hpp"
#include "kernels/slab/geometry.hpp"
#include "kernels/slab/inputs.hpp"

namespace tailrace::kernels::slab {

/// Value of `fill position` for a number that no two elements of a file share: the upper 53 bits of
/// the SplitMix64 finaliser of `index`, as a fraction; exact in float64.  [local]
[[nodiscard]] constexpr double position_value(std::uint64_t index) noexcept {
    return core::mixed_fraction(index);
}

/// Values of a box of dataset number `object` of the file, packed row-major. With `fill position`
/// the element with row-major index i has position_value(object n1 n2 + i); with `fill rank` its
/// owner's rank.  [local]
void fill_box(const Inputs& inputs, std::size_t object, const core::Box& place,
              std::span<double> values);

}  // namespace tailrace::kernels::slab
