// SPDX-License-Identifier: Apache-2.0
// Threads as ranks, with one lock for all and a condition per thread. One rank alone is a process
// on its own: no call waits there.
#include "comm/threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "comm/shared_memory.hpp"
#include "comm/wire.hpp"

namespace tailrace::comm {

namespace {

using core::Code;
using core::Error;

/// All threads that were started together.
struct World {
    explicit World(int ranks) : seats(static_cast<std::size_t>(ranks)) {}
    struct Seat {
        std::condition_variable news;
        std::uint64_t left = 0;  // 1 for the first that ended
    };
    Seat& seat(int rank) { return seats[static_cast<std::size_t>(rank)]; }
    void leave(int rank) {
        const std::lock_guard lock(mutex);
        seat(rank).left = ++left;
        for (Seat& one : seats) one.news.notify_all();
    }

    std::mutex mutex;  // of all that follows, and of circles and boxes
    std::vector<Seat> seats;
    std::uint64_t left = 0;
};

/// What a rank lays down for the others in a collective.
struct Slot {
    const char* call = nullptr;
    std::uint64_t alike = 0;  // the same on all ranks, or the program is wrong
    const void* data = nullptr;
};

/// The threads of one Group.
struct Circle {
    Circle(std::shared_ptr<World> all, std::vector<int> members)
        : world(std::move(all)), seats(std::move(members)), slots(seats.size()) {}

    /// Names the one that ended first: the others may have ended because of it.
    void throw_if_left() {
        std::uint64_t first = UINT64_MAX;
        std::size_t rank = 0;
        for (std::size_t r = 0; world->left > 0 && r < seats.size(); ++r)
            if (const auto left = world->seat(seats[r]).left; left > 0 && left < first) {
                first = left;
                rank = r;
            }
        if (first != UINT64_MAX)
            throw Error(Code::poisoned,
                        "rank " + std::to_string(rank) + " has ended, and others wait for it",
                        "threads");
    }
    /// Returns when all have called it.
    void arrive(int rank, const Slot* slot = nullptr) {
        std::unique_lock lock(world->mutex);
        throw_if_left();
        if (slot != nullptr) slots[static_cast<std::size_t>(rank)] = *slot;
        if (++arrived == seats.size()) {
            arrived = 0;
            ++round;
            for (const int one : seats) world->seat(one).news.notify_all();
            return;
        }
        auto& news = world->seat(seats[static_cast<std::size_t>(rank)]).news;
        for (const auto mine = round; round == mine; news.wait(lock)) throw_if_left();
    }

    std::shared_ptr<World> world;
    std::vector<int> seats;
    std::vector<Slot> slots;
    std::size_t arrived = 0;
    std::uint64_t round = 0;
};

/// Where the letters of one channel lie until they are collected.
struct PostOffice {
    explicit PostOffice(const Circle& circle)
        : world(circle.world), seats(circle.seats), boxes(seats.size()) {}
    struct Box {
        std::vector<Letter> letters;
        bool news = false;  // a send of the owner has ended
        bool closed = false;
    };
    Box& box(int rank) { return boxes[static_cast<std::size_t>(rank)]; }
    std::condition_variable& news_of(int rank) {
        return world->seat(seats[static_cast<std::size_t>(rank)]).news;
    }
    /// Ends the send of a letter that nobody will collect.
    void end(const Letter& letter) {
        if (!letter.body) return;
        {
            const std::lock_guard reading(letter.body->mutex);
            if (!letter.body->done) letter.body->end();
        }
        wake(letter.source);
    }
    /// Of the owner of a send that has ended.
    void wake(int rank) {
        const std::lock_guard lock(world->mutex);
        box(rank).news = true;
        news_of(rank).notify_all();
    }

    std::shared_ptr<World> world;
    std::vector<int> seats;
    std::vector<Box> boxes;
};

class ThreadWire final : public Wire {
public:
    ThreadWire(std::shared_ptr<PostOffice> office, int rank)
        : x_office(std::move(office)), x_rank(rank) {}
    ~ThreadWire() override {
        std::vector<Letter> lost;
        {
            const std::lock_guard lock(x_office->world->mutex);
            mine().closed = true;
            lost.swap(mine().letters);
        }
        for (Letter& letter : lost) x_office->end(letter);
    }
    ThreadWire(const ThreadWire&) = delete;
    ThreadWire& operator=(const ThreadWire&) = delete;

    [[nodiscard]] int rank() const noexcept override { return x_rank; }
    [[nodiscard]] int size() const noexcept override {
        return static_cast<int>(x_office->boxes.size());
    }
    [[nodiscard]] std::size_t longest_inside() const noexcept override { return 1024; }

