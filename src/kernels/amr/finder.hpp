// SPDX-License-Identifier: Apache-2.0
// Which boxes of a level meet a region.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/amr/mesh.hpp"

namespace tailrace::kernels::amr {

/// Finds them fast, whether there are two boxes or a million. It refers to the boxes.
class Finder {
public:
    explicit Finder(const std::vector<CellBox>& boxes) : x_boxes(boxes) {
        for (const CellBox& box : boxes)
            for (std::size_t d = 0; d < 3; ++d) x_edge[d] = std::max(x_edge[d], box.length(d));
        x_cells.reserve(boxes.size());
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            x_cells.emplace_back(reversed(cell_of(boxes[i].lo)), i);
        std::sort(x_cells.begin(), x_cells.end());
    }

    /// Calls visit(number of the box, the cells that it shares with the region).  [local]
    template <class Visit>
    void each(const CellBox& region, Visit&& visit) const {
        // The lowest cell of a box that meets the region lies at most a longest edge below it.
        Cell from = region.lo;
        for (std::size_t d = 0; d < 3; ++d)
            from[d] =
                static_cast<std::int32_t>(std::max<std::int64_t>(0, region.lo[d] - x_edge[d] + 1));
        const CellBox grid{cell_of(from), cell_of(region.hi)};
        double cells = 1;  // may be more than 64 bits hold
        for (std::size_t d = 0; d < 3; ++d) cells *= static_cast<double>(grid.length(d));
        const auto take = [&](std::uint32_t box) {
            const CellBox both = intersect(x_boxes[box], region);
            if (!both.empty()) visit(box, both);
        };
        if (cells > static_cast<double>(x_boxes.size())) {
            for (std::uint32_t i = 0; i < x_boxes.size(); ++i) take(i);
            return;
        }
        for (std::int32_t k = grid.lo[2]; k <= grid.hi[2]; ++k)
            for (std::int32_t j = grid.lo[1]; j <= grid.hi[1]; ++j)
                for (auto found = std::lower_bound(x_cells.begin(), x_cells.end(),
                                                   Placed{{k, j, grid.lo[0]}, 0});
                     found != x_cells.end() && found->first <= Cell{k, j, grid.hi[0]}; ++found)
                    take(found->second);
    }

private:
    using Placed = std::pair<Cell, std::uint32_t>;
    [[nodiscard]] static Cell reversed(const Cell& cell) { return {cell[2], cell[1], cell[0]}; }
    /// Of a grid whose cells are as large as the largest box.
    [[nodiscard]] Cell cell_of(const Cell& lo) const {
        Cell cell;
        for (std::size_t d = 0; d < 3; ++d) cell[d] = static_cast<std::int32_t>(lo[d] / x_edge[d]);
        return cell;
    }

    const std::vector<CellBox>& x_boxes;
    std::array<std::int64_t, 3> x_edge{1, 1, 1};
    std::vector<Placed> x_cells;  // sorted: slowest dimension first, and the number of the box
};

}  // namespace tailrace::kernels::amr
