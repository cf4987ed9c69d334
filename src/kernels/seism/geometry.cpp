// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/geometry.hpp"

#include "core/checked.hpp"

namespace tailrace::kernels::seism {

namespace {
constexpr std::uint64_t element_bytes = 4;
}

std::uint64_t Geometry::ranks() const { return core::checked_product(processor, "processor"); }

std::uint64_t Geometry::elements_per_rank() const {
    return core::checked_product(domain, "domain");
}

std::uint64_t Geometry::bytes_per_rank() const {
    return core::checked_mul(elements_per_rank(), element_bytes, "bytes per rank");
}

core::Extents Geometry::slice() const {
    core::Extents extents;
    for (std::size_t d = 0; d < processor.size(); ++d)
        extents.push_back(core::checked_mul(processor[d], domain[d], "processor x domain"));
    return extents;
}

core::Extents Geometry::dims() const {
    core::Extents extents = slice();
    extents.insert(extents.begin(), steps);
    return extents;
}

std::uint64_t Geometry::bytes() const {
    return core::checked_mul(core::checked_product(dims(), "elements of the dataset"),
                             element_bytes, "bytes of the dataset");
}

core::Extents Geometry::block_of(std::uint64_t rank) const {
    return core::grid_position(rank, processor);
}

std::uint64_t Geometry::owner_of(std::uint64_t i, std::uint64_t j, std::uint64_t k) const {
    return (i * processor[1] + j) * processor[2] + k;
}

core::Box Geometry::place_of(std::uint64_t rank, std::uint64_t step) const {
    const core::Extents block = block_of(rank);
    core::Box box{{step}, {1}};
    for (std::size_t d = 0; d < domain.size(); ++d) {
        box.offset.push_back(block[d] * domain[d]);
        box.count.push_back(domain[d]);
    }
    return box;
}

std::size_t Geometry::reading_axis() const {
    const bool only_x = processor[0] > 1 && processor[1] == 1 && processor[2] == 1;
    if (!only_x) return 0;
    return domain[1] > 1 ? 1 : domain[2] > 1 ? 2 : 0;
}

core::Box Geometry::reading_place_of(std::uint64_t rank, std::uint64_t step) const {
    const std::uint64_t parts = ranks();
    const core::Box part = core::cut(slice(), reading_axis(), parts, (rank + 1) % parts);
    core::Box box{{step}, {1}};
    box.offset.insert(box.offset.end(), part.offset.begin(), part.offset.end());
    box.count.insert(box.count.end(), part.count.begin(), part.count.end());
    return box;
}

}  // namespace tailrace::kernels::seism
