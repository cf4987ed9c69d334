// SPDX-License-Identifier: Apache-2.0
// Channels, the same over all faces.
#include "comm/channel.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "core/cpu_time.hpp"
#include "core/splitmix.hpp"
#include "faces.hpp"

using namespace tailrace;
using comm::Channel;
using comm::Comm;
using comm::Message;
using comm::Pending;
using comm::Tag;
using core::Code;
using Bytes = std::vector<std::byte>;

namespace {

/// A message that no other one looks like: its bytes follow from source, tag, place among those of
/// its source and tag, and position.
Bytes text_of(int source, Tag tag, std::size_t place, std::size_t bytes) {
    Bytes text(bytes);
    const std::uint64_t start =
        core::mixed_index(tag) + core::mixed_index(static_cast<std::uint64_t>(source)) * 31 + place;
    for (std::size_t i = 0; i < bytes; ++i)
        text[i] = static_cast<std::byte>(core::mixed_index(start + i * 1000) & 0xff);
    return text;
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The code of the Error that an operation has ended with; nothing where it has none.
std::string code_of(const Pending& one) {
    const auto error = Comm::caught([&] { static_cast<void>(one.message()); });
    return error ? std::string(core::name(error->code())) : "";
}

struct Planned {
    int from, to;
    Tag tag;
    std::size_t bytes, place;
};

constexpr std::size_t longest = 9000;

/// How the messages of a tag are received; all of one tag in one way, or one would take what
/// another waits for.
enum class Way { from_rank, from_any, probed };
Way way_of(Tag tag) { return static_cast<Way>(tag % 3); }

/// The same on all ranks.
std::vector<Planned> random_plan(std::uint64_t seed, int ranks) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::map<std::pair<int, std::pair<int, Tag>>, std::size_t> sent;
    std::vector<Planned> plan;
    for (std::uint64_t i = 0; i < 40 * static_cast<std::uint64_t>(ranks); ++i) {
        Planned one{};
        one.from = static_cast<int>(below(static_cast<std::uint64_t>(ranks)));
        one.to = static_cast<int>(below(static_cast<std::uint64_t>(ranks)));
        one.tag = below(6) + (below(2) << 40U);
        const std::size_t kinds[] = {0, below(30), 1000 + below(50), below(longest)};
        one.bytes = kinds[below(4)];
        one.place = sent[{one.from, {one.to, one.tag}}]++;
        plan.push_back(one);
    }
    return plan;
}

/// One rank's part of a plan.
class Player {
public:
    Player(Channel& channel, std::uint64_t seed)
        : x_channel(channel), x_random(seed + 100 * static_cast<std::uint64_t>(channel.rank())) {
        for (const Planned& one : random_plan(seed, channel.size())) {
            if (one.from == channel.rank()) x_to_send.push_back(one);
            if (one.to == channel.rank()) x_to_receive.push_back(one);
        }
        x_coming = x_to_receive;
        std::reverse(x_to_send.begin(), x_to_send.end());
        std::shuffle(x_to_receive.begin(), x_to_receive.end(), x_random);
    }

    void play() {
        while (!x_to_send.empty() || !x_to_receive.empty()) {
            const bool sends = x_random() % 2 == 0;
            if (sends && !x_to_send.empty()) send();
            if (!sends && !x_to_receive.empty()) receive();
            if (x_random() % 5 == 0) settle(std::chrono::microseconds(x_random() % 50));
        }
        while (std::any_of(x_pending.begin(), x_pending.end(),
                           [](const Pending& one) { return one.posted(); }))
            settle(Channel::forever);
        check();
    }

private:
    struct Received {
        Pending pending;
        Tag tag;
        std::shared_ptr<Bytes> into;
    };

    void send() {
        const Planned one = x_to_send.back();
        x_to_send.pop_back();
        auto text = std::make_shared<Bytes>(text_of(one.from, one.tag, one.place, one.bytes));
        if (x_random() % 2 == 0) {
            x_pending.push_back(x_channel.send(one.to, one.tag, *text, text));
        } else {
            x_borrowed.push_back(text);
            x_pending.push_back(x_channel.send(one.to, one.tag, *text));
        }
    }

