// SPDX-License-Identifier: Apache-2.0
// What ranks do that are threads: they may leave, and the others hear of it.
#include "comm/threads.hpp"

#include <atomic>

#include "comm/channel.hpp"
#include "faces.hpp"

using namespace tailrace;
using comm::Comm;
using core::Code;

namespace {

/// The Error that the others get, who do `work` while the last of `ranks` throws.
void check_left(int ranks, const std::function<void(const Comm&)>& work) {
    std::atomic<int> heard = 0;
    const auto thrown = Comm::caught([&] {
        comm::run_threads(ranks, [&](const Comm& all) {
            if (all.rank() == ranks - 1) throw core::Error(Code::no_space, "the disk is full");
            const auto error = Comm::caught([&] { work(all); });
            REQUIRE(error.has_value());
            CHECK(core::name(error->code()) == "poisoned");
            CHECK(error->message().find("rank " + std::to_string(ranks - 1)) == 0);
            ++heard;
        });
    });
    CHECK(heard == ranks - 1);
    REQUIRE(thrown.has_value());
    CHECK(core::name(thrown->code()) == "no_space");
    CHECK(thrown->rank() == ranks - 1);
}

}  // namespace

TEST_CASE("threads: a rank that leaves ends the waiting of the others in every collective") {
    for (const int ranks : {2, 4, 8}) {
        check_left(ranks, [](const Comm& all) { all.barrier(); });
        check_left(ranks, [](const Comm& all) { static_cast<void>(all.sum(1.5)); });
        check_left(ranks, [](const Comm& all) { static_cast<void>(all.gather_text("x", 1)); });
        check_left(ranks, [](const Comm& all) { static_cast<void>(all.split(0, 0)); });
        check_left(ranks, [](const Comm& all) { const comm::Channel channel = all.channel(); });
        check_left(ranks, [](const Comm& all) {  // also the second time
            static_cast<void>(Comm::caught([&] { all.barrier(); }));
            all.barrier();
        });
    }
}

TEST_CASE("threads: groups without the rank that left go on") {
    comm::run_threads(4, [](const Comm& all) {
        const Comm half = all.split(all.rank() % 2, 0);
        if (all.rank() == 1) return;
        if (all.rank() == 3) {
            CHECK_THROWS_AS(half.barrier(), core::Error);
            return;
        }
        for (int i = 0; i < 100; ++i) CHECK(half.sum(std::uint64_t{1}) == 2);
    });
}

TEST_CASE("threads: the first Error is thrown on, with its rank, and a foreign exception too") {
    const auto error = Comm::caught([] {
        comm::run_threads(3, [](const Comm& all) {
            if (all.rank() == 1) throw core::Error(Code::io, "fell over", "x.h5");
            all.barrier();
        });
    });
    REQUIRE(error.has_value());
    CHECK(error->message() == "fell over");
    CHECK(error->rank() == 1);
    CHECK_THROWS_AS(comm::run_threads(2, [](const Comm&) { throw std::out_of_range("cheese"); }),
                    std::out_of_range);
    CHECK_THROWS_AS(comm::run_threads(2, [](const Comm&) { throw 7; }), int);
}

TEST_CASE("threads: different collectives at a time are told on all ranks") {
    comm::run_threads(4, [](const Comm& all) {
        const auto error = Comm::caught([&] {
            if (all.rank() == 2)
                all.barrier();
            else
                static_cast<void>(all.sum(1.0));
        });
        REQUIRE(error.has_value());
        CHECK(core::name(error->code()) == "rank_mismatch");
        CHECK(error->message() == "barrier(0) on rank 2, reduce(1) on rank 0");
        std::vector<double> values(all.rank() == 3 ? 5 : 4);
        test::check_all_throw(all, Code::rank_mismatch,
                              [&] { all.reduce(values, comm::Reduce::max); });
    });
}

TEST_CASE("threads: an exception passes through a channel while others wait in a collective") {
    check_left(4, [](const Comm& all) {
        Comm pair = all.split(all.rank() / 2, 0);
        static_cast<void>(pair);
    });
    std::atomic<int> heard = 0;
    const auto thrown = Comm::caught([&] {
        comm::run_threads(4, [&](const Comm& all) {
            const std::vector<std::byte> text(100'000);
            comm::Channel channel = all.channel();
            if (all.rank() == 0) {
                channel.send(1, 1, text);
                throw core::Error(Code::io, "fell over");
            }
            const auto error = Comm::caught([&] { all.barrier(); });
            CHECK(core::name(error.value().code()) == "poisoned");
            ++heard;
        });
    });
    CHECK(heard == 3);
    CHECK(thrown.value().message() == "fell over");
}

TEST_CASE("threads: a message whose sender leaves with the buffer arrives whole, or not at all") {
    for (int i = 0; i < 50; ++i) {
        const auto thrown = Comm::caught([] {
            comm::run_threads(2, [](const Comm& all) {
                const std::vector<std::byte> text(100'000, std::byte{5});  // outlives the channel
                comm::Channel channel = all.channel();
                if (all.rank() == 0) {
                    channel.send(1, 1, text);
                    throw core::Error(Code::io, "fell over");
                }
                std::vector<std::byte> into(100'000);
                const auto error = Comm::caught([&] { channel.wait(channel.receive(0, 1, into)); });
                if (error)
                    CHECK(core::name(error->code()) == "poisoned");
                else
                    CHECK(into == std::vector<std::byte>(into.size(), std::byte{5}));
            });
        });
        CHECK(thrown.value().message() == "fell over");
    }
}
