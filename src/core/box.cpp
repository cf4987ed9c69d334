// SPDX-License-Identifier: Apache-2.0
#include "core/box.hpp"

#include <algorithm>

#include "core/checked.hpp"

namespace tailrace::core {

std::uint64_t Box::volume() const {
    if (empty()) return 0;
    try {
        return checked_product(count, "");
    } catch (const Error& error) {  // the text costs far more than the product
        throw error.with_where("box " + text());
    }
}

bool Box::empty() const noexcept {
    return std::any_of(count.begin(), count.end(), [](std::uint64_t n) { return n == 0; });
}

bool Box::inside(std::span<const std::uint64_t> dims) const noexcept {
    if (offset.size() != dims.size() || count.size() != dims.size()) return false;
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (offset[d] > dims[d] || count[d] > dims[d] - offset[d]) return false;
    return true;
}

std::string Box::text() const {
    std::string text = "[";
    for (std::size_t d = 0; d < count.size(); ++d) {
        if (d > 0) text += ", ";
        const std::uint64_t begin = d < offset.size() ? offset[d] : 0;
        text += std::to_string(begin) + ":" + std::to_string(begin + count[d]);
    }
    return text + "]";
}

Box intersect(const Box& a, const Box& b) {
    if (a.rank() != b.rank())
        throw Error(Code::wrong_call, "boxes of rank " + std::to_string(a.rank()) + " and " +
                                          std::to_string(b.rank()) + " cannot meet");
    Box both{a.offset, a.count};
    for (std::size_t d = 0; d < a.rank(); ++d) {
        const std::uint64_t begin = std::max(a.offset[d], b.offset[d]);
        const std::uint64_t end = std::min(a.offset[d] + a.count[d], b.offset[d] + b.count[d]);
        both.offset[d] = begin;
        both.count[d] = end > begin ? end - begin : 0;
    }
    return both;
}

std::uint64_t linear_index(std::span<const std::uint64_t> position,
                           std::span<const std::uint64_t> dims) {
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) index = index * dims[d] + position[d];
    return index;
}

void for_each_run(const Box& box, std::span<const std::uint64_t> dims,
                  const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& visit) {
    if (box.empty()) return;
    // Dimensions from `inner` on lie contiguously: all after it are whole.
    std::size_t inner = dims.size();
    std::uint64_t run = 1;
    while (inner > 0) {
        --inner;
        run = checked_mul(run, box.count[inner], "run of box " + box.text());
        if (box.count[inner] != dims[inner]) break;
    }
    Extents position = box.offset;
    std::uint64_t in_box = 0;
    for (;;) {
        visit(linear_index(position, dims), in_box, run);
        in_box += run;
        std::size_t d = inner;
        while (d > 0) {
            --d;
            if (++position[d] < box.offset[d] + box.count[d]) break;
            position[d] = box.offset[d];
            if (d == 0) return;
        }
        if (inner == 0) return;
    }
}

Extents grid_position(std::uint64_t index, std::span<const std::uint64_t> grid) {
    Extents position(grid.size());
    for (std::size_t d = grid.size(); d-- > 0;) {
        position[d] = index % grid[d];
        index /= grid[d];
    }
    return position;
}

Box cut(std::span<const std::uint64_t> dims, std::size_t axis, std::uint64_t parts,
        std::uint64_t index) {
    if (axis >= dims.size() || parts == 0 || index >= parts)
        throw Error(Code::wrong_call, "no part " + std::to_string(index) + " of " +
                                          std::to_string(parts) + " along dimension " +
                                          std::to_string(axis));
    Box box{Extents(dims.size(), 0), Extents(dims.begin(), dims.end())};
    const std::uint64_t small = dims[axis] / parts;
    const std::uint64_t larger = dims[axis] % parts;
    box.offset[axis] = index * small + std::min(index, larger);
    box.count[axis] = small + (index < larger ? 1 : 0);
    return box;
}

/// Of up to twice as many parts those that overhang least; of very many parts it does not matter.
static std::uint64_t part_of(std::uint64_t extent, std::uint64_t parts) {
    const auto part = [extent](std::uint64_t n) { return (extent + n - 1) / n; };
    std::uint64_t best = parts;
    const std::uint64_t end = parts + std::min<std::uint64_t>(parts, 1000);
    for (std::uint64_t n = parts + 1; n < end && n <= extent; ++n)
        if (n * part(n) < best * part(best)) best = n;
    return part(best);
}

Extents cut_evenly(Extents extents, std::uint64_t element_bytes, std::uint64_t most_bytes) {
    std::uint64_t bytes = element_bytes;
    for (std::size_t i = extents.size(); i-- > 0;) {
        const std::uint64_t most = std::max<std::uint64_t>(most_bytes / bytes, 1);
        const std::uint64_t parts = std::max<std::uint64_t>((extents[i] + most - 1) / most, 1);
        extents[i] = std::max<std::uint64_t>(part_of(extents[i], parts), 1);
        bytes *= extents[i];
    }
    return extents;
}

}  // namespace tailrace::core
