// SPDX-License-Identifier: Apache-2.0
// The grid of the model, the variables on it, who holds what, and the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/schema.hpp"
#include "core/splitmix.hpp"

namespace tailrace::kernels::history {

enum class Role { time, level, latitude, longitude, flat, solid };

struct Variable {
    std::string name;
    Role role = Role::flat;
    std::uint64_t number = 0;  ///< among the fields of all collections
    std::uint64_t collection = 1;
    /// Of a coordinate float64, of a field float32.  [local]
    [[nodiscard]] core::Scalar type() const noexcept;
    [[nodiscard]] bool is_field() const noexcept {
        return role == Role::flat || role == Role::solid;
    }
    /// All but the coordinates of space.  [local]
    [[nodiscard]] bool has_records() const noexcept { return is_field() || role == Role::time; }
};

struct Geometry {
    std::uint64_t im = 0, jm = 0, km = 0;  ///< longitudes, latitudes, levels
    std::uint64_t nx = 1, ny = 1;          ///< ranks along longitude and latitude
    double minutes_per_step = 240;

    [[nodiscard]] std::uint64_t ranks() const noexcept { return nx * ny; }
    /// Names of the dimensions, slowest first.  [local]
    [[nodiscard]] static std::vector<std::string> axes_of(const Variable& variable);
    /// Extents of one record.  [local]
    [[nodiscard]] core::Extents dims_of(const Variable& variable) const;
    /// A rank's part of a record, or of a coordinate of space. Blocks of fields differ by one at
    /// most; coordinates are rank 0's.  [local]
    [[nodiscard]] core::Box place_of(const Variable& variable, std::uint64_t rank) const;
    /// The same with blocks along levels and latitudes, and dealt from the last rank to the first.
    /// [local]
    [[nodiscard]] core::Box other_place_of(const Variable& variable, std::uint64_t rank) const;
};

/// Value of a field for a number that no two elements of a run share: the upper 24 bits of the
/// SplitMix64 finaliser, as a fraction; exact in float32.  [local]
[[nodiscard]] constexpr float field_value(std::uint64_t index) noexcept {
    return static_cast<float>(core::mixed_index(index) >> 40) * 0x1p-24F;
}

/// The values of a box of a record, packed row-major. A field has field_value(n), n the row-major
/// number of (step, field, level, latitude, longitude) for `fields` fields per step, each of them
/// with all levels.  [local]
void fill_box(const Geometry& geometry, const Variable& variable, std::uint64_t fields,
              std::uint64_t step, const core::Box& place, std::span<std::byte> values);

}  // namespace tailrace::kernels::history
