// SPDX-License-Identifier: Apache-2.0
// Collectives, the same over all faces.
#include <cstdlib>
#include <limits>

#include "faces.hpp"

using namespace tailrace;

TEST_CASE("comm: reductions of both number types") {
    test::on_all_faces([](const comm::Comm& all) {
        const auto n = static_cast<std::uint64_t>(all.size());
        const auto r = static_cast<std::uint64_t>(all.rank());
        CHECK(all.sum(r + 1) == n * (n + 1) / 2);
        CHECK(all.min(r + 10) == 10);
        CHECK(all.max(r) == n - 1);
        CHECK(all.sum(0.5) == 0.5 * static_cast<double>(n));
        CHECK(all.min(static_cast<double>(r)) == 0.0);
        CHECK(all.max(-static_cast<double>(r)) == 0.0);
        const std::uint64_t big = std::numeric_limits<std::uint64_t>::max() - r;
        CHECK(all.max(big) == std::numeric_limits<std::uint64_t>::max());
        CHECK(all.same(77));
        CHECK(all.same(r) == (n == 1));
        CHECK(all.same(r == n - 1 ? 0 : 1) == (n == 1));
    });
}

TEST_CASE("comm: texts of different lengths, empty ones too, from any root") {
    test::on_all_faces([](const comm::Comm& all) {
        const int last = all.size() - 1;
        const std::string mine(static_cast<std::size_t>(all.rank()) * 1000,
                               static_cast<char>('a' + all.rank()));
        const std::vector<std::string> texts = all.gather_text(mine, last);
        REQUIRE(texts.size() == (all.rank() == last ? static_cast<std::size_t>(all.size()) : 0));
        for (std::size_t r = 0; r < texts.size(); ++r)
            CHECK(texts[r] == std::string(r * 1000, static_cast<char>('a' + r)));
        CHECK(all.broadcast(all.rank() == last ? std::string("from the last") : std::string(),
                            last) == "from the last");
        CHECK(all.broadcast(std::string(all.rank() == 0 ? "" : "not this"), 0).empty());
    });
}

TEST_CASE("comm: every rank sends every other one what it likes, nothing too") {
    test::on_all_faces([](const comm::Comm& all) {
        const auto size = static_cast<std::size_t>(all.size());
        const auto mine = static_cast<std::size_t>(all.rank());
        const auto text = [](std::size_t from, std::size_t to) {
            return std::vector<std::byte>(from * 10 + to, static_cast<std::byte>(from + 1));
        };
        std::vector<std::vector<std::byte>> to;
        for (std::size_t r = 0; r < size; ++r) to.push_back(text(mine, r));
        const auto from = all.exchange(to);
        REQUIRE(from.size() == size);
        for (std::size_t r = 0; r < size; ++r) CHECK(from[r] == text(r, mine));
    });
}

TEST_CASE("comm: agreement throws on all ranks or on none") {
    test::on_all_faces([](const comm::Comm& all) {
        CHECK_NOTHROW(all.agree(std::nullopt));
        for (int failing = 0; failing < all.size(); ++failing) {
            std::optional<core::Error> mine;
            if (all.rank() >= failing)
                mine =
                    core::Error(core::Code::io, "rank " + std::to_string(all.rank()) + " fell over",
                                "x.h5", "try again");
            try {
                all.agree(mine);
                FAIL("nothing was thrown on rank ", all.rank());
            } catch (const core::Error& error) {
                CHECK(error.code() == core::Code::io);
                CHECK(error.rank() == failing);
                CHECK(error.failed_ranks() == all.size() - failing);
                CHECK(error.total_ranks() == all.size());
                CHECK(error.message() == "rank " + std::to_string(failing) + " fell over");
                CHECK(error.remedy() == "try again");
            }
        }
    });
}

TEST_CASE("comm: one rank throws in its work, all hear of it, and the next call works") {
    test::on_all_faces([](const comm::Comm& all) {
        const auto work = [&all](int failing) {
            return all.agree_on([&all, failing] {
                if (all.rank() == failing)
                    throw core::Error(core::Code::no_such_directory, "no such folder", "/nope");
                return all.rank();
            });
        };
        test::check_all_throw(all, core::Code::no_such_directory, [&] { work(all.size() - 1); });
        CHECK(work(-1) == all.rank());
    });
}

TEST_CASE("comm: split by colour") {
    test::on_all_faces([](const comm::Comm& all) {
        const comm::Comm half = all.split(all.rank() % 2, -all.rank());
        CHECK(half.size() == (all.size() + (all.rank() % 2 == 0 ? 1 : 0)) / 2);
        CHECK(half.sum(std::uint64_t{1}) == static_cast<std::uint64_t>(half.size()));
    });
}

TEST_CASE("comm: nodes of as many ranks as the environment says") {
    ::unsetenv("TAILRACE_RANKS_PER_NODE");
    test::on_all_faces([](const comm::Comm& all) { CHECK(all.split_node().size() == all.size()); });
    ::setenv("TAILRACE_RANKS_PER_NODE", "2", 1);
    test::on_all_faces(
        [](const comm::Comm& all) { CHECK(all.split_node().rank() == all.rank() % 2); });
    ::setenv("TAILRACE_RANKS_PER_NODE", "two", 1);
    test::on_all_faces([](const comm::Comm& all) {
        test::check_all_throw(all, core::Code::bad_input,
                              [&] { static_cast<void>(all.split_node()); });
    });
    ::unsetenv("TAILRACE_RANKS_PER_NODE");
}
