// SPDX-License-Identifier: Apache-2.0
#include "comm/channel.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace tailrace::comm {

namespace {

using core::Code;
using core::Error;

std::string place_of(const char* direction, int rank, Tag tag) {
    return std::string("message ") + direction +
           (rank == Channel::any ? " any rank" : " rank " + std::to_string(rank)) + ", tag " +
           std::to_string(tag);
}

Error closed_by(int rank, std::string place) {
    return {Code::poisoned,
            rank == Channel::any ? "all other ranks have closed the channel"
                                 : "rank " + std::to_string(rank) + " has closed the channel",
            std::move(place)};
}

bool matches(const Letter& letter, const Message& wanted) {
    return letter.tag == wanted.tag &&
           (wanted.rank == Channel::any || wanted.rank == letter.source);
}

}  // namespace

const Message& Pending::message() const {
    if (!done()) throw Error(Code::wrong_call, "the message is not done", "Pending::message");
    if (x_operation->error) throw *x_operation->error;
    return x_operation->message;
}

Channel::Channel(std::unique_ptr<Wire> wire)
    : x_wire(std::move(wire)),
      x_gone(static_cast<std::size_t>(x_wire->size())),
      x_others(x_wire->size() - 1),
      x_exceptions(std::uncaught_exceptions()) {}

Channel::~Channel() {
    // An exception on one rank must not end in silence because the others wait elsewhere.
    try {
        if (std::uncaught_exceptions() > x_exceptions) leave();
        close();
    } catch (...) {  // who wants to know calls close()
    }
}

void Channel::check_open(int rank, int least, const char* direction, Tag tag) const {
    if (!x_closed && rank >= least && rank < size()) return;
    throw Error(
        Code::wrong_call,
        x_closed ? "the channel is closed"
                 : "there is no such rank among the " + std::to_string(size()) + " of the channel",
        place_of(direction, rank, tag));
}

Pending Channel::send(int to, Tag tag, std::span<const std::byte> data,
                      std::shared_ptr<const void> keep) {
    check_open(to, 0, "to", tag);
    move_on();
    const auto send = std::make_shared<Operation>();
    send->message = {to, tag, data.size()};
    if (x_gone[static_cast<std::size_t>(to)]) {
        send->end(closed_by(to, place_of("to", to, tag)));
        return Pending(send);
    }
    Letter letter;
    letter.source = rank();
    letter.tag = tag;
    letter.bytes = data.size();
    if (data.size() <= x_wire->longest_inside()) {
        letter.inside.assign(data.begin(), data.end());
        send->end();
    } else {
        send->from = data.data();
        send->keep = std::move(keep);
        letter.body = send;
    }
    x_wire->post(to, std::move(letter));
    if (send->from != nullptr) x_open.push_back(send);
    return Pending(send);
}

Pending Channel::receive(int from, Tag tag, std::span<std::byte> into,
                         std::shared_ptr<const void> keep) {
    check_open(from, any, "from", tag);
    move_on();
    const auto receive = std::make_shared<Operation>();
    receive->message = {from, tag, 0};
    receive->into = into.data();
    receive->room = into.size();
    receive->keep = std::move(keep);
    x_open.push_back(receive);
    const auto letter = std::find_if(x_letters.begin(), x_letters.end(), [&](const Letter& one) {
        return matches(one, receive->message);
    });
    if (letter != x_letters.end()) {
        if (give(*letter, receive)) x_letters.erase(letter);
        return Pending(receive);
    }
    x_wanted.push_back(receive);
    part_from(from);
    return Pending(receive);
}

void Channel::cancel(const Pending& receive) {
    move_on();
    const auto found = std::find(x_wanted.begin(), x_wanted.end(), receive.x_operation);
    if (found == x_wanted.end()) return;
    const Message& wanted = (*found)->message;
    (*found)->end(Error(Code::interrupted, "the receive was cancelled",
                        place_of("from", wanted.rank, wanted.tag)));
    x_wanted.erase(found);
}

std::optional<Message> Channel::probe(Tag tag, int from) {
    check_open(from, any, "from", tag);
    move_on();
    for (const Letter& letter : x_letters)
        if (matches(letter, {from, tag, 0})) return Message{letter.source, tag, letter.bytes};
    return std::nullopt;
}

bool Channel::test(const Pending& one) {
    move_on();
    return one.done();
}

bool Channel::wait_until(const std::function<bool()>& ready, std::chrono::nanoseconds limit) {
    constexpr auto at_most =
        std::chrono::milliseconds(1);  // `ready` may not wait for letters alone
    const Clock::time_point begin = Clock::now();
    Clock::time_point before = begin;
    while (!ready()) {
        const Clock::time_point now = Clock::now();
        x_idle += now - std::exchange(before, now);
        if (now - begin >= limit) return false;
        x_wire->rest(x_idle, std::min(begin + limit, now + at_most));
    }
    return true;
}

