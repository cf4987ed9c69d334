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

/// What is written into either. It refers to the mesh of the plot, and to the fill.
class SharedLayout final : public Layout {
public:
    /// @param schema  one of the above
    SharedLayout(const Plot& plot, const Fill& fill, core::Schema schema);

    [[nodiscard]] core::Schema schema() const override { return x_schema; }
    [[nodiscard]] runner::Piece of_box(std::size_t level, std::uint32_t box) const override;
    [[nodiscard]] std::uint64_t head_bytes(std::size_t, std::uint32_t) const override { return 0; }
    [[nodiscard]] runner::Piece of_particles(std::size_t, std::uint32_t) const override {
        return {0, {{0}, {0}}};
    }
    [[nodiscard]] std::vector<runner::Piece> tables() const override;
    void values(std::size_t object, const core::Box& place,
                std::span<std::byte> bytes) const override;
    /// Whether an object holds values of cells.  [local]
    [[nodiscard]] static bool is_data(std::size_t object) noexcept;

private:
    struct Order {
        std::vector<std::uint32_t> boxes;   ///< by rank
        std::vector<std::uint64_t> begins;  ///< of each and of the end, in elements
        std::vector<std::uint32_t> places;  ///< of each box in `boxes`
    };

    Plot x_plot;
    const Fill& x_fill;
    core::Schema x_schema;
    std::vector<Order> x_levels;
};

/// Elements of the largest chunk of a level's values that no two boxes share: of a box, if all are
/// equally large.  [local]
[[nodiscard]] std::uint64_t chunk_of(const Plot& plot, std::size_t level);
/// Elements of a chunk for filters: so many of these that it is worth its overhead.  [local]
/// @param object  that holds values of cells
[[nodiscard]] std::uint64_t filtered_chunk(const Plot& plot, std::size_t object);

}  // namespace tailrace::kernels::amr
