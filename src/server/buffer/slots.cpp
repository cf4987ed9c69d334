// SPDX-License-Identifier: Apache-2.0
#include "server/buffer/slots.hpp"

namespace tailrace::server {

/// The smallest gap, and the end only if there is none: as few pages as possible are ever touched,
/// and small pieces do not cut the gaps of large ones.
std::optional<std::uint64_t> Slots::room(std::uint64_t bytes) const {
    if (bytes < least_bytes || bytes > x_bytes) return std::nullopt;
    constexpr std::uint64_t cache_line = 64;
    std::uint64_t begin = 0, smallest = ~std::uint64_t{0};
    std::optional<std::uint64_t> best;
    for (const auto& [used, end] : x_used) {
        if (used >= begin && used - begin >= bytes && used - begin < smallest) {
            smallest = used - begin;
            best = begin;
        }
        begin = (end + cache_line - 1) / cache_line * cache_line;
    }
    return best || begin > x_bytes - bytes ? best : std::optional(begin);
}

void Slots::take(const Line& line, std::uint64_t bytes, std::optional<std::uint64_t> slot) {
    if (slot) x_used.emplace(*slot, *slot + bytes);
    x_sent[line].push_back({bytes, slot});
}

void Slots::free(const Line& line, std::uint64_t bytes) {
    std::deque<Piece>& sent = x_sent[line];
    while (!sent.empty() && sent.front().bytes <= bytes) {
        bytes -= sent.front().bytes;
        if (sent.front().slot) x_used.erase(*sent.front().slot);
        sent.pop_front();
    }
}

}  // namespace tailrace::server