    void post(int to, Letter letter) override {
        {
            const std::lock_guard lock(x_office->world->mutex);
            auto& box = x_office->box(to);
            if (!box.closed) {
                box.letters.push_back(std::move(letter));
                x_office->news_of(to).notify_all();
                return;
            }
        }
        x_office->end(letter);
    }

    std::vector<Letter> collect() override {
        const std::lock_guard lock(x_office->world->mutex);
        return std::exchange(mine().letters, {});
    }

    void fetch(const Letter& letter, const std::shared_ptr<Operation>& receive) override {
        Operation& send = *letter.body;
        {
            const std::lock_guard reading(send.mutex);
            if (send.done) {
                receive->end(Error(Code::poisoned,
                                   "rank " + std::to_string(letter.source) +
                                       " has left the channel before its message was received",
                                   "tag " + std::to_string(letter.tag)));
                return;
            }
            std::memcpy(receive->into, send.from, letter.bytes);
            send.end();
        }
        receive->end();
        x_office->wake(letter.source);
    }

    [[nodiscard]] bool idle() const noexcept override { return true; }

    void rest(Clock::duration, Clock::time_point until) override {
        std::unique_lock lock(x_office->world->mutex);
        x_office->news_of(x_rank).wait_until(
            lock, until, [this] { return !mine().letters.empty() || mine().news; });
        mine().news = false;
    }

    void abandon(const std::vector<std::shared_ptr<Operation>>& open, const Error& why) override {
        for (const auto& one : open) {
            const std::lock_guard reading(one->mutex);
            if (!one->done) one->end(why);
        }
    }

private:
    PostOffice::Box& mine() { return x_office->box(x_rank); }

    std::shared_ptr<PostOffice> x_office;
    int x_rank;
};

class ThreadGroup final : public Group {
public:
    ThreadGroup(std::shared_ptr<Circle> circle, int rank)
        : x_circle(std::move(circle)), x_rank(rank) {}

    [[nodiscard]] int rank() const noexcept override { return x_rank; }
    [[nodiscard]] int size() const noexcept override {
        return static_cast<int>(x_circle->seats.size());
    }
    void barrier() override {
        meet({"barrier"}, [](std::span<const Slot>) {});
    }
    void broadcast(std::span<std::byte> data, int root) override {
        meet({"broadcast", data.size(), data.data()}, [&](std::span<const Slot> all) {
            if (x_rank != root)
                std::copy_n(static_cast<const std::byte*>(at(all, root).data), data.size(),
                            data.data());
        });
    }
    void reduce_all(std::span<std::uint64_t> values, Reduce how) override { reduce(values, how); }
    void reduce_all(std::span<double> values, Reduce how) override { reduce(values, how); }

    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine, int root) override {
        std::vector<std::vector<std::byte>> result;
        meet({"gather", static_cast<std::uint64_t>(root), &mine}, [&](std::span<const Slot> all) {
            if (x_rank != root) return;
            for (const Slot& slot : all) {
                const auto& one = *static_cast<const std::span<const std::byte>*>(slot.data);
                result.emplace_back(one.begin(), one.end());
            }
        });
        return result;
    }
    std::vector<std::vector<std::byte>> exchange(
        std::span<const std::vector<std::byte>> to) override {
        std::vector<std::vector<std::byte>> from;
        meet({"exchange", to.size(), to.data()}, [&](std::span<const Slot> all) {
            for (const Slot& slot : all)
                from.push_back(static_cast<const std::vector<std::byte>*>(slot.data)[x_rank]);
        });
        return from;
    }

    std::shared_ptr<Group> split(int color, int key) override {
        struct Wish {
            int color, key, rank;
        };
        const Wish mine{color, key, x_rank};
        std::vector<Wish> mates;
        meet({"split", 0, &mine}, [&](std::span<const Slot> all) {
            for (const Slot& slot : all)
                if (const auto& one = *static_cast<const Wish*>(slot.data); one.color == color)
                    mates.push_back(one);
        });
        std::stable_sort(mates.begin(), mates.end(),
                         [](const Wish& a, const Wish& b) { return a.key < b.key; });
        std::vector<int> seats;
        int rank = 0;
        for (const Wish& one : mates) {
            if (one.rank == x_rank) rank = static_cast<int>(seats.size());
            seats.push_back(x_circle->seats[static_cast<std::size_t>(one.rank)]);
        }
        const auto circle = [&] { return std::make_shared<Circle>(x_circle->world, seats); };
        return std::make_shared<ThreadGroup>(made_by(mates.front().rank, circle), rank);
    }
    std::shared_ptr<Group> split_node() override { return split(0, x_rank); }

