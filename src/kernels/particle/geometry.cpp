// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/geometry.hpp"

#include <algorithm>

#include "core/checked.hpp"

namespace tailrace::kernels::particle {

core::Extents Geometry::dims() const {
    core::Extents dims = per_rank;
    dims.front() = core::checked_mul(dims.front(), ranks, "particles of all ranks");
    return dims;
}

std::uint64_t Geometry::particles_per_rank() const {
    return blocks ? blocks->particles() : core::checked_product(per_rank, "particles of a rank");
}

std::vector<core::Box> Geometry::places_of(std::uint64_t rank) const {
    if (blocks) return blocks_of(rank, *blocks);
    core::Box box{core::Extents(per_rank.size(), 0), per_rank};
    box.offset.front() = rank * per_rank.front();
    return {box};
}

std::vector<core::Box> Geometry::other_places_of(std::uint64_t rank) const {
    const core::Extents all = dims();
    if (all.size() > 1 && all[1] > 1) return {core::cut(all, 1, ranks, (rank + 1) % ranks)};
    std::vector<core::Box> halves;
    for (const std::uint64_t half : {2 * rank + 1, (2 * rank + 2) % (2 * ranks)})
        if (core::Box box = core::cut(all, 0, 2 * ranks, half); !box.empty())
            halves.push_back(std::move(box));
    return halves;
}

core::Extents Geometry::other_grid() const {
    core::Extents grid(per_rank.size(), 1);
    const bool second = per_rank.size() > 1 && per_rank[1] > 1;
    grid[second ? 1 : 0] = ranks;
    return grid;
}

std::vector<core::Box> Geometry::first_of(std::uint64_t rank, std::uint64_t count) const {
    std::vector<core::Box> boxes;
    core::Extents at(per_rank.size(), 0);
    at.front() = rank * per_rank.front();
    // Whole slabs of each dimension in turn, then what is left of one of them.
    for (std::size_t d = 0; d < per_rank.size() && count > 0; ++d) {
        std::uint64_t slab = 1;
        for (std::size_t k = d + 1; k < per_rank.size(); ++k) slab *= per_rank[k];
        core::Box box{at, core::Extents(per_rank.size(), 1)};
        for (std::size_t k = d + 1; k < per_rank.size(); ++k) box.count[k] = per_rank[k];
        box.count[d] = count / slab;
        at[d] += box.count[d];
        count %= slab;
        if (!box.empty()) boxes.push_back(std::move(box));
    }
    return boxes;
}

std::vector<core::Box> Geometry::blocks_of(std::uint64_t rank, const Blocks& which) const {
    const std::uint64_t first = rank * per_rank.front();
    if (which.stride == which.size || which.count == 1) return {{{first}, {which.particles()}}};
    std::vector<core::Box> boxes;
    boxes.reserve(static_cast<std::size_t>(which.count));
    for (std::uint64_t k = 0; k < which.count; ++k)
        boxes.push_back({{first + k * which.stride}, {which.size}});
    return boxes;
}

}  // namespace tailrace::kernels::particle
