// SPDX-License-Identifier: Apache-2.0
#include "server/frontend/neighbours.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/log.hpp"

namespace tailrace::server {

namespace {

void tell(const core::Error& error) {
    core::log(core::LogLevel::warning,
              "what this rank puts for servers of its node travels in messages: " +
                  std::string(error.what()));
}

}  // namespace

Neighbours::Neighbours(const comm::Comm& node, const Neighbour& mine) {
    if (node.max(std::uint64_t{mine.serves}) == 0) return;
    std::vector<std::uint64_t> ranks(static_cast<std::size_t>(node.size()));
    ranks[static_cast<std::size_t>(node.rank())] = static_cast<std::uint64_t>(mine.rank) + 1;
    node.reduce(ranks, comm::Reduce::sum);
    try {
        x_memory = node.share_memory(mine.bytes, false);
    } catch (const core::Error& error) {  // on all of the node
        tell(error);
        return;
    }
    for (int place = 0; place < node.size(); ++place)
        if (const auto rank = static_cast<int>(ranks[static_cast<std::size_t>(place)]); rank > 0)
            x_places.emplace(rank - 1, place);
    x_most = mine.bytes;
}

bool Neighbours::use(std::uint64_t bytes) {
    if (bytes <= x_used) return true;
    if (bytes > x_most) return false;
    constexpr std::uint64_t at_least = std::uint64_t{1} << 20;  // not a call per piece
    const std::uint64_t end = std::min(x_most, std::max(bytes, x_used + at_least));
    try {
        x_memory.reserve(x_used, end);
        x_used = end;
        return true;
    } catch (const core::Error& error) {
        tell(error);
        x_most = x_used;
        return false;
    }
}

std::span<std::byte> Neighbours::part(int rank) const {
    const auto place = x_places.find(rank);
    return place == x_places.end() ? std::span<std::byte>{} : x_memory.part(place->second);
}

}  // namespace tailrace::server
