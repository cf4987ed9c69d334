// SPDX-License-Identifier: Apache-2.0
// Which ranks compute and which serve. Nodes are filled in the order of their lowest rank, so rank
// 0 of the world always computes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tailrace::server {

/// A number that somebody asked for, and where: "--npes_model".
struct Asked {
    std::uint64_t number = 0;
    std::string place{};
};

struct Wanted {
    std::optional<Asked> model{};    ///< ranks; none: all that do not serve
    std::optional<Asked> servers{};  ///< ranks; not together with server_nodes
    std::optional<Asked> server_nodes{};
    /// Model and servers have nodes of their own, as far as there is more than one.
    bool isolate = true;
    /// Somebody asked for that, and where: then one node is not enough.
    std::string isolate_place{};
};

/// Ranks of the world, each list in rising order: a rank's place in it is its number in its group.
struct Split {
    std::vector<std::uint64_t> model{}, servers{};
    std::vector<std::uint64_t> left_over{};  ///< neither compute nor serve
    bool isolated = false;                   ///< no node has ranks of both
    static void fields(auto& io, auto& m) { io.all(m.model, m.servers, m.left_over, m.isolated); }
};

/// @param nodes  of each rank of the world, a number that its node does not share with another
/// @throws core::Error{Code::bad_input} naming the place, if there are too few ranks  [local]
[[nodiscard]] Split split(const Wanted& wanted, std::span<const int> nodes);

}  // namespace tailrace::server
