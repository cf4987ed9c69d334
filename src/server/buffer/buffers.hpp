// SPDX-License-Identifier: Apache-2.0
// Memory that is used again: its pages are asked of the system once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tailrace::server {

inline constexpr const char* memory_remedy =
    "give the server more ranks or nodes, or its queues fewer bytes (queue_bytes, depth)";

/// Copies are the same store. It keeps what comes back, and gives it up before it would hold
/// an eighth more than were in use at once.
class Buffers {
public:
    using Memory = std::shared_ptr<std::byte[]>;

    Buffers();
    /// So many bytes or more, not set. They come back with the last copy, from any thread.  [local]
    /// @throws std::bad_alloc
    [[nodiscard]] Memory take(std::uint64_t bytes) const;

private:
    struct Store;
    std::shared_ptr<Store> x_store;
};

}  // namespace tailrace::server