    std::unique_ptr<Wire> open_wire() override {
        return std::make_unique<ThreadWire>(
            made_by(0, [&] { return std::make_shared<PostOffice>(*x_circle); }), x_rank);
    }
    std::shared_ptr<std::byte> map(std::uint64_t bytes) override {
        return made_by(0, [&] { return mapped(bytes); });
    }

private:
    static const Slot& at(std::span<const Slot> all, int rank) {
        return all[static_cast<std::size_t>(rank)];
    }

    /// Lays down `mine`, and calls `read` with what all ranks have laid down; returns when all have
    /// read. Throws on all ranks where they did not call the same.
    template <class Read>
    void meet(const Slot& mine, Read&& read) {
        if (size() == 1) return read(std::span(&mine, 1));  // also for threads that share a copy
        x_circle->arrive(x_rank, &mine);
        std::exception_ptr failure;
        try {
            for (const Slot& one : x_circle->slots)
                if (std::strcmp(one.call, x_circle->slots[0].call) != 0 ||
                    one.alike != x_circle->slots[0].alike)
                    throw Error(Code::rank_mismatch,
                                text_of(one) + " on rank " +
                                    std::to_string(&one - x_circle->slots.data()) + ", " +
                                    text_of(x_circle->slots[0]) + " on rank 0",
                                "threads");
            read(std::span<const Slot>(x_circle->slots));
        } catch (...) {
            failure = std::current_exception();
        }
        x_circle->arrive(x_rank);
        if (failure) std::rethrow_exception(failure);
    }
    static std::string text_of(const Slot& slot) {
        return std::string(slot.call) + "(" + std::to_string(slot.alike) + ")";
    }

    template <class Number>
    void reduce(std::span<Number> values, Reduce how) {
        std::vector<Number> result(values.begin(), values.end());
        meet({"reduce", values.size(), values.data()}, [&](std::span<const Slot> all) {
            for (std::size_t i = 0; i < result.size(); ++i)
                for (std::size_t r = 0; r < all.size(); ++r) {
                    const Number one = static_cast<const Number*>(all[r].data)[i];
                    if (r == 0)
                        result[i] = one;
                    else if (how == Reduce::sum)
                        result[i] += one;
                    else
                        result[i] = how == Reduce::min ? std::min(result[i], one)
                                                       : std::max(result[i], one);
                }
        });
        std::copy(result.begin(), result.end(), values.begin());
    }

    /// What `leader` makes, shared by all ranks that name it.
    template <class Make, class Made = std::invoke_result_t<Make>>
    Made made_by(int leader, Make&& make) {
        Made made;
        std::optional<Error> failure;
        if (x_rank == leader) failure = Comm::caught([&] { made = make(); });
        Made result;
        meet({"share", 0, &made}, [&](std::span<const Slot> all) {
            result = *static_cast<const Made*>(at(all, leader).data);
        });
        if (failure) throw *failure;
        if (!result)
            throw Error(Code::poisoned, "rank " + std::to_string(leader) + " has no memory for all",
                        "threads");
        return result;
    }

    std::shared_ptr<Circle> x_circle;
    int x_rank;
};

}  // namespace

Comm Comm::self() {
    return Comm(std::make_shared<ThreadGroup>(
        std::make_shared<Circle>(std::make_shared<World>(1), std::vector<int>{0}), 0));
}

void run_threads(int ranks, const std::function<void(const Comm&)>& body) {
    std::vector<int> seats;
    for (int r = 0; r < ranks; ++r) seats.push_back(r);
    const auto world = std::make_shared<World>(ranks);
    const auto circle = std::make_shared<Circle>(world, seats);
    std::exception_ptr first;
    int first_rank = -1;
    const auto run = [&](int rank) {
        try {
            body(Comm(std::make_shared<ThreadGroup>(circle, rank)));
        } catch (...) {
            const std::lock_guard lock(world->mutex);
            if (!first) {
                first = std::current_exception();
                first_rank = rank;
            }
        }
        world->leave(rank);
    };
    {
        std::vector<std::jthread> threads;
        for (const int r : seats) try {
                threads.emplace_back(run, r);
            } catch (const std::exception&) {  // no more threads: the others must not wait for it
                const std::lock_guard lock(world->mutex);
                if (!first) first = std::current_exception();
                break;
            }
        for (std::size_t r = threads.size(); r < seats.size(); ++r)
            world->leave(static_cast<int>(r));
    }
    if (!first) return;
    try {
        std::rethrow_exception(first);
    } catch (const Error& error) {
        throw error.rank() < 0 && first_rank >= 0 ? error.seen_by(first_rank, 1, ranks) : error;
    }
}

}  // namespace tailrace::comm
