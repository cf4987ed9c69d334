// SPDX-License-Identifier: Apache-2.0
// Which particles a rank holds, and where its values lie in the file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/box.hpp"

namespace tailrace::kernels::particle {

/// What a particle has, in the order in which it is written. All float32 but id_1, an int32.
inline constexpr std::array<std::string_view, 8> variables{"x",  "y",  "z",    "px",
                                                           "py", "pz", "id_1", "id_2"};
inline constexpr std::size_t whole_variable = 6;  ///< id_1
inline constexpr std::uint64_t element_bytes = 4;
inline constexpr std::uint64_t particle_bytes = variables.size() * element_bytes;

/// Blocks of particles at equal distances: `count` of `size`, each `stride` behind the last one.
struct Blocks {
    std::uint64_t stride = 1, size = 1, count = 1;

    /// Particles of all blocks.  [local]
    [[nodiscard]] std::uint64_t particles() const { return size * count; }
    /// Particles from the first one to the last one.  [local]
    [[nodiscard]] std::uint64_t span() const { return (count - 1) * stride + size; }
    friend bool operator==(const Blocks&, const Blocks&) = default;
};

/// `per_rank` particles of each rank, stacked along the first dimension.
struct Geometry {
    core::Extents per_rank;  ///< one to three extents
    std::uint64_t ranks = 1;
    std::optional<Blocks> blocks;  ///< written of the particles of a rank; one dimension only

    /// Extents of a variable in the file.  [local]
    [[nodiscard]] core::Extents dims() const;
    /// Particles that a rank writes.  [local]
    [[nodiscard]] std::uint64_t particles_per_rank() const;
    /// Where a rank writes them, in ascending order.  [local]
    [[nodiscard]] std::vector<core::Box> places_of(std::uint64_t rank) const;
    /// All particles of all ranks, gaps between blocks included, dealt in another way: along the
    /// second dimension, or shifted by half a part where there is none.  [local]
    [[nodiscard]] std::vector<core::Box> other_places_of(std::uint64_t rank) const;
    [[nodiscard]] core::Extents other_grid() const;  ///< ranks per dimension of these  [local]
    /// The first `count` particles of a rank; they must be there.  [local]
    [[nodiscard]] std::vector<core::Box> first_of(std::uint64_t rank, std::uint64_t count) const;
    /// Whether a particle with this index among those of a rank is written.  [local]
    [[nodiscard]] bool writes(std::uint64_t index) const {
        return !blocks || (index < blocks->span() && index % blocks->stride < blocks->size);
    }
    /// Some blocks of the particles of a rank, joined where nothing lies between them.  [local]
    [[nodiscard]] std::vector<core::Box> blocks_of(std::uint64_t rank, const Blocks& which) const;
};

}  // namespace tailrace::kernels::particle
