// SPDX-License-Identifier: Apache-2.0
// Who holds what of a large two-dimensional array of float64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/box.hpp"

namespace tailrace::kernels::slab {

inline constexpr std::uint64_t element_bytes = 8;

/// Which dimension is fast (contiguous in the file), and which one the ranks share.
/// long_fast: long fast and shared: many pieces per rank. long_slow: long slow and shared: one
/// block per rank. short_split: long slow, but the short one is shared: very many small pieces.
enum class Axis { long_fast, long_slow, short_split };

/// "long-fast", "long-slow" or "short-split".  [local]
[[nodiscard]] const char* name(Axis axis) noexcept;

/// One array of `n1` (long) x `n2` (short) elements over `ranks`.
struct Geometry {
    std::uint64_t n1 = 0, n2 = 0, ranks = 1;

    /// Elements of the whole array.  [local]
    [[nodiscard]] std::uint64_t elements() const;
    /// Extents in the file, slowest first.  [local]
    [[nodiscard]] core::Extents dims(Axis axis) const;
    /// The box of a rank: blocks of ceil(n / ranks) along the shared dimension, so that the last
    /// rank with any may hold fewer, and ranks behind it none (the block distribution of
    /// ScaLAPACK).  [local]
    [[nodiscard]] core::Box place_of(Axis axis, std::uint64_t rank) const;
    /// What a reader reads: part (rank + 1) of a cut along the dimension that the writers do not
    /// share, or along the other one where it has one element only. May be empty.  [local]
    [[nodiscard]] core::Box reading_place_of(Axis axis, std::uint64_t rank) const;
    /// The dimension (0 slow, 1 fast) of that cut.  [local]
    [[nodiscard]] std::size_t reading_axis(Axis axis) const;
    /// Most bytes that a rank holds.  [local]
    [[nodiscard]] std::uint64_t bytes_per_rank(Axis axis) const;
    /// Bytes of the smallest piece that is contiguous in a file without chunks, over the ranks that
    /// hold any; and how many such pieces the first rank has.  [local]
    [[nodiscard]] std::uint64_t smallest_piece(Axis axis) const;
    [[nodiscard]] std::uint64_t pieces_per_rank(Axis axis) const;
};

}  // namespace tailrace::kernels::slab
