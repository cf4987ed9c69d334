// SPDX-License-Identifier: Apache-2.0
// Names within names: regions of time, by where they began.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/archive.hpp"

namespace tailrace::server {

template <class T>
class NameTree {
public:
    struct Node {
        std::string name;
        std::size_t depth = 0;  ///< of the outermost names: 1
        std::vector<std::size_t> within{};
        std::map<std::string, std::size_t, std::less<>> places{};
        T value{};
    };

    /// The node of that name within another one; 0 is the place of the outermost names.  [local]
    std::size_t within(std::size_t parent, std::string_view name) {
        const auto& places = x_nodes[parent].places;
        if (const auto found = places.find(name); found != places.end()) return found->second;
        const std::size_t place = x_nodes.size();
        x_nodes.push_back({std::string(name), x_nodes[parent].depth + 1});
        x_nodes[parent].within.push_back(place);
        x_nodes[parent].places.emplace(name, place);
        return place;
    }
    [[nodiscard]] T& operator[](std::size_t place) { return x_nodes[place].value; }  ///< [local]
    [[nodiscard]] const Node& node(std::size_t place) const { return x_nodes[place]; }

    /// All places, each before what is within it, in the order in which they came.  [local]
    [[nodiscard]] std::vector<std::size_t> in_order() const {
        std::vector<std::size_t> order, open{0};
        while (!open.empty()) {
            const Node& last = x_nodes[open.back()];
            order.push_back(open.back());
            open.pop_back();
            open.insert(open.end(), last.within.rbegin(), last.within.rend());
        }
        order.erase(order.begin());
        return order;
    }

private:
    std::vector<Node> x_nodes = std::vector<Node>(1);
};

/// Finds the places in a NameTree of names that come with their depths, as in_order() gives them.
template <class T>
class NamesInOrder {
public:
    explicit NamesInOrder(NameTree<T>& tree) : x_tree(tree) {}
    /// [local]
    /// @throws core::Error{Code::data_lost} if the name before it was not one above
    std::size_t next(std::uint64_t depth, std::string_view name) {
        if (depth == 0 || depth > x_path.size()) throw damaged("the depth of a region");
        x_path.resize(depth);
        x_path.push_back(x_tree.within(x_path.back(), name));
        return x_path.back();
    }

private:
    NameTree<T>& x_tree;
    std::vector<std::size_t> x_path{0};
};

}  // namespace tailrace::server
