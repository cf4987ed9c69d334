// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/mesh.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "core/checked.hpp"
#include "kernels/amr/finder.hpp"

namespace tailrace::kernels::amr {

using core::Code;
using core::Error;

namespace {

constexpr std::uint64_t most_boxes = 1ULL << 31;  // their number is a 32-bit one in AMReX

std::string along(std::size_t axis) { return std::string(" along ") + "xyz"[axis]; }

void check_axes(const MeshPlan& plan) {
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int32_t n = plan.cells[d], largest = plan.max_grid_size[d],
                           factor = plan.blocking_factor[d];
        if (n < 1 || n > most_cells)
            throw Error(Code::bad_input, std::to_string(n) + " cells" + along(d), "ncells",
                        "give 1 to " + std::to_string(most_cells));
        if (largest < 1 || factor < 1)
            throw Error(Code::bad_input, "a box of no cells" + along(d),
                        largest < 1 ? "max_grid_size" : "blocking_factor", "give at least 1");
        if (largest % factor != 0)
            throw Error(Code::bad_input,
                        "max_grid_size " + std::to_string(largest) + along(d) +
                            " is no multiple of the blocking_factor " + std::to_string(factor),
                        "max_grid_size", "give a multiple of it, or a smaller blocking_factor");
        if (n % factor != 0)
            throw Error(Code::bad_input,
                        std::to_string(n) + " cells" + along(d) +
                            " are no multiple of the blocking_factor " + std::to_string(factor),
                        "ncells", "give a multiple of it, or a smaller blocking_factor");
    }
}

void check_plan(const MeshPlan& plan) {
    check_axes(plan);
    if (plan.levels < 1)
        throw Error(Code::bad_input, "a mesh of no levels", "nlevs", "give at least 1");
    if (plan.ref_ratio != 2 && plan.ref_ratio != 4)
        throw Error(Code::bad_input, "a ref_ratio of " + std::to_string(plan.ref_ratio),
                    "ref_ratio", "give 2 or 4");
    if (plan.n_proper > most_cells)
        throw Error(Code::bad_input, "n_proper " + std::to_string(plan.n_proper), "n_proper",
                    "give a few cells");
    if (plan.ranks < 1 || plan.ranks > INT32_MAX)
        throw Error(Code::bad_input, std::to_string(plan.ranks) + " ranks", "ranks",
                    "give 1 to 2147483647");
    if (!plan.grids.empty() && plan.grids.size() != plan.levels)
        throw Error(Code::bad_input,
                    "boxes of " + std::to_string(plan.grids.size()) + " levels for nlevs " +
                        std::to_string(plan.levels),
                    "grids_from_file", "give as many files of boxes as levels");
    if (plan.refined.size() >= plan.levels)
        throw Error(Code::bad_input,
                    "boxes to refine on level " + std::to_string(plan.refined.size() - 1) +
                        ", but nlevs is " + std::to_string(plan.levels),
                    "refine", "refine levels 0 to nlevs - 2");
}

Cell over(const Cell& a, const Cell& b) { return {a[0] / b[0], a[1] / b[1], a[2] / b[2]}; }

CellBox times(const CellBox& box, const Cell& factor) {
    CellBox fine;
    for (std::size_t d = 0; d < 3; ++d) {
        fine.lo[d] = box.lo[d] * factor[d];
        fine.hi[d] = (box.hi[d] + 1) * factor[d] - 1;
    }
    return fine;
}

/// Outwards to whole cells of the coarser level.
CellBox coarse(const CellBox& box, std::int32_t ratio) {
    CellBox result;
    for (std::size_t d = 0; d < 3; ++d) {
        result.lo[d] = box.lo[d] / ratio;
        result.hi[d] = box.hi[d] / ratio;
    }
    return result;
}

/// The lengths of boxes are multiples of it. Above level 0 no box cuts a coarser cell, as in AMReX.
Cell unit_of(const MeshPlan& plan, std::size_t level) {
    Cell unit = plan.blocking_factor;
    for (std::size_t d = 0; d < 3 && level > 0; ++d) {
        const auto both =
            std::lcm(std::int64_t{unit[d]}, static_cast<std::int64_t>(plan.ref_ratio));
        if (both > plan.max_grid_size[d])
            throw Error(Code::bad_input,
                        "max_grid_size " + std::to_string(plan.max_grid_size[d]) + along(d) +
                            " holds no box of " + std::to_string(both) +
                            " cells, the least above level 0",
                        "max_grid_size", "give at least that, or a smaller blocking_factor");
        unit[d] = static_cast<std::int32_t>(both);
    }
    return unit;
}

/// Chopped as AMReX does: units stay whole.
void add_chopped(const CellBox& region, const MeshPlan& plan, std::size_t level,
                 std::vector<CellBox>& to) {
    const Cell factor = unit_of(plan, level);
    for (std::size_t d = 0; d < 3; ++d)
        if (region.lo[d] % factor[d] != 0 || (region.hi[d] + 1) % factor[d] != 0)
            throw Error(Code::bad_input,
                        region.text() + " is no multiple of the blocking_factor " +
                            std::to_string(plan.blocking_factor[d]) + along(d),
                        "refine", "refine boxes that are, or give a smaller blocking_factor");
    const CellBox units{over(region.lo, factor),
                        {(region.hi[0] + 1) / factor[0] - 1, (region.hi[1] + 1) / factor[1] - 1,
                         (region.hi[2] + 1) / factor[2] - 1}};
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < 3; ++d)
        count = core::checked_mul(
            count, static_cast<std::uint64_t>(region.length(d) / plan.max_grid_size[d]) + 1,
            "max_grid_size");
    count = core::checked_add(count, to.size(), "max_grid_size");
    if (count > most_boxes)
        throw Error(Code::bad_input, "about " + std::to_string(count) + " boxes", "max_grid_size",
                    "AMReX counts boxes with 31 bits; give a larger max_grid_size");
    for (const CellBox& box : chop(units, over(plan.max_grid_size, factor), plan.order))
        to.push_back(times(box, factor));
}