std::vector<std::size_t> Channel::wait_some(std::span<const Pending> some,
                                            std::chrono::nanoseconds limit) {
    std::vector<std::size_t> done;
    wait_until(
        [&] {
            move_on();
            for (std::size_t i = 0; i < some.size(); ++i)
                if (some[i].done()) done.push_back(i);
            return !done.empty() || std::none_of(some.begin(), some.end(),
                                                 [](const Pending& one) { return one.posted(); });
        },
        limit);
    return done;
}

Message Channel::wait(const Pending& one) {
    wait_some(std::span(&one, 1));
    return one.message();
}

void Channel::close(std::chrono::nanoseconds limit) { close_now(false, limit); }

void Channel::leave() { close_now(true, std::chrono::milliseconds(200)); }

void Channel::move_on() {
    std::vector<Letter> letters = x_wire->collect();
    const bool came = !letters.empty();
    for (Letter& letter : letters) arrive(std::move(letter));
    const auto ended = std::erase_if(x_open, [](const Shared& one) {
        const bool done = one->done.load(std::memory_order_acquire);
        if (done) one->keep.reset();
        return done;
    });
    if (came || ended > 0) x_idle = {};
}

void Channel::arrive(Letter letter) {
    if (letter.goodbye) {
        x_gone[static_cast<std::size_t>(letter.source)] = true;
        --x_others;
        if (letter.abrupt) {
            std::vector<Shared> lost;
            std::ranges::copy_if(x_open, std::back_inserter(lost), [&](const Shared& one) {
                return one->from != nullptr && one->message.rank == letter.source;
            });
            x_wire->abandon(lost, closed_by(letter.source, "channel"));
        }
        part_from(letter.source);
        part_from(any);
        return;
    }
    if (x_closed) {  // its sender has to get its buffer back
        if (letter.is_whole() || x_abrupt) return;
        const auto nobody = std::make_shared<Operation>();
        const auto scratch = std::make_shared<std::vector<std::byte>>(letter.bytes);
        nobody->into = scratch->data();
        nobody->room = scratch->size();
        nobody->keep = scratch;
        x_wire->fetch(letter, nobody);
        return;
    }
    for (auto wanted = x_wanted.begin(); wanted != x_wanted.end();) {
        if (!matches(letter, (*wanted)->message)) {
            ++wanted;
            continue;
        }
        const bool given = give(letter, *wanted);
        wanted = x_wanted.erase(wanted);
        if (given) return;
    }
    x_letters.push_back(std::move(letter));
}

/// Ends the receives that wait for a rank, or for any, in vain.
void Channel::part_from(int rank) {
    const bool in_vain =
        rank == any ? x_others == 0 && size() > 1 : x_gone[static_cast<std::size_t>(rank)];
    if (!in_vain) return;
    x_wanted.remove_if([rank](const Shared& one) {
        if (one->message.rank != rank) return false;
        one->end(closed_by(rank, place_of("from", rank, one->message.tag)));
        return true;
    });
}

/// False where the message is longer than the buffer: the receive has ended, the message stays.
bool Channel::give(const Letter& letter, const Shared& receive) {
    if (letter.bytes > receive->room) {
        receive->end(Error(Code::wrong_call,
                           "the message has " + std::to_string(letter.bytes) +
                               " bytes, the buffer of the receive " + std::to_string(receive->room),
                           place_of("from", letter.source, letter.tag),
                           "probe it, and receive it into a longer buffer"));
        return false;
    }
    receive->message = {letter.source, letter.tag, letter.bytes};
    if (letter.is_whole()) {
        std::copy(letter.inside.begin(), letter.inside.end(), receive->into);
        receive->end();
    } else {
        x_wire->fetch(letter, receive);
    }
    return true;
}

void Channel::close_now(bool abrupt, std::chrono::nanoseconds limit) {
    if (x_closed) return;
    x_closed = true;
    x_abrupt = abrupt;
    for (const Shared& one : x_wanted)
        one->end(Error(Code::poisoned, "the channel was closed before a message came",
                       place_of("from", one->message.rank, one->message.tag)));
    x_wanted.clear();
    Letter goodbye;
    goodbye.source = rank();
    goodbye.goodbye = true;
    goodbye.abrupt = abrupt;
    for (int to = 0; to < size(); ++to)
        if (to != rank()) x_wire->post(to, goodbye);
    for (Letter& letter : std::exchange(x_letters, {})) arrive(std::move(letter));
    // Who waits here still takes what others send, so that their buffers get free.
    const Clock::time_point begin = Clock::now();
    for (;;) {
        move_on();
        if (x_others == 0 && x_open.empty() && x_wire->idle()) return;
        const auto waited = Clock::now() - begin;
        if (waited >= limit) break;
        x_wire->rest(waited, begin + limit);
    }
    x_wire->abandon(x_open, Error(Code::poisoned, "the channel was left", "channel"));
    x_open.clear();
}

}  // namespace tailrace::comm
