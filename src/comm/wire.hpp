// SPDX-License-Identifier: Apache-2.0
// What a Channel asks of its face. Tags, order and lengths are the Channel's affair: a face carries
// letters from rank to rank, in order, and fetches what a letter only announces.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/error.hpp"

namespace tailrace::comm {

using Tag = std::uint64_t;
using Clock = std::chrono::steady_clock;

/// What is known of a message.
struct Message {
    int rank = -1;  ///< the other one: the source of what was received, else the destination
    Tag tag = 0;
    std::uint64_t bytes = 0;
};

/// A send or a receive on its way.
struct Operation {
    Message message;
    const std::byte* from = nullptr;   ///< of a send
    std::byte* into = nullptr;         ///< of a receive
    std::uint64_t room = 0;            ///< bytes at `into`
    std::shared_ptr<const void> keep;  ///< holds the buffer; its own rank lets go of it
    std::mutex mutex;                  ///< between threads: held by who reads `from` or ends it
    std::optional<core::Error> error;  ///< not written any more once it is done
    std::atomic<bool> done = false;

    void end(std::optional<core::Error> why = std::nullopt) {
        error = std::move(why);
        done.store(true, std::memory_order_release);
    }
};

/// What travels ahead of every message.
struct Letter {
    int source = -1;
    bool goodbye = false;  ///< the last one of its source
    bool abrupt = false;   ///< a goodbye whose source takes nothing any more
    Tag tag = 0;
    std::uint64_t bytes = 0;
    std::vector<std::byte> inside;    ///< the message, if it is short
    std::shared_ptr<Operation> body;  ///< the send of one that is not; between threads also there
    std::uint64_t number = 0;         ///< for the face

    [[nodiscard]] bool is_whole() const noexcept { return inside.size() == bytes; }
};

/// One end of a channel, for one thread at a time.
class Wire {
public:
    virtual ~Wire() = default;
    [[nodiscard]] virtual int rank() const noexcept = 0;
    [[nodiscard]] virtual int size() const noexcept = 0;
    /// Messages up to this length travel in their letters.
    [[nodiscard]] virtual std::size_t longest_inside() const noexcept = 0;
    /// Never waits. The body's operation ends once its buffer is free.
    virtual void post(int to, Letter letter) = 0;
    /// What came since the last call; moves on what is on its way. Never waits.
    virtual std::vector<Letter> collect() = 0;
    /// Brings the body of a letter to a receive with room for it, and ends that. Never waits.
    virtual void fetch(const Letter& letter, const std::shared_ptr<Operation>& receive) = 0;
    /// True where nothing is on its way from here.
    [[nodiscard]] virtual bool idle() const noexcept = 0;
    /// Sleeps until there may be something to collect, or for a while.
    /// @param waited  how long the caller has waited
    virtual void rest(Clock::duration waited, Clock::time_point until) = 0;
    /// Ends these with an Error, and takes back what still can be.
    virtual void abandon(const std::vector<std::shared_ptr<Operation>>& open,
                         const core::Error& why) = 0;
};

}  // namespace tailrace::comm
