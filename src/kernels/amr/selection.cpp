// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/selection.hpp"

#include <algorithm>
#include <cmath>

namespace tailrace::kernels::amr {

namespace {

/// The cells of a level that lie in a region, at least in part: one at least. A corner that is a
/// border of cells but for its rounding is that border.
CellBox cells_of(const Region& region, const Mesh& mesh, std::size_t level) {
    constexpr double rounding = 1e-9;  // of a cell
    const std::array<double, 3> size = mesh.cell_size(level);
    CellBox cells = mesh.levels[level].domain;
    for (std::size_t d = 0; d < 3; ++d) {
        const double lo = std::clamp<double>(std::floor(region[d] / size[d] + rounding),
                                             cells.lo[d], cells.hi[d]);
        const double hi = std::ceil(region[3 + d] / size[d] - rounding) - 1;
        cells.hi[d] = static_cast<std::int32_t>(std::clamp<double>(hi, lo, cells.hi[d]));
        cells.lo[d] = static_cast<std::int32_t>(lo);
    }
    return cells;
}

CellBox middle_plane(const CellBox& domain) {
    CellBox plane = domain;
    plane.lo[2] = plane.hi[2] = static_cast<std::int32_t>(domain.lo[2] + domain.length(2) / 2);
    return plane;
}

/// Calls add(first element, elements) for the rows of `both` in a box, component by component.
template <class Add>
void each_row(const CellBox& box, const CellBox& both, std::uint64_t components, Add&& add) {
    const auto nx = static_cast<std::uint64_t>(box.length(0));
    const auto ny = static_cast<std::uint64_t>(box.length(1));
    for (std::uint64_t c = 0; c < components; ++c)
        for (std::int32_t k = both.lo[2]; k <= both.hi[2]; ++k)
            for (std::int32_t j = both.lo[1]; j <= both.hi[1]; ++j)
                add(c * box.cells() +
                        (static_cast<std::uint64_t>(k - box.lo[2]) * ny +
                         static_cast<std::uint64_t>(j - box.lo[1])) *
                            nx +
                        static_cast<std::uint64_t>(both.lo[0] - box.lo[0]),
                    static_cast<std::uint64_t>(both.length(0)));
}

}  // namespace

std::vector<runner::Piece> selected(const Layout& layout, const Mesh& mesh,
                                    const Selection& selection, std::uint64_t rank) {
    std::vector<runner::Piece> pieces;
    const core::Schema schema = layout.schema();
    const bool level_alone = selection.pattern == runner::ReadPattern::level;
    for (std::size_t number = level_alone ? mesh.levels.size() - 1 : 0; number < mesh.levels.size();
         ++number) {
        const Level& level = mesh.levels[number];
        const CellBox wanted = level_alone ? level.domain
                               : selection.pattern == runner::ReadPattern::plane
                                   ? middle_plane(level.domain)
                                   : cells_of(selection.region, mesh, number);
        for (std::uint32_t box = 0; box < level.boxes.size(); ++box) {
            const CellBox both = intersect(level.boxes[box], wanted);
            if ((static_cast<std::uint64_t>(level.owners[box]) + 1) % mesh.ranks != rank ||
                both.empty())
                continue;
            const runner::Piece whole = layout.of_box(number, box);
            const std::uint64_t width =
                sizeof(double) / core::size_of(schema.objects[whole.object].type);
            const std::uint64_t begin = whole.place.offset[0] + layout.head_bytes(number, box);
            each_row(level.boxes[box], both, selection.components, [&](auto first, auto count) {
                const std::uint64_t at = begin + first * width;
                if (!pieces.empty() && pieces.back().object == whole.object &&
                    pieces.back().place.offset[0] + pieces.back().place.count[0] == at)
                    pieces.back().place.count[0] += count * width;
                else
                    pieces.push_back({whole.object, {{at}, {count * width}}});
            });
        }
    }
    return pieces;
}

}  // namespace tailrace::kernels::amr
