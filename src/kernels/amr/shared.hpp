// SPDX-License-Identifier: Apache-2.0
// A plot file that all ranks write together, in the names of the original's netCDF file or of
// AMReX's HDF5 file. Both have four objects per level: the ranks of the boxes, the boxes, where
// their values begin, and the values, the boxes of a rank one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/amr/fill.hpp"
#include "kernels/amr/layout.hpp"

namespace tailrace::kernels::amr {

/// @throws core::Error{bad_input}  [local]
[[nodiscard]] core::Schema pnetcdf_schema(const Plot& plot);
/// The same for HDF5, with groups and compounds.  [local]
[[nodiscard]] core::Schema hdf5_schema(const Plot& plot);

/// What is written into either. It refers to the mesh of the plot.
class SharedLayout {
public:
    explicit SharedLayout(const Plot& plot);

    /// What a rank writes: its values, at most one piece per level; rank 0 the rest too.  [local]
    [[nodiscard]] std::vector<Part> parts_of(std::uint64_t rank) const;
    /// What any box of any object holds, packed.  [local]
    void values(const Fill& fill, std::size_t object, const core::Box& place,
                std::span<std::byte> bytes) const;

private:
    struct Order {
        std::vector<std::uint32_t> boxes;   ///< by rank
        std::vector<std::uint64_t> begins;  ///< of each and of the end, in elements
    };
    [[nodiscard]] Part table(std::size_t object) const;

    Plot x_plot;
    std::vector<Order> x_levels;
};

/// Elements of the largest chunk of a level's values that no two boxes share: of a box, if all are
/// equally large.  [local]
[[nodiscard]] std::uint64_t chunk_of(const Plot& plot, std::size_t level);

}  // namespace tailrace::kernels::amr
