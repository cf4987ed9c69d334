// SPDX-License-Identifier: Apache-2.0
// The values of cells and particles, from their place alone: so that any rank can write them and
// any other can check them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/amr/finder.hpp"
#include "kernels/amr/mesh.hpp"

namespace tailrace::kernels::amr {

/// Numbers the cells of a mesh: no two of (step, level, component, cell) have the same number, as
/// long as there are fewer than 2^64. The value of a cell is core::mixed_fraction of its number.
class Fill {
public:
    Fill(const Mesh& mesh, std::uint64_t components);

    /// The number of a cell: step by step, within it level by level, component by component, and
    /// row by row of the level's domain, i fastest.  [local]
    [[nodiscard]] std::uint64_t number(std::uint64_t step, std::size_t level,
                                       std::uint64_t component, const Cell& cell) const noexcept;
    /// Of all components of a box in the order of every layout: component by component, i fastest.
    /// [local]
    /// @param first  begin with this one of them; as many as `values` has room for
    void values(std::uint64_t step, std::size_t level, const CellBox& box, std::span<double> values,
                std::uint64_t first = 0) const;
    [[nodiscard]] std::uint64_t components() const noexcept { return x_components; }  ///< [local]

private:
    std::uint64_t x_components;
    std::uint64_t x_per_step = 0;
    std::vector<CellBox> x_domains;
    std::vector<std::uint64_t> x_first;  ///< number of each level's first cell in step 0
};

/// Smallest and largest value of each component of a box.
struct Extremes {
    std::vector<double> least, most;
};
/// @param values  of all components, as doubles at any address  [local]
[[nodiscard]] Extremes extremes_of(std::span<const std::byte> values, std::uint64_t components);

inline constexpr std::size_t particle_reals = 12;  ///< beside the position, as in the original
inline constexpr std::size_t particle_ints = 4;    ///< beside id and rank
inline constexpr std::uint64_t particle_int_bytes = (2 + particle_ints) * 4;
inline constexpr std::uint64_t particle_bytes =
    particle_int_bytes + (3 + particle_reals) * sizeof(double);

/// The same number of particles in every cell that no finer level covers, in the middle half of it
/// along each axis. It refers to the mesh. The id counts the particles of a rank from 1, level by
/// level and box by box, in a box by cell (i fastest) and number.
class Particles {
public:
    /// @throws core::Error{bad_input} if the ids of a rank do not fit AMReX's 31 bits
    Particles(const Mesh& mesh, std::uint64_t per_cell);

    [[nodiscard]] std::uint64_t count() const noexcept { return x_count; }  ///< in all  [local]
    [[nodiscard]] std::uint64_t count(std::size_t level, std::size_t box) const noexcept {
        return x_counts[level][box];
    }
    [[nodiscard]] std::uint64_t next_id() const noexcept { return x_next_id; }  ///< [local]
    /// The particles of a box as they lie in the file: the whole numbers of all (id, rank and 4
    /// more each), then the others (position and 12 more each).  [local]
    void records(std::uint64_t step, std::size_t level, std::size_t box,
                 std::span<std::byte> bytes) const;

private:
    template <class Visit>
    void each_covered(std::size_t level, const CellBox& box, Visit&& visit) const;

    const Mesh& x_mesh;
    std::vector<Finder> x_finders;  ///< of each level
    std::uint64_t x_per_cell;
    std::uint64_t x_count = 0, x_next_id = 1;
    std::vector<std::vector<std::uint64_t>> x_counts;
    std::vector<std::vector<std::uint64_t>> x_ids;  ///< the first of each box
    Fill x_numbers;                                 ///< with a particle of a cell for a component
};

}  // namespace tailrace::kernels::amr
