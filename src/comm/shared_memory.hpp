// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of a node share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tailrace::comm {

class MemoryFile;

/// Made by Comm::share_memory(): a part per rank, and every rank sees all of them. Zeros at first.
/// Copies are the same memory; it goes with the last copy of the last rank, and no rank waits for
/// another one then. Who has written tells the readers by a message or a collective.
class SharedMemory {
public:
    /// Makes sure of bytes [begin, end) of this rank's part, and touches them.  [local]
    /// @throws core::Error{Code::no_space} if there is no such memory: not to be touched then
    void reserve(std::uint64_t begin, std::uint64_t end) const;
    /// The part of a rank: as many bytes as it asked for, from the begin of a page on.  [local]
    [[nodiscard]] std::span<std::byte> part(int rank) const {
        const Part& one = x_parts[static_cast<std::size_t>(rank)];
        return {x_block.get() + one.begin, static_cast<std::size_t>(one.bytes)};
    }

private:
    friend class Comm;
    struct Part {
        std::uint64_t begin, bytes;
    };
    std::vector<Part> x_parts;
    std::size_t x_own = 0;               // place among them
    std::shared_ptr<MemoryFile> x_file;  // between processes
    std::shared_ptr<std::byte> x_block;
};

/// Maps zeros, of an open file or, where there is none, of this process alone.  [local]
/// @throws core::Error{Code::no_space}
[[nodiscard]] std::shared_ptr<std::byte> mapped(std::uint64_t bytes, int file = -1);

}  // namespace tailrace::comm
