// SPDX-License-Identifier: Apache-2.0
// Boxes (hyperslabs with stride 1) and the ways to cut a domain into boxes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tailrace::core {

using Extents = std::vector<std::uint64_t>;  ///< elements per dimension, slowest first

/// A block of elements: `offset[d] <= i[d] < offset[d] + count[d]`. A box with any count of 0 is
/// empty; a box of rank 0 holds one element.
struct Box {
    Extents offset;
    Extents count;

    [[nodiscard]] std::size_t rank() const noexcept { return count.size(); }
    /// Number of elements.  [local]
    /// @throws Error{Code::bad_input} when it does not fit 64 bits
    [[nodiscard]] std::uint64_t volume() const;
    [[nodiscard]] bool empty() const noexcept;
    /// True where every element lies inside an array of `dims`.  [local]
    [[nodiscard]] bool inside(std::span<const std::uint64_t> dims) const noexcept;
    /// "[0:4, 8:16]" for messages.  [local]
    [[nodiscard]] std::string text() const;
    friend bool operator==(const Box&, const Box&) = default;
};

/// The elements of both; empty (counts 0) where they do not meet.  [local]
[[nodiscard]] Box intersect(const Box& a, const Box& b);

/// Row-major linear index of `position` in an array of `dims`.  [local]
[[nodiscard]] std::uint64_t linear_index(std::span<const std::uint64_t> position,
                                         std::span<const std::uint64_t> dims);

/// Calls `visit(offset_in_array, offset_in_box, elements)` for each longest contiguous run of
/// `box` in a row-major array of `dims`, in ascending order; all in elements.  [local]
void for_each_run(const Box& box, std::span<const std::uint64_t> dims,
                  const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

/// The equal parts of at most `most_bytes` that a box is cut into, slowest dimensions first: as
/// large as can be, but rather twice as many than that the last ones overhang, since the chunks of
/// a file are stored whole.  [local]
[[nodiscard]] Extents cut_evenly(Extents extents, std::uint64_t element_bytes,
                                 std::uint64_t most_bytes);

/// Position of part `index` in a grid of parts, last dimension fastest.  [local]
[[nodiscard]] Extents grid_position(std::uint64_t index, std::span<const std::uint64_t> grid);

/// The part `index` of `dims` cut along dimension `axis` into `parts` pieces whose sizes differ by
/// at most one, larger ones first; empty where there are more parts than elements.  [local]
[[nodiscard]] Box cut(std::span<const std::uint64_t> dims, std::size_t axis, std::uint64_t parts,
                      std::uint64_t index);

}  // namespace tailrace::core