/// The middle half of what a level covers, in its cells; outwards to whole units of the next one.
CellBox centre_of(const CellBox& covered, const MeshPlan& plan) {
    CellBox middle = covered;
    for (std::size_t d = 0; d < 3; ++d) {
        const auto ratio = static_cast<std::int32_t>(plan.ref_ratio);
        const std::int32_t unit =
            plan.blocking_factor[d] / std::gcd(plan.blocking_factor[d], ratio);
        const auto quarter = static_cast<std::int32_t>(covered.length(d) / 4);
        middle.lo[d] = (covered.lo[d] + quarter) / unit * unit;
        middle.hi[d] = (covered.hi[d] - quarter + unit) / unit * unit - 1;
    }
    return intersect(middle, covered);
}

CellBox around(const std::vector<CellBox>& boxes) {
    CellBox all = boxes.front();
    for (const CellBox& box : boxes)
        for (std::size_t d = 0; d < 3; ++d) {
            all.lo[d] = std::min(all.lo[d], box.lo[d]);
            all.hi[d] = std::max(all.hi[d], box.hi[d]);
        }
    return all;
}

/// The blocks that a level covers, in its own cells.
std::vector<CellBox> regions_above(const MeshPlan& plan, const Level& below, std::size_t level) {
    if (!plan.grids.empty()) return plan.grids[level].boxes;
    std::vector<CellBox> regions;
    if (level <= plan.refined.size()) regions = plan.refined[level - 1];
    if (regions.empty()) regions = {centre_of(around(below.boxes), plan)};
    const auto ratio = static_cast<std::int32_t>(plan.ref_ratio);
    for (CellBox& region : regions) {
        if (region.empty() || intersect(region, below.domain) != region)
            throw Error(Code::bad_input,
                        region.text() + " is no box of level " + std::to_string(level - 1) +
                            ", whose domain is " + below.domain.text(),
                        "refine", "give boxes of cells that are there, lower corner first");
        region = times(region, {ratio, ratio, ratio});
    }
    return regions;
}

const char* origin(const MeshPlan& plan) {
    return plan.grids.empty() ? "refine" : "grids_from_file";
}

