// SPDX-License-Identifier: Apache-2.0
// Where pieces lie, in memory that the front end sees too, until it has taken them over. Pure
// accounts: no memory is held here.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace tailrace::server {

class Slots {
public:
    /// Front end and collection: it takes pieces over in the order in which they are sent.
    using Line = std::pair<std::uint64_t, std::uint64_t>;
    /// What is shorter travels in its message, which costs no more.
    static constexpr std::uint64_t least_bytes = 32768;

    explicit Slots(std::uint64_t bytes) : x_bytes(bytes) {}

    /// Where so many bytes may lie. Nothing if they have to travel in their message, as they do if
    /// there is no room now: nobody waits for a slot.  [local]
    [[nodiscard]] std::optional<std::uint64_t> room(std::uint64_t bytes) const;
    /// Counts a piece that is sent.  [local]
    /// @param slot  where it lies; nothing: in its message
    void take(const Line& line, std::uint64_t bytes, std::optional<std::uint64_t> slot);
    /// The front end has taken over so many bytes more.  [local]
    void free(const Line& line, std::uint64_t bytes);

private:
    struct Piece {
        std::uint64_t bytes = 0;
        std::optional<std::uint64_t> slot{};
    };

    std::uint64_t x_bytes;
    std::map<std::uint64_t, std::uint64_t> x_used;  // begin and end
    std::map<Line, std::deque<Piece>> x_sent;       // and not taken over
};

}  // namespace tailrace::server
