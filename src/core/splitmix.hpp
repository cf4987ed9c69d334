// SPDX-License-Identifier: Apache-2.0
// Numbers that look random and follow from their index alone.
#pragma once

#include <cstdint>

namespace tailrace::core {

/// The increment of SplitMix64 between two states.
inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15ULL;

/// The finaliser of SplitMix64 for a state: each bit of the result depends on all of the state.
/// [local]
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t state) noexcept {
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// The same for the state behind an index: what the fills of the kernels are made of.  [local]
[[nodiscard]] constexpr std::uint64_t mixed_index(std::uint64_t index) noexcept {
    return mixed(index + splitmix_step);
}

/// The upper 53 bits of that, as a fraction in [0, 1): exact in float64.  [local]
[[nodiscard]] constexpr double mixed_fraction(std::uint64_t index) noexcept {
    return static_cast<double>(mixed_index(index) >> 11) * 0x1p-53;
}

}  // namespace tailrace::core
