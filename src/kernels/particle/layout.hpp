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
#include "runner/kernel.hpp"

namespace tailrace::kernels::particle {

/// How the variables of the particles lie: each by itself, or all of a particle side by side.
enum class Pattern { contig, interleaved };

struct Layout {
    Geometry geometry;
    Pattern memory = Pattern::contig, file = Pattern::contig;
    bool compounds = false;    ///< interleaved particles are elements with members (HDF5)
    bool by_variable = false;  ///< and are written variable by variable, as h5bench does

    /// Eight objects in a step, one for each variable; or one, whose last dimension has the
    /// variables.  [local]
    [[nodiscard]] std::size_t objects_per_step() const noexcept {
        return file == Pattern::contig ? variables.size() : 1;
    }
    /// "/Timestep_0/px", or "/Timestep_0/particles".  [local]
    [[nodiscard]] std::string path(std::size_t object) const;
    [[nodiscard]] core::Scalar type_of_variable(std::size_t variable) const noexcept;  ///< [local]
    [[nodiscard]] core::Scalar type(std::size_t object) const;                         ///< [local]
    [[nodiscard]] core::Extents dims() const;                    ///< of any object  [local]
    [[nodiscard]] std::string axes() const;                      ///< "dim_1, dim_2"  [local]
    [[nodiscard]] core::Object object(std::size_t index) const;  ///< [local]
    /// The pieces of a step for particles at `places`: variable by variable, or, to interleaved
    /// particles, all at once.  [local]
    [[nodiscard]] std::vector<runner::Piece> pieces(std::uint64_t step,
                                                    const std::vector<core::Box>& places) const;
    /// The values of a box of an object, packed; 0 in the gaps between blocks.  [local]
    void values(std::size_t object, const core::Box& place, std::span<std::byte> values) const;

    /// True where the data lie otherwise in memory than in pieces().  [local]
    [[nodiscard]] bool rearranges() const noexcept { return memory != file && !by_variable; }
    /// From the order of pieces() to that in memory, and back: two orders, variable by variable
    /// and particle by particle.  [local]
    void keep(std::span<const std::byte> packed, std::span<std::byte> kept) const;
    void pack(std::span<const std::byte> kept, std::span<std::byte> packed) const;
};

}  // namespace tailrace::kernels::particle
