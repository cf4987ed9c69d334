// SPDX-License-Identifier: Apache-2.0
// Who holds what: a grid of processors over a four-dimensional dataset (time, x, y, z).
#pragma once

#include <cstdint>

#include "core/box.hpp"

namespace tailrace::kernels::seism {

/// `processor` blocks per direction, each of `domain` elements, in `steps` slices of time.
struct Geometry {
    core::Extents processor;  ///< blocks in x, y, z; all > 0
    core::Extents domain;     ///< elements of one block in x, y, z; all > 0
    std::uint64_t steps = 1;

    [[nodiscard]] std::uint64_t ranks() const;              ///< [local] product of `processor`
    [[nodiscard]] std::uint64_t elements_per_rank() const;  ///< [local] of one step
    [[nodiscard]] std::uint64_t bytes_per_rank() const;     ///< [local] of one step, float32
    [[nodiscard]] core::Extents slice() const;              ///< [local] x, y, z extents of a step
    [[nodiscard]] core::Extents dims() const;               ///< [local] time, x, y, z
    [[nodiscard]] std::uint64_t bytes() const;              ///< [local] of the whole dataset

    /// Block (i, j, k) of a rank; z runs fastest: k = r % Pz, j = r / Pz % Py, i = r / (Pz Py).
    /// [local]
    [[nodiscard]] core::Extents block_of(std::uint64_t rank) const;
    /// The rank that holds a block.  [local]
    [[nodiscard]] std::uint64_t owner_of(std::uint64_t i, std::uint64_t j, std::uint64_t k) const;
    /// Where the block of a rank lies in the dataset at one step (4-D).  [local]
    [[nodiscard]] core::Box place_of(std::uint64_t rank, std::uint64_t step) const;

    /// The axis (0 x, 1 y, 2 z) along which readers cut a slice: another one than the writers'
    /// where there is another one.  [local]
    [[nodiscard]] std::size_t reading_axis() const;
    /// What reader `rank` of ranks() reads of one step (4-D): part (rank + 1) of a cut along
    /// reading_axis(), so that no rank reads just its own block. May be empty.  [local]
    [[nodiscard]] core::Box reading_place_of(std::uint64_t rank, std::uint64_t step) const;
};

}  // namespace tailrace::kernels::seism
