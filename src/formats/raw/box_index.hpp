// SPDX-License-Identifier: Apache-2.0
// Which of many boxes meet a given one, without looking at all of them. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/box.hpp"

namespace tailrace::formats::raw {

/// A tree over boxes of one rank: each node knows the hull of what lies below it.
class BoxIndex {
public:
    BoxIndex() = default;
    /// Takes n log n steps.  [local]
    explicit BoxIndex(std::vector<core::Box> boxes);

    /// Numbers of the boxes that have an element in common with `place`, ascending.  [local]
    [[nodiscard]] std::vector<std::size_t> meeting(const core::Box& place) const;
    [[nodiscard]] const core::Box& box(std::size_t number) const { return x_boxes[number]; }
    [[nodiscard]] std::size_t size() const noexcept { return x_boxes.size(); }  ///< [local]
    /// Boxes and hulls that were looked at so far, for tests.  [local]
    [[nodiscard]] std::uint64_t looked_at() const noexcept { return x_looked_at; }

private:
    struct Node {
        core::Extents low, high;         ///< hull: first element, and behind the last
        std::size_t begin = 0, end = 0;  ///< of x_order
        std::size_t right = 0;           ///< the left child follows its parent; 0: a leaf
    };
    std::size_t build(std::size_t begin, std::size_t end);
    void find(std::size_t node, const core::Box& place, std::vector<std::size_t>& found) const;

    std::vector<core::Box> x_boxes;
    std::vector<std::size_t> x_order;
    std::vector<Node> x_nodes;
    mutable std::uint64_t x_looked_at = 0;
};

}  // namespace tailrace::formats::raw