    void receive() {
        const Planned one = x_to_receive.back();
        const Way way = way_of(one.tag);
        int from = way == Way::from_rank ? one.from : Channel::any;
        auto into = std::make_shared<Bytes>(longest);
        if (way == Way::probed) {
            const auto seen = x_channel.probe(one.tag);
            if (!seen) {  // another time
                std::rotate(x_to_receive.begin(), x_to_receive.end() - 1, x_to_receive.end());
                return;
            }
            from = seen->rank;
            into->resize(seen->bytes);
        }
        x_to_receive.pop_back();
        const Pending pending = x_channel.receive(from, one.tag, *into, into);
        x_received.push_back({pending, one.tag, into});
        x_pending.push_back(pending);
    }

    void settle(std::chrono::nanoseconds limit) {
        for (const std::size_t i : x_channel.wait_some(x_pending, limit)) x_pending[i] = {};
    }

    /// In the order in which the receives were posted: messages of one source and tag keep theirs.
    void check() const {
        std::map<std::pair<int, Tag>, std::size_t> places;
        for (const Received& one : x_received) {
            const Message got = one.pending.message();
            const std::size_t place = places[{got.rank, one.tag}]++;
            const auto planned =
                std::find_if(x_coming.begin(), x_coming.end(), [&](const Planned& p) {
                    return p.from == got.rank && p.tag == one.tag && p.place == place;
                });
            REQUIRE(planned != x_coming.end());
            CHECK(got.tag == one.tag);
            CHECK(got.bytes == planned->bytes);
            one.into->resize(got.bytes);
            CHECK(*one.into == text_of(got.rank, one.tag, place, planned->bytes));
        }
        CHECK(x_received.size() == x_coming.size());
    }

    Channel& x_channel;
    std::mt19937_64 x_random;
    std::vector<Planned> x_to_send, x_to_receive, x_coming;
    std::vector<std::shared_ptr<Bytes>> x_borrowed;
    std::vector<Pending> x_pending;
    std::vector<Received> x_received;
};

}  // namespace

TEST_CASE("channel: random programs, every byte checked, in order per source and tag") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            Player(channel, seed).play();
            all.barrier();  // a probe must not see the messages of the next program
        }
    });
}

TEST_CASE("channel: one tag carries short and long messages in the order of their sending") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        const int next = (all.rank() + 1) % all.size();
        const int last = (all.rank() + all.size() - 1) % all.size();
        std::vector<Pending> sent;
        for (std::size_t i = 0; i < 20; ++i) {
            auto text = std::make_shared<Bytes>(text_of(all.rank(), 9, i, i % 3 * 3000));
            sent.push_back(channel.send(next, 9, *text, text));
        }
        for (std::size_t i = 0; i < 20; ++i) {
            Bytes got(6000);
            const Message message = channel.wait(channel.receive(last, 9, got));
            got.resize(message.bytes);
            CHECK(got == text_of(last, 9, i, i % 3 * 3000));
        }
        for (const Pending& one : sent) CHECK(channel.wait(one).rank == next);
    });
}

TEST_CASE("channel: a probe tells source and length, and takes nothing") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        constexpr Tag tag = std::uint64_t{1} << 63;
        const int last = all.size() - 1;
        CHECK(!channel.probe(tag));
        all.barrier();
        if (all.rank() == last) channel.wait(channel.send(0, tag, bytes_of("seven b")));
        if (all.rank() == 0) {
            while (!channel.probe(tag)) continue;
            for (const int from : {Channel::any, last}) {
                const auto seen = channel.probe(tag, from);
                REQUIRE(seen.has_value());
                CHECK(seen->rank == last);
                CHECK(seen->tag == tag);
                CHECK(seen->bytes == 7);
            }
            CHECK(!channel.probe(tag + 1));
            Bytes got(7);
            CHECK(channel.wait(channel.receive(Channel::any, tag, got)).bytes == 7);
            CHECK(std::ranges::equal(got, bytes_of("seven b")));
            CHECK(!channel.probe(tag));
        }
    });
}

