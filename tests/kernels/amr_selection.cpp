// SPDX-License-Identifier: Apache-2.0
// What the patterns of plot files read, against every cell looked at.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "amr_files.hpp"
#include "kernels/amr/native.hpp"
#include "kernels/amr/selection.hpp"
#include "kernels/amr/shared.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;
using runner::Piece;
using runner::ReadPattern;

namespace {

Mesh uneven(std::uint64_t ranks, std::uint64_t levels) {
    MeshPlan plan;
    plan.cells = {10, 6, 7};
    plan.max_grid_size = {4, 3, 5};
    plan.ranks = ranks;
    plan.levels = levels;
    return make_mesh(plan);
}

/// Whether the pattern takes a cell, by its extent in space alone.
bool takes(const Mesh& mesh, const Selection& selection, std::size_t level, const Cell& cell) {
    if (selection.pattern == ReadPattern::level) return level + 1 == mesh.levels.size();
    if (selection.pattern == ReadPattern::plane)
        return cell[2] == mesh.levels[level].domain.length(2) / 2;
    const auto size = mesh.cell_size(level);
    for (std::size_t d = 0; d < 3; ++d)
        if (cell[d] * size[d] > selection.region[3 + d] - 1e-6 ||
            (cell[d] + 1) * size[d] < selection.region[d] + 1e-6)
            return false;
    return true;
}

/// Bytes of each object that somebody reads, and how often.
using Bytes = std::map<std::pair<std::size_t, std::uint64_t>, int>;

Bytes wanted(const Layout& layout, const Mesh& mesh, const Selection& selection) {
    Bytes bytes;
    const core::Schema schema = layout.schema();
    for (std::size_t level = 0; level < mesh.levels.size(); ++level)
        for (std::uint32_t number = 0; number < mesh.levels[level].boxes.size(); ++number) {
            const CellBox& box = mesh.levels[level].boxes[number];
            const Piece whole = layout.of_box(level, number);
            const std::uint64_t width = core::size_of(schema.objects[whole.object].type);
            std::uint64_t at = whole.place.offset[0] * width + layout.head_bytes(level, number);
            for (std::uint64_t c = 0; c < selection.components; ++c)
                for (std::int32_t k = box.lo[2]; k <= box.hi[2]; ++k)
                    for (std::int32_t j = box.lo[1]; j <= box.hi[1]; ++j)
                        for (std::int32_t i = box.lo[0]; i <= box.hi[0]; ++i, at += 8)
                            if (takes(mesh, selection, level, {i, j, k}))
                                for (std::uint64_t b = 0; b < 8; ++b)
                                    ++bytes[{whole.object, at + b}];
        }
    return bytes;
}

Bytes read(const Layout& layout, const Mesh& mesh, const Selection& selection) {
    Bytes bytes;
    const core::Schema schema = layout.schema();
    for (std::uint64_t rank = 0; rank < mesh.ranks; ++rank)
        for (const Piece& piece : selected(layout, mesh, selection, rank)) {
            const std::uint64_t width = core::size_of(schema.objects[piece.object].type);
            const std::uint64_t first = piece.place.offset[0] * width;
            for (std::uint64_t b = 0; b < piece.place.count[0] * width; ++b)
                ++bytes[{piece.object, first + b}];
        }
    return bytes;
}

std::vector<Selection> selections(std::uint64_t components) {
    const Region all{0, 0, 0, 1, 0.6, 0.7}, inside{0.21, 0.16, 0.33, 0.68, 0.44, 0.35};
    const Region beyond{0.5, 0.25, 0.125, 9, 0.5, 0.6875}, point{0.3, 0.3, 0.3, 0.31, 0.31, 0.31};
    return {{components, ReadPattern::level, {}},      {components, ReadPattern::plane, {}},
            {components, ReadPattern::region, all},    {components, ReadPattern::region, inside},
            {components, ReadPattern::region, beyond}, {components, ReadPattern::region, point}};
}

}  // namespace

TEST_SUITE("kernels.amr_selection") {
    TEST_CASE("each pattern reads its cells, each once, and nothing else") {
        for (const auto& [ranks, levels] : {std::pair{1, 1}, {3, 2}, {5, 3}, {200, 2}}) {
            const Mesh mesh =
                uneven(static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(levels));
            const Plot plot{mesh, 2, 1, 0};
            const Fill fill(mesh, 2);
            const core::Schema schema = pnetcdf_schema(plot);
            const SharedLayout shared(plot, fill, schema);
            const NativeLayout native(plot, fill, nullptr, 2);
            for (const Selection& selection : selections(2))
                for (const Layout* layout :
                     {static_cast<const Layout*>(&shared), static_cast<const Layout*>(&native)}) {
                    CAPTURE(ranks);
                    CAPTURE(static_cast<int>(selection.pattern));
                    CAPTURE(selection.region[0]);
                    const Bytes found = read(*layout, mesh, selection);
                    CHECK(!found.empty());
                    CHECK((found == wanted(*layout, mesh, selection)));
                }
        }
    }

    TEST_CASE("a rank reads boxes that another has written, and rows in a row are one piece") {
        const Mesh mesh = uneven(3, 1);
        const Plot plot{mesh, 2, 1, 0};
        const Fill fill(mesh, 2);
        const core::Schema schema = pnetcdf_schema(plot);
        const SharedLayout layout(plot, fill, schema);
        const Selection all{2, ReadPattern::level, {}};
        for (std::uint64_t rank = 0; rank < 3; ++rank) {
            const auto pieces = selected(layout, mesh, all, rank);
            REQUIRE(pieces.size() == 1);  // what a rank wrote lies together
            const auto own = test::pieces_of(layout, mesh, (rank + 2) % 3);
            CHECK(std::ranges::any_of(own, [&](const Piece& piece) {
                return piece.object == pieces[0].object &&
                       piece.place.offset == pieces[0].place.offset &&
                       piece.place.count == pieces[0].place.count;
            }));
        }
    }
}
