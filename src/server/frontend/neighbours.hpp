// SPDX-License-Identifier: Apache-2.0
// Memory in which ranks of the model leave pieces for the front ends of their node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "comm/comm.hpp"
#include "comm/shared_memory.hpp"

namespace tailrace::server {

/// What a rank of a node is in the channel of clients and front ends.
struct Neighbour {
    int rank = -1;            ///< of the channel; -1: it takes no part
    bool serves = false;      ///< it reads what others leave
    std::uint64_t bytes = 0;  ///< for what it leaves, at most
};

class Neighbours {
public:
    Neighbours() = default;  ///< nobody: all travels in messages
    /// There is none if nobody serves here, or no memory, which is logged.  [collective]
    Neighbours(const comm::Comm& node, const Neighbour& mine);

    /// The memory of a rank of the channel; empty if it has none, or is on another node.  [local]
    [[nodiscard]] std::span<std::byte> part(int rank) const;
    /// Makes sure of the first bytes of the own part, and touches them.  [local]
    /// @returns false if there is no room, which is logged once
    [[nodiscard]] bool use(std::uint64_t bytes);
    /// Whether that rank sees the parts of this one, and the other way round.  [local]
    [[nodiscard]] bool near(int rank) const { return x_places.contains(rank); }

private:
    comm::SharedMemory x_memory;
    std::map<int, int> x_places;           // ranks of the node, by those of the channel
    std::uint64_t x_used = 0, x_most = 0;  // of the own part
};

}  // namespace tailrace::server
