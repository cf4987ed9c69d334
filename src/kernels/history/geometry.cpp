// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/geometry.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::kernels::history {

namespace {

struct Part {
    std::uint64_t offset, count;
};

/// Part `index` of `parts` of `size`; they differ by one at most.
Part part_of(std::uint64_t size, std::uint64_t parts, std::uint64_t index) {
    const std::uint64_t each = size / parts, longer = size % parts;
    return {index * each + std::min(index, longer), each + (index < longer ? 1 : 0)};
}

double coordinate(const Geometry& geometry, Role role, std::uint64_t step, std::uint64_t index) {
    const auto number = static_cast<double>(index);
    switch (role) {
        case Role::time:
            return static_cast<double>(step) * geometry.minutes_per_step;
        case Role::latitude:
            return -90 + (number + 0.5) * (180 / static_cast<double>(geometry.jm));
        case Role::longitude:
            return -180 + number * (360 / static_cast<double>(geometry.im));
        case Role::level:
        case Role::flat:
        case Role::solid:
            break;
    }
    return number + 1;
}

}  // namespace

core::Scalar Variable::type() const noexcept {
    return is_field() ? core::Scalar::f32 : core::Scalar::f64;
}

std::vector<std::string> Geometry::axes_of(const Variable& variable) {
    switch (variable.role) {
        case Role::time:
            return {"time"};
        case Role::level:
            return {"lev"};
        case Role::latitude:
            return {"lat"};
        case Role::longitude:
            return {"lon"};
        case Role::flat:
            return {"time", "lat", "lon"};
        case Role::solid:
            break;
    }
    return {"time", "lev", "lat", "lon"};
}

core::Extents Geometry::dims_of(const Variable& variable) const {
    core::Extents dims;
    for (const std::string& axis : axes_of(variable))
        if (axis != "time") dims.push_back(axis == "lev" ? km : axis == "lat" ? jm : im);
    return dims;
}

core::Box Geometry::place_of(const Variable& variable, std::uint64_t rank) const {
    core::Box place{{}, dims_of(variable)};
    place.offset.assign(place.count.size(), 0);
    if (variable.is_field()) {
        const Part x = part_of(im, nx, rank % nx), y = part_of(jm, ny, rank / nx);
        const std::size_t last = place.count.size() - 1;
        place.offset[last] = x.offset, place.count[last] = x.count;
        place.offset[last - 1] = y.offset, place.count[last - 1] = y.count;
    } else if (rank != 0) {
        place.count.assign(place.count.size(), 0);
    }
    return place;
}

core::Box Geometry::other_place_of(const Variable& variable, std::uint64_t rank) const {
    if (!variable.is_field()) return place_of(variable, ranks() - 1 - rank);
    core::Box place{{}, dims_of(variable)};
    place.offset.assign(place.count.size(), 0);
    const Part part = part_of(place.count[0], ranks(), ranks() - 1 - rank);
    place.offset[0] = part.offset, place.count[0] = part.count;
    return place;
}

void fill_box(const Geometry& geometry, const Variable& variable, std::uint64_t fields,
              std::uint64_t step, const core::Box& place, std::span<std::byte> values) {
    if (!variable.is_field()) {
        const std::uint64_t first = place.offset.empty() ? 0 : place.offset[0];
        for (std::uint64_t i = 0; i < values.size() / sizeof(double); ++i) {
            const double value = coordinate(geometry, variable.role, step, first + i);
            std::memcpy(values.data() + i * sizeof value, &value, sizeof value);
        }
        return;
    }
    if (values.empty()) return;
    const bool solid = variable.role == Role::solid;
    const std::size_t y = solid ? 1 : 0, x = y + 1;
    const std::uint64_t field = step * fields + variable.number;
    auto* to = reinterpret_cast<float*>(values.data());
    for (std::uint64_t k = 0; k < (solid ? place.count[0] : 1); ++k)
        for (std::uint64_t j = 0; j < place.count[y]; ++j) {
            const std::uint64_t level = field * geometry.km + (solid ? place.offset[0] + k : 0);
            const std::uint64_t row = level * geometry.jm + place.offset[y] + j;
            std::uint64_t index = row * geometry.im + place.offset[x];
            for (std::uint64_t i = 0; i < place.count[x]; ++i) *to++ = field_value(index++);
        }
}

}  // namespace tailrace::kernels::history