TEST_CASE("channel: waiting ends with the time, and a receive can be cancelled") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        Bytes into(5);
        std::array<Pending, 3> some{Pending(), channel.receive(all.rank(), 1, into),
                                    channel.receive(Channel::any, 2, into)};
        const auto begin = comm::Clock::now();
        CHECK(channel.wait_some(some, std::chrono::milliseconds(30)).empty());
        CHECK(comm::Clock::now() - begin >= std::chrono::milliseconds(30));
        CHECK(channel.wait_some(some, std::chrono::nanoseconds(0)).empty());
        CHECK(!channel.test(some[1]));
        CHECK(code_of(some[1]) == "wrong_call");

        channel.cancel(some[2]);
        CHECK(channel.wait_some(some) == std::vector<std::size_t>{2});
        CHECK(code_of(some[2]) == "interrupted");
        channel.send(all.rank(), 1, bytes_of("after"));
        some[2] = {};
        CHECK(channel.wait_some(some) == std::vector<std::size_t>{1});
        CHECK(some[1].message().bytes == 5);
        channel.cancel(some[1]);
        CHECK(code_of(some[1]).empty());
        some[1] = {};
        CHECK(channel.wait_some(some).empty());
        all.barrier();  // closed by all others, the channel would end receives from any rank
    });
}

TEST_CASE("channel: who waits again and again for a short time is at rest, too") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        Bytes into(5);
        const Pending never = channel.receive(all.rank(), 1, into);
        const double cpu_s = core::thread_cpu_s();
        for (int i = 0; i < 500; ++i)
            CHECK(channel.wait_some(std::span(&never, 1), std::chrono::microseconds(200)).empty());
        CHECK(core::thread_cpu_s() - cpu_s < 0.05);  // of 0.1 s at least
        channel.cancel(never);
        all.barrier();
    });
}

TEST_CASE("channel: a message that is too long stays for a longer buffer") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        for (const std::size_t bytes : {std::size_t{12}, std::size_t{5000}}) {
            const Bytes text = text_of(all.rank(), 3, 0, bytes);
            Bytes small(bytes - 1), large(bytes);
            const Pending early = channel.receive(Channel::any, 3, small);
            const Pending sent = channel.send(all.rank(), 3, text);
            channel.wait_some(std::span(&early, 1));
            CHECK(code_of(early) == "wrong_call");
            const Pending late = channel.receive(all.rank(), 3, small);
            CHECK(code_of(late) == "wrong_call");
            channel.wait(channel.receive(all.rank(), 3, large));
            CHECK(large == text);
            channel.wait(sent);
        }
        all.barrier();  // as above
    });
}

TEST_CASE("channel: what holds a buffer is let go of when the message is done") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, std::size_t{5000}}) {
            auto text = std::make_shared<Bytes>(bytes), into = std::make_shared<Bytes>(bytes);
            const std::weak_ptr<Bytes> first = text, second = into;
            const Pending sent = channel.send(all.rank(), 1, *text, text);
            const Pending received = channel.receive(all.rank(), 1, *into, into);
            text.reset();
            into.reset();
            channel.wait(received);
            channel.wait(sent);
            channel.test(sent);
            CHECK(first.expired());
            CHECK(second.expired());
        }
    });
}

TEST_CASE("channel: wrong ranks are told, by number") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        Bytes into(1);
        for (const int rank : {-2, all.size()}) {
            test::check_all_throw(all, Code::wrong_call, [&] { channel.send(rank, 0, into); });
            test::check_all_throw(all, Code::wrong_call, [&] { channel.receive(rank, 0, into); });
            test::check_all_throw(all, Code::wrong_call,
                                  [&] { static_cast<void>(channel.probe(0, rank)); });
        }
        test::check_all_throw(all, Code::wrong_call, [&] { channel.send(Channel::any, 0, into); });
        const auto error = Comm::caught([&] { channel.send(all.size(), 4, into); });
        CHECK(error->where() == "message to rank " + std::to_string(all.size()) + ", tag 4");
    });
}

