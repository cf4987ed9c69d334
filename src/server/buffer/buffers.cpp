// SPDX-License-Identifier: Apache-2.0
#include "server/buffer/buffers.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace tailrace::server {

struct Buffers::Store {
    struct Block {
        std::unique_ptr<std::byte[]> memory;
        std::uint64_t bytes = 0;
    };
    std::mutex mutex;
    std::vector<Block> free{};  // the last one came back last
    std::size_t blocks = 0;     // free or not: room in `free` for each

    /// A free one that is not much too large; else an empty one, and as much memory less.
    Block find(std::uint64_t bytes) {
        const std::lock_guard lock(mutex);
        const auto fits = [bytes](const Block& one) {
            return one.bytes >= bytes && one.bytes / 2 <= bytes;
        };
        if (const auto found = std::find_if(free.rbegin(), free.rend(), fits);
            found != free.rend()) {
            Block block = std::move(*found);
            free.erase(std::next(found).base());
            return block;
        }
        std::uint64_t given_up = 0;
        auto last = free.begin();
        for (; last != free.end() && given_up < bytes; ++last) given_up += last->bytes;
        blocks -= static_cast<std::size_t>(last - free.begin());
        free.erase(free.begin(), last);
        free.reserve(++blocks);
        return {};
    }
    void put_back(Block block) noexcept {
        const std::lock_guard lock(mutex);
        free.push_back(std::move(block));
    }
};

Buffers::Buffers() : x_store(std::make_shared<Store>()) {}

Buffers::Memory Buffers::take(std::uint64_t bytes) const {
    Store::Block block = x_store->find(bytes);
    if (!block.memory) block = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
    const std::uint64_t own = block.bytes;
    return {block.memory.release(), [store = x_store, own](std::byte* memory) {
                store->put_back({std::unique_ptr<std::byte[]>(memory), own});
            }};
}

}  // namespace tailrace::server
