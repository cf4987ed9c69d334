// SPDX-License-Identifier: Apache-2.0
// The boxes of an adaptive mesh, level by level, and which rank has which: as AMReX makes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tailrace::kernels::amr {

/// i, j, k. In files they are 32-bit numbers, and AMReX's curve takes 29 bits of each.
using Cell = std::array<std::int32_t, 3>;
inline constexpr std::int32_t most_cells = 1 << 29;  ///< of a level, along an axis

/// A block of cells; `hi` belongs to it.
struct CellBox {
    Cell lo{}, hi{};

    [[nodiscard]] std::int64_t length(std::size_t axis) const noexcept {
        return std::int64_t{hi[axis]} - lo[axis] + 1;
    }
    [[nodiscard]] bool empty() const noexcept;  ///< [local]
    /// @throws core::Error{bad_input} when it does not fit 64 bits  [local]
    [[nodiscard]] std::uint64_t cells() const;
    [[nodiscard]] std::string text() const;   ///< "((0,0,0) (31,31,31) (0,0,0))", as AMReX  [local]
    void append_text(std::string& to) const;  ///< the same  [local]
    friend bool operator==(const CellBox&, const CellBox&) = default;
};

[[nodiscard]] CellBox intersect(const CellBox& a, const CellBox& b) noexcept;  ///< [local]

/// The order of the boxes that a domain is chopped into, and which of them are smaller: AMReX of
/// today, or of 2019, with which the original was built.
enum class BoxOrder { current, of_2019 };
enum class Distribution { sfc, knapsack, roundrobin };

/// A level as a file gives it.
struct Grids {
    CellBox domain;
    std::vector<CellBox> boxes;
};

/// What a mesh is made of.
struct MeshPlan {
    Cell cells{};              ///< of level 0
    std::uint64_t levels = 1;  ///< levels in all
    std::uint64_t ref_ratio = 2;
    Cell max_grid_size{32, 32, 32};
    Cell blocking_factor{1, 1, 1};
    std::uint64_t n_proper = 1;  ///< cells of the coarser level around a box of a finer one
    BoxOrder order = BoxOrder::of_2019;
    Distribution distribution = Distribution::sfc;
    std::uint64_t ranks = 1;
    /// By level, in its own cells: what of it is refined. A level without any: its middle half.
    std::vector<std::vector<CellBox>> refined{};
    /// By level: boxes that are taken as they are, instead of all that; empty: none.
    std::vector<Grids> grids{};
};

struct Level {
    CellBox domain;
    std::vector<CellBox> boxes;        ///< in AMReX's order; none cuts a coarser cell
    std::vector<std::int32_t> owners;  ///< the rank of each

    /// Numbers of the boxes in the order of a shared file: by rank, and in AMReX's order within.
    /// [local]
    [[nodiscard]] std::vector<std::uint32_t> by_rank() const;
    [[nodiscard]] std::uint64_t cells() const;  ///< of all boxes  [local]
};

struct Mesh {
    std::vector<Level> levels;
    std::uint64_t ref_ratio = 2;
    std::uint64_t ranks = 1;

    /// The upper corner of the domain; the lower one is 0, and cells are cubes of which the first
    /// axis has so many that it is 1 long.  [local]
    [[nodiscard]] std::array<double, 3> prob_hi() const noexcept;
    [[nodiscard]] std::array<double, 3> cell_size(std::size_t level) const noexcept;  ///< [local]
};

/// The boxes and owners of all levels.  [local]
/// @throws core::Error{bad_input} whose place is the key at fault
[[nodiscard]] Mesh make_mesh(const MeshPlan& plan);

/// `domain` in boxes of at most `largest` cells per axis.  [local]
[[nodiscard]] std::vector<CellBox> chop(const CellBox& domain, const Cell& largest, BoxOrder order);

/// The rank of each box. If AMReX's knapsack leaves the order of equals to the C++ library, the
/// one that comes first goes first.  [local]
[[nodiscard]] std::vector<std::int32_t> distribute(const std::vector<CellBox>& boxes,
                                                   Distribution how, std::uint64_t ranks);

/// A level from the text of the original's `grids/Level_<n>`: the box of the domain; "(N 0"; N
/// boxes; ")".  [local]
/// @throws core::Error{bad_input} naming `place` and the line
[[nodiscard]] Grids grids_from(const std::string& text, const std::string& place);

}  // namespace tailrace::kernels::amr
