// SPDX-License-Identifier: Apache-2.0
#include "kernels/slab/fill.hpp"

#include <algorithm>

namespace tailrace::kernels::slab {

namespace {

/// Owners of the elements of a row, whose fast coordinate begins at `fast`.
void fill_owners(const Geometry& geometry, Axis axis, std::uint64_t slow, std::uint64_t fast,
                 std::span<double> row) {
    const core::Box first = geometry.place_of(axis, 0);
    if (axis == Axis::long_slow) {
        const std::uint64_t owner = slow / first.count[0];
        std::fill(row.begin(), row.end(), static_cast<double>(owner));
        return;
    }
    const std::uint64_t block = first.count[1];
    for (double& value : row) {
        const std::uint64_t owner = fast++ / block;
        value = static_cast<double>(owner);
    }
}

}  // namespace

void fill_box(const Inputs& inputs, std::size_t object, const core::Box& place,
              std::span<double> values) {
    if (place.empty()) return;
    const Axis axis = inputs.axes[object];
    const std::uint64_t width = inputs.geometry.dims(axis)[1];
    const std::uint64_t before = object * inputs.geometry.elements();
    const auto length = static_cast<std::size_t>(place.count[1]);
    for (std::uint64_t slow = place.offset[0]; slow < place.offset[0] + place.count[0]; ++slow) {
        const std::span<double> row = values.first(length);
        if (inputs.fill == FillKind::rank) {
            fill_owners(inputs.geometry, axis, slow, place.offset[1], row);
        } else {
            std::uint64_t index = before + slow * width + place.offset[1];
            for (double& value : row) value = position_value(index++);
        }
        values = values.subspan(length);
    }
}

}  // namespace tailrace::kernels::slab
