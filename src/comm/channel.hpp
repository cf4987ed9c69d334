// SPDX-License-Identifier: Apache-2.0
// Messages between the ranks of a Comm that nobody waits for: posted, tested, probed by tag.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/wire.hpp"

namespace tailrace::comm {

/// A posted send or receive; empty by default. Copies are the same operation.
class Pending {
public:
    Pending() = default;
    [[nodiscard]] bool posted() const noexcept { return x_operation != nullptr; }  ///< [local]
    /// The buffer is free, or filled. Only calls of the Channel move it on.  [local]
    [[nodiscard]] bool done() const noexcept {
        return posted() && x_operation->done.load(std::memory_order_acquire);
    }
    /// What was sent or received.  [local]
    /// @throws core::Error that the operation ended with; Code::wrong_call before it is done
    [[nodiscard]] const Message& message() const;

private:
    friend class Channel;
    explicit Pending(std::shared_ptr<Operation> operation) : x_operation(std::move(operation)) {}
    std::shared_ptr<Operation> x_operation;
};

/// Made by Comm::channel(); its messages meet those of no other channel and no collective.
///
/// Buffers: `keep` holds the memory until the operation is done, and is let go of by a call of the
/// channel or its end. Without `keep` the memory is borrowed: it stays where it is until the
/// operation is done or the channel is closed, so declare it before the channel.
///
/// A send is done when its buffer is free, which does not say that the message arrived. Messages
/// of one source and one tag are received in the order in which they were sent. Lengths and tags
/// have 64 bits. The calls belong to one thread of the rank at a time.
class Channel {
public:
    static constexpr int any = -1;  ///< from any rank
    static constexpr std::chrono::nanoseconds forever = std::chrono::hours(24 * 365 * 100);

    explicit Channel(std::unique_ptr<Wire> wire);
    /// close(); where an exception passes, it gives the others only a moment.
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    [[nodiscard]] int rank() const noexcept { return x_wire->rank(); }  ///< [local]
    [[nodiscard]] int size() const noexcept { return x_wire->size(); }  ///< [local]

    /// Posts a message to a rank, its own included.  [local]
    Pending send(int to, Tag tag, std::span<const std::byte> data,
                 std::shared_ptr<const void> keep = {});
    /// Posts a receive. It ends with Code::wrong_call where the message is longer than `into`, and
    /// the message stays for another receive.  [local]
    /// @param from  a rank, or `any`
    Pending receive(int from, Tag tag, std::span<std::byte> into,
                    std::shared_ptr<const void> keep = {});
    /// Ends a receive that no message has reached with Code::interrupted; else does nothing.
    /// [local]
    void cancel(const Pending& receive);
    /// The first message with this tag that is here and that no receive has taken.  [local]
    [[nodiscard]] std::optional<Message> probe(Tag tag, int from = any);

    /// Moves on what is on its way; true where `one` is done, also with an Error.  [local]
    bool test(const Pending& one);
    /// Waits until at least one is done, or for `limit`. Empty ones do not count; where all are, it
    /// returns at once.  [waits for other ranks]
    /// @returns the places in `some` of all that are done, also with an Error; reset them
    std::vector<std::size_t> wait_some(std::span<const Pending> some,
                                       std::chrono::nanoseconds limit = forever);
    /// Waits until `ready`, which looks by calls of this channel, or for `limit`.
    /// [waits for other ranks]
    /// @returns whether it is
    bool wait_until(const std::function<bool()>& ready, std::chrono::nanoseconds limit = forever);
    /// Waits for one, and throws the Error that it ended with.  [waits for other ranks]
    Message wait(const Pending& one);

    /// Says goodbye and waits for that of all others. What is still open ends with an Error here,
    /// and so does at the others each receive from this rank, or from any once all have gone; what
    /// nobody has received is lost.  [collective]
    /// @param limit  after which it waits no more: what is still open then ends with an Error
    void close(std::chrono::nanoseconds limit = forever);
    /// The same in a moment, where somebody may wait in vain.  [local]
    void leave();

private:
    using Shared = std::shared_ptr<Operation>;
    void check_open(int rank, int least, const char* direction, Tag tag) const;
    void move_on();
    void arrive(Letter letter);
    void part_from(int rank);
    bool give(const Letter& letter, const Shared& receive);
    void close_now(bool abrupt, std::chrono::nanoseconds limit);

    std::unique_ptr<Wire> x_wire;
    Clock::duration x_idle{};     // of waits, also of several short ones, in which nothing moved
    std::list<Letter> x_letters;  // that no receive has taken, in the order of their arrival
    std::list<Shared> x_wanted;   // receives without a message, in the order of their posting
    std::vector<Shared> x_open;   // all that is not done
    std::vector<bool> x_gone;     // per rank: has said goodbye
    int x_others;                 // how many have not
    bool x_closed = false;
    bool x_abrupt = false;  // closed because an exception passed
    int x_exceptions;       // that passed when it was made
};

}  // namespace tailrace::comm
