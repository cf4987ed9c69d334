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
    if (!block.memory) block = {fresh(bytes), bytes};
    const std::uint64_t own = block.bytes;
    return {block.memory.release(), [store = x_store, own](std::byte* memory) {
                store->put_back({Owned(memory, Free{own}), own});
            }};
}

}  // namespace tailrace::server
