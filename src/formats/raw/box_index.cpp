// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/box_index.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tailrace::formats::raw {

namespace {

constexpr std::size_t leaf_size = 8;

bool meets(const core::Extents& low, const core::Extents& high, const core::Box& place) {
    for (std::size_t d = 0; d < place.rank(); ++d)
        if (place.offset[d] >= high[d] || place.offset[d] + place.count[d] <= low[d]) return false;
    return true;
}

bool meets(const core::Box& box, const core::Box& place) {
    for (std::size_t d = 0; d < place.rank(); ++d)
        if (place.offset[d] >= box.offset[d] + box.count[d] ||
            place.offset[d] + place.count[d] <= box.offset[d])
            return false;
    return true;
}

}  // namespace

BoxIndex::BoxIndex(std::vector<core::Box> boxes)
    : x_boxes(std::move(boxes)), x_order(x_boxes.size()) {
    std::iota(x_order.begin(), x_order.end(), std::size_t{0});
    // An empty box meets nothing and would widen the hulls.
    std::erase_if(x_order, [&](std::size_t i) { return x_boxes[i].empty(); });
    if (!x_order.empty()) build(0, x_order.size());
}

std::size_t BoxIndex::build(std::size_t begin, std::size_t end) {
    Node node;
    node.begin = begin;
    node.end = end;
    node.low = x_boxes[x_order[begin]].offset;
    node.high = node.low;
    core::Extents last = node.low;  // of the first elements
    for (std::size_t i = begin; i < end; ++i) {
        const core::Box& box = x_boxes[x_order[i]];
        for (std::size_t d = 0; d < box.rank(); ++d) {
            node.low[d] = std::min(node.low[d], box.offset[d]);
            node.high[d] = std::max(node.high[d], box.offset[d] + box.count[d]);
            last[d] = std::max(last[d], box.offset[d]);
        }
    }
    // The axis along which the boxes begin at the most different places.
    std::size_t axis = 0;
    for (std::size_t d = 1; d < node.low.size(); ++d)
        if (last[d] - node.low[d] > last[axis] - node.low[axis]) axis = d;
    const std::size_t number = x_nodes.size();
    x_nodes.push_back(std::move(node));
    if (end - begin <= leaf_size || x_nodes[number].low.empty()) return number;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t i) { return x_order.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end), [&](std::size_t a, std::size_t b) {
        return x_boxes[a].offset[axis] < x_boxes[b].offset[axis];
    });
    build(begin, middle);
    const std::size_t right = build(middle, end);
    x_nodes[number].right = right;
    return number;
}

std::vector<std::size_t> BoxIndex::meeting(const core::Box& place) const {
    std::vector<std::size_t> found;
    if (!x_nodes.empty() && !place.empty()) find(0, place, found);
    std::sort(found.begin(), found.end());
    return found;
}

void BoxIndex::find(std::size_t number, const core::Box& place,
                    std::vector<std::size_t>& found) const {
    const Node& node = x_nodes[number];
    ++x_looked_at;
    if (!meets(node.low, node.high, place)) return;
    if (node.right != 0) {
        find(number + 1, place, found);
        find(node.right, place, found);
        return;
    }
    for (std::size_t i = node.begin; i < node.end; ++i) {
        ++x_looked_at;
        if (meets(x_boxes[x_order[i]], place)) found.push_back(x_order[i]);
    }
}

}  // namespace tailrace::formats::raw
