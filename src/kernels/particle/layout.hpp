// SPDX-License-Identifier: Apache-2.0
// The objects of the file, which boxes of them a rank writes, and how its data lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/schema.hpp"
#include "kernels/particle/geometry.hpp"
#include "kernels/run/kernel.hpp"

namespace tailrace::kernels::particle {

/// How the variables of the particles lie: each by itself, or all of a particle side by side.
enum class Pattern { contig, interleaved };

struct Layout {
    Geometry geometry;
    Pattern memory = Pattern::contig, file = Pattern::contig;

    /// Eight objects in a step, one for each variable; or one, whose last dimension has the
    /// variables.  [local]
    [[nodiscard]] std::size_t objects_per_step() const noexcept {
        return file == Pattern::contig ? variables.size() : 1;
    }
    /// "/Timestep_0/px", or "/Timestep_0/particles".  [local]
    [[nodiscard]] std::string path(std::size_t object) const;
    [[nodiscard]] core::Scalar type(std::size_t object) const;   ///< [local]
    [[nodiscard]] core::Extents dims() const;                    ///< of any object  [local]
    [[nodiscard]] std::string axes() const;                      ///< "dim_1, dim_2"  [local]
    [[nodiscard]] core::Object object(std::size_t index) const;  ///< [local]
    /// The pieces of a step for particles at `places`: variable by variable, or, from and to
    /// interleaved particles, all at once.  [local]
    [[nodiscard]] std::vector<run::Piece> pieces(std::uint64_t step,
                                                 const std::vector<core::Box>& places) const;
    /// The values of a box of an object, packed; 0 in the gaps between blocks.  [local]
    void values(std::size_t object, const core::Box& place, std::span<std::byte> values) const;

    /// True where memory is interleaved and the file is not.  [local]
    [[nodiscard]] bool rearranges() const noexcept {
        return memory == Pattern::interleaved && file == Pattern::contig;
    }
    /// From variable by variable to particle by particle, and back.  [local]
    void interleave(std::span<const std::byte> separate, std::span<std::byte> particles) const;
    void separate(std::span<const std::byte> particles, std::span<std::byte> separate) const;
};

}  // namespace tailrace::kernels::particle