TEST_CASE("channel: messages meet those of no other channel and no collective") {
    test::on_all_faces([](const Comm& all) {
        Channel one = all.channel(), other = all.split(0, all.rank()).channel();
        const int next = (all.rank() + 1) % all.size();
        const Bytes text = text_of(all.rank(), 7, 0, 4000);
        const Pending sent = one.send(next, 7, text);
        CHECK(all.sum(std::uint64_t{1}) == static_cast<std::uint64_t>(all.size()));
        CHECK(all.gather_text("x").size() ==
              (all.rank() == 0 ? static_cast<std::size_t>(all.size()) : 0));
        while (!one.probe(7)) continue;
        CHECK(!other.probe(7));
        Bytes into(4000);
        one.wait(one.receive(Channel::any, 7, into));
        one.wait(sent);
        CHECK(into == text_of((all.rank() + all.size() - 1) % all.size(), 7, 0, 4000));
    });
}

TEST_CASE("channel: closing ends what is open, and gives buffers back") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        const Bytes text = text_of(all.rank(), 1, 0, 5000);
        Bytes into(10);
        const Pending received = channel.receive(Channel::any, 2, into);
        std::vector<Pending> sent;
        for (int to = 0; to < all.size(); ++to) {
            sent.push_back(channel.send(to, 1, text));  // nobody receives it
            sent.push_back(channel.send(to, 1, std::span(text).first(5)));
        }
        channel.close();
        CHECK(code_of(received) == "poisoned");
        for (const Pending& one : sent) CHECK(one.done());
        test::check_all_throw(all, Code::wrong_call, [&] { channel.send(0, 1, text); });
        test::check_all_throw(all, Code::wrong_call, [&] { channel.receive(0, 1, into); });
        channel.close();
    });
}

TEST_CASE("channel: who waits for a rank that has closed hears of it") {
    test::on_all_faces([](const Comm& all) {
        Channel channel = all.channel();
        if (all.rank() == 0) {
            for (int to = 1; to < all.size(); ++to) channel.send(to, 1, bytes_of("farewell"));
            return;  // the end of the channel closes it
        }
        Bytes into(8), large(5000);
        const Pending sent = channel.send(0, 5, large);
        CHECK(channel.wait(channel.receive(0, 1, into)).bytes == 8);
        const Pending waits = channel.receive(0, 1, into);
        channel.wait_some(std::span(&waits, 1));
        CHECK(code_of(waits) == "poisoned");
        CHECK(code_of(channel.receive(0, 1, into)) == "poisoned");
        CHECK(code_of(channel.send(0, 1, into)) == "poisoned");
        channel.wait_some(std::span(&sent, 1));
        if (all.size() == 2) CHECK(code_of(channel.receive(Channel::any, 1, into)) == "poisoned");
    });
}

TEST_CASE("channel: an exception on one rank ends the waiting of the others") {
    test::on_all_faces([](const Comm& all) {
        const auto work = [&all] {
            Bytes into(10);  // outlives the channel, also where it is left by an exception
            Channel channel = all.channel();
            auto text = std::make_shared<Bytes>(5000);
            const Pending never = channel.receive(Channel::any, 9, into);
            if (all.rank() == 0) {
                for (int to = 1; to < all.size(); ++to) channel.send(to, 1, *text, text);
                throw core::Error(Code::io, "rank 0 fell over", "x.h5");
            }
            // Rank 0 takes nothing any more; the others close without it.
            std::array some{channel.send(0, 3, *text, text), channel.receive(0, 2, into)};
            const Pending received = some[1];
            while (some[0].posted() || some[1].posted())
                for (const std::size_t i : channel.wait_some(some)) some[i] = {};
            CHECK(code_of(received) == "poisoned");
        };
        const auto error = Comm::caught(work);
        CHECK(error.has_value() == (all.rank() == 0));
        if (error) CHECK(core::name(error->code()) == "io");
        CHECK(all.sum(std::uint64_t{1}) == static_cast<std::uint64_t>(all.size()));
    });
}
