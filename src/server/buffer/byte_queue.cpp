// SPDX-License-Identifier: Apache-2.0
#include "server/buffer/byte_queue.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

namespace tailrace::server {

ByteQueue::ByteQueue(std::uint64_t limit, std::uint64_t reserve, const std::string& collection) {
    bound(limit, reserve, collection);
}

void ByteQueue::bound(std::uint64_t limit, std::uint64_t reserve, const std::string& collection) {
    if (limit < reserve)
        throw core::Error(core::Code::bad_input,
                          "the queue of " + core::bytes_text(limit) +
                              " cannot hold a step, which has " + core::bytes_text(reserve),
                          "collection " + collection,
                          "give queue_bytes at least the bytes of one step, better of three");
    x_limit = limit;
    x_reserve = reserve;
}

bool ByteQueue::admit(Item item, std::uint64_t bytes) {
    open(item);
    const auto oldest = x_bytes.begin();
    if (item != oldest->first) {
        const std::uint64_t younger = x_used - oldest->second, room = x_limit - x_reserve;
        if (younger > room || bytes > room - younger) return false;
    }
    x_bytes[item] += bytes;
    x_used += bytes;
    return true;
}

void ByteQueue::release(Item item) {
    const auto found = x_bytes.find(item);
    if (found == x_bytes.end()) return;
    x_used -= found->second;
    x_bytes.erase(found);
}

}  // namespace tailrace::server
