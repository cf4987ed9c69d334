// SPDX-License-Identifier: Apache-2.0
#include "server/buffer/buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace tailrace::server {

namespace {

/// Up to here malloc uses memory again by itself.
constexpr std::uint64_t small = std::uint64_t{64} << 10;
/// From here on pages of their own: of what is freed, malloc keeps up to twice the largest.
constexpr std::uint64_t large = std::uint64_t{1} << 20;

struct Free {
    std::uint64_t bytes = 0;
    void operator()(std::byte* memory) const noexcept {
        if (bytes < large)
            delete[] memory;
        else
            ::munmap(memory, bytes);
    }
};
using Owned = std::unique_ptr<std::byte[], Free>;

Owned fresh(std::uint64_t bytes) {
    if (bytes < large) return {new std::byte[bytes], Free{bytes}};
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return {static_cast<std::byte*>(memory), Free{bytes}};
}

}  // namespace

struct Buffers::Store {
    struct Block {
        Owned memory{};
        std::uint64_t bytes = 0;
    };
    std::mutex mutex;
    std::vector<Block> free{};  // the last one came back last
    std::size_t blocks = 0;     // free or not: room in `free` for each
    std::uint64_t free_bytes = 0, used_bytes = 0, most_used = 0;

    /// A free one that is not much too large; else an empty one, and room for it.
    Block find(std::uint64_t bytes) {
        const std::lock_guard lock(mutex);
        const auto fits = [bytes](const Block& one) {
            return one.bytes >= bytes && one.bytes / 2 <= bytes;
        };
        if (const auto found = std::find_if(free.rbegin(), free.rend(), fits);
            found != free.rend()) {
            Block block = std::move(*found);
            free.erase(std::next(found).base());
            free_bytes -= block.bytes;
            count_use(block.bytes);
            return block;
        }
        free.reserve(blocks + 1);
        ++blocks;
        count_use(bytes);
        const std::uint64_t most = most_used + most_used / 8;
        while (!free.empty() && used_bytes + free_bytes > most)
            give_up(used_bytes + free_bytes - most);
        return {};
    }
    void put_back(Block block) noexcept {
        const std::lock_guard lock(mutex);
        used_bytes -= block.bytes;
        free_bytes += block.bytes;
        free.push_back(std::move(block));
    }
    void forget(std::uint64_t bytes) noexcept {
        const std::lock_guard lock(mutex);
        used_bytes -= bytes;
        --blocks;
    }
    /// A new one, already counted; for it all that is free is given up if there is no memory.
    Block made(std::uint64_t bytes) {
        try {
            return {fresh(bytes), bytes};
        } catch (const std::bad_alloc&) {
            give_up_all();
        }
        try {
            return {fresh(bytes), bytes};
        } catch (const std::bad_alloc&) {
            forget(bytes);
            throw;
        }
    }
    void give_up_all() noexcept {
        const std::lock_guard lock(mutex);
        blocks -= free.size();
        free_bytes = 0;
        free.clear();
    }

private:
    /// The smallest that is enough, or the largest: a small request costs no large one.
    void give_up(std::uint64_t bytes) {
        const auto last =
            std::min_element(free.begin(), free.end(), [bytes](const Block& a, const Block& b) {
                const bool enough = a.bytes >= bytes;
                if (enough != (b.bytes >= bytes)) return enough;
                return enough ? a.bytes < b.bytes : a.bytes > b.bytes;
            });
        free_bytes -= last->bytes;
        free.erase(last);
        --blocks;
    }
    void count_use(std::uint64_t bytes) noexcept {
        used_bytes += bytes;
        most_used = std::max(most_used, used_bytes);
    }
};

Buffers::Buffers() : x_store(std::make_shared<Store>()) {}

Buffers::Memory Buffers::take(std::uint64_t bytes) const {
    if (bytes < small) return Memory(new std::byte[bytes]);
    Store::Block block = x_store->find(bytes);
    if (!block.memory) block = x_store->made(bytes);
    const std::uint64_t own = block.bytes;
    return {block.memory.release(), [store = x_store, own](std::byte* memory) {
                store->put_back({Owned(memory, Free{own}), own});
            }};
}

}  // namespace tailrace::server