void check_apart(const MeshPlan& plan, const CellBox& domain, const std::vector<CellBox>& boxes,
                 std::size_t number) {
    const std::string of_level = " of level " + std::to_string(number);
    if (boxes.empty())
        throw Error(Code::bad_input, "no box" + of_level, origin(plan),
                    "give it one, or lower nlevs");
    for (const CellBox& box : boxes)
        if (box.empty() || intersect(box, domain) != box)
            throw Error(Code::bad_input,
                        box.text() + of_level + " leaves the domain " + domain.text(), origin(plan),
                        "keep the boxes within it");
    const Finder finder(boxes);
    for (std::uint32_t i = 0; i < boxes.size(); ++i) {
        finder.each(boxes[i], [&](std::uint32_t other, const CellBox&) {
            if (other != i)
                throw Error(Code::bad_input,
                            boxes[i].text() + " and " + boxes[other].text() + of_level + " overlap",
                            origin(plan), "give every cell to one box");
        });
    }
}

/// Every box, grown by n_proper coarse cells, lies within the boxes of the coarser level, except
/// beyond the domain.
void check_nested(const MeshPlan& plan, const std::vector<CellBox>& boxes, const Level& below,
                  std::size_t number) {
    const Finder finder(below.boxes);
    const auto grow = static_cast<std::int32_t>(plan.n_proper);
    for (const CellBox& box : boxes) {
        CellBox needed = coarse(box, static_cast<std::int32_t>(plan.ref_ratio));
        for (std::size_t d = 0; d < 3; ++d) {
            needed.lo[d] -= grow;
            needed.hi[d] += grow;
        }
        needed = intersect(needed, below.domain);
        std::uint64_t covered = 0;
        finder.each(needed, [&](std::uint32_t, const CellBox& both) { covered += both.cells(); });
        if (covered != needed.cells())
            throw Error(Code::bad_input,
                        box.text() + " of level " + std::to_string(number) + " is not nested: of " +
                            std::to_string(needed.cells()) + " coarser cells in and around it " +
                            std::to_string(covered) + " are in boxes of level " +
                            std::to_string(number - 1),
                        origin(plan),
                        "keep the boxes n_proper (" + std::to_string(plan.n_proper) +
                            ") coarser cells within those below, or give a smaller n_proper");
    }
}

/// The boxes of a file are those of this mesh, and cut no cell of the coarser level.
void check_grids(const MeshPlan& plan, const Level& level, std::size_t number) {
    const Grids& grids = plan.grids[number];
    if (grids.domain != level.domain)
        throw Error(Code::bad_input,
                    "the domain of level " + std::to_string(number) + " is " + grids.domain.text() +
                        ", but by ncells and ref_ratio it is " + level.domain.text(),
                    "grids_from_file", "give the numbers of cells that the files are made for");
    const auto ratio = number == 0 ? 1 : static_cast<std::int32_t>(plan.ref_ratio);
    for (const CellBox& box : grids.boxes)
        for (std::size_t d = 0; d < 3; ++d)
            if (box.lo[d] % ratio != 0 || (box.hi[d] + 1) % ratio != 0)
                throw Error(Code::bad_input,
                            box.text() + " of level " + std::to_string(number) +
                                " cuts coarser cells" + along(d),
                            "grids_from_file", "give boxes that are multiples of ref_ratio");
}

Level level_0(const MeshPlan& plan) {
    Level level;
    level.domain = {{0, 0, 0}, {plan.cells[0] - 1, plan.cells[1] - 1, plan.cells[2] - 1}};
    (void)level.domain.cells();  // refused here if 64 bits do not hold them
    if (plan.grids.empty()) {
        add_chopped(level.domain, plan, 0, level.boxes);
        return level;
    }
    check_grids(plan, level, 0);
    check_apart(plan, level.domain, plan.grids[0].boxes, 0);
    level.boxes = plan.grids[0].boxes;
    if (level.cells() != level.domain.cells())
        throw Error(Code::bad_input, "the boxes of level 0 leave cells of the domain out",
                    "grids_from_file", "give boxes that cover it");
    return level;
}

