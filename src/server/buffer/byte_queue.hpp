// SPDX-License-Identifier: Apache-2.0
// How many bytes of a collection may wait for their writer. Pure accounts: no memory is held here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tailrace::server {

using Item = std::uint64_t;  ///< number of a step, or of another ending, within its collection

/// What becomes of data that do not fit: they stay with their sender, or their step fails.
enum class WhenFull : std::uint64_t { block, error };
[[nodiscard]] constexpr WhenFull last_of(WhenFull) { return WhenFull::error; }  ///< [local]

/// Bytes of the items of one collection that are not final yet.
///
/// The oldest item is always let in, so that it can finish: `reserve` bytes, those of a whole step,
/// are kept free of younger ones. All together stay within `limit` unless one step puts a variable
/// more than once.
class ByteQueue {
public:
    ByteQueue() = default;  ///< nothing fits but the oldest item
    /// @throws core::Error{Code::bad_input} naming `collection` if a step does not fit
    ByteQueue(std::uint64_t limit, std::uint64_t reserve, const std::string& collection);

    /// The same with other bounds; what is in stays in.  [local]
    /// @throws core::Error{Code::bad_input} naming `collection` if a step does not fit
    void bound(std::uint64_t limit, std::uint64_t reserve, const std::string& collection);
    /// Says that there is such an item; the lowest that is open is the oldest.  [local]
    void open(Item item) { x_bytes.try_emplace(item, 0); }
    /// Counts bytes of an item, which is opened, if they fit.  [local]
    [[nodiscard]] bool admit(Item item, std::uint64_t bytes);
    /// Gives back the bytes of an item and forgets it.  [local]
    void release(Item item);
    [[nodiscard]] std::uint64_t used() const noexcept { return x_used; }    ///< [local]
    [[nodiscard]] std::uint64_t limit() const noexcept { return x_limit; }  ///< [local]

private:
    std::uint64_t x_limit = 0, x_reserve = 0, x_used = 0;
    std::map<Item, std::uint64_t> x_bytes;
};

}  // namespace tailrace::server