Level level_above(const MeshPlan& plan, const Level& below, std::size_t number) {
    Level level;
    const auto ratio = static_cast<std::int32_t>(plan.ref_ratio);
    for (std::size_t d = 0; d < 3; ++d)
        if (below.domain.length(d) * ratio > most_cells)
            throw Error(Code::bad_input,
                        "level " + std::to_string(number) + " has more than " +
                            std::to_string(most_cells) + " cells" + along(d),
                        "nlevs", "give fewer levels, a smaller ref_ratio or fewer cells");
    level.domain = times(below.domain, {ratio, ratio, ratio});
    (void)level.domain.cells();
    std::vector<CellBox> regions = regions_above(plan, below, number);
    if (!plan.grids.empty()) check_grids(plan, level, number);
    check_apart(plan, level.domain, regions, number);
    check_nested(plan, regions, below, number);
    if (plan.grids.empty())
        for (const CellBox& region : regions) add_chopped(region, plan, number, level.boxes);
    else
        level.boxes = std::move(regions);
    return level;
}

}  // namespace

bool CellBox::empty() const noexcept { return hi[0] < lo[0] || hi[1] < lo[1] || hi[2] < lo[2]; }

std::uint64_t CellBox::cells() const {
    if (empty()) return 0;
    const std::uint64_t lengths[] = {static_cast<std::uint64_t>(length(0)),
                                     static_cast<std::uint64_t>(length(1)),
                                     static_cast<std::uint64_t>(length(2))};
    return core::checked_product(lengths, "ncells");
}

std::string CellBox::text() const {
    std::string text;
    append_text(text);
    return text;
}

void CellBox::append_text(std::string& to) const {
    std::array<char, 80> buffer{};  // "((", six numbers of 11 characters at most, what is between
    char* at = buffer.data();
    const char* before = "((";
    for (const std::array<std::int32_t, 3>* corner : {&lo, &hi}) {
        for (const std::int32_t cell : *corner) {
            while (*before != 0) *at++ = *before++;
            at = std::to_chars(at, buffer.data() + buffer.size(), cell).ptr;
            before = ",";
        }
        before = ") (";
    }
    to.append(buffer.data(), at) += ") (0,0,0))";
}

CellBox intersect(const CellBox& a, const CellBox& b) noexcept {
    CellBox both;
    for (std::size_t d = 0; d < 3; ++d) {
        both.lo[d] = std::max(a.lo[d], b.lo[d]);
        both.hi[d] = std::min(a.hi[d], b.hi[d]);
    }
    return both;
}

std::vector<std::uint32_t> Level::by_rank() const {
    std::vector<std::uint32_t> order(boxes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return owners[a] < owners[b]; });
    return order;
}

std::uint64_t Level::cells() const {
    std::uint64_t sum = 0;
    for (const CellBox& box : boxes) sum = core::checked_add(sum, box.cells(), "ncells");
    return sum;
}

std::array<double, 3> Mesh::prob_hi() const noexcept {
    const CellBox& domain = levels.front().domain;
    std::array<double, 3> corner{};
    for (std::size_t d = 0; d < 3; ++d)
        corner[d] = static_cast<double>(domain.length(d)) / static_cast<double>(domain.length(0));
    return corner;
}

std::array<double, 3> Mesh::cell_size(std::size_t level) const noexcept {
    std::array<double, 3> size = prob_hi();
    for (std::size_t d = 0; d < 3; ++d)
        size[d] /= static_cast<double>(levels[level].domain.length(d));
    return size;
}

Mesh make_mesh(const MeshPlan& plan) {
    check_plan(plan);
    Mesh mesh{{}, plan.ref_ratio, plan.ranks};
    mesh.levels.push_back(level_0(plan));
    for (std::size_t number = 1; number < plan.levels; ++number)
        mesh.levels.push_back(level_above(plan, mesh.levels.back(), number));
    for (Level& level : mesh.levels)
        level.owners = distribute(level.boxes, plan.distribution, plan.ranks);
    return mesh;
}

}  // namespace tailrace::kernels::amr
