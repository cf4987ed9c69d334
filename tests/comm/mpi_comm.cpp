// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_comm.hpp"

#include <cstdlib>
#include <limits>

#include "mpi_test.hpp"

using namespace tailrace;

namespace {

comm::Comm world() { return comm::from_mpi(MPI_COMM_WORLD); }

}  // namespace

TAILRACE_MPI_TEST("mpi: rank and size are those of the launcher") {
    const comm::Comm all = world();
    CHECK(all.rank() == test::rank());
    CHECK(all.size() == test::size());
    CHECK(comm::native(all) != MPI_COMM_WORLD);
    CHECK(comm::native(comm::Comm::self()) == MPI_COMM_SELF);
}

TAILRACE_MPI_TEST("mpi: reductions of both number types") {
    const comm::Comm all = world();
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
}

TAILRACE_MPI_TEST("mpi: texts of different lengths, empty ones too, from any root") {
    const comm::Comm all = world();
    const int last = all.size() - 1;
    const std::string mine(static_cast<std::size_t>(all.rank()) * 1000,
                           static_cast<char>('a' + all.rank()));
    const std::vector<std::string> texts = all.gather_text(mine, last);
    REQUIRE(texts.size() == (all.rank() == last ? static_cast<std::size_t>(all.size()) : 0));
    for (std::size_t r = 0; r < texts.size(); ++r)
        CHECK(texts[r] == std::string(r * 1000, static_cast<char>('a' + r)));
    CHECK(all.broadcast(all.rank() == last ? std::string("from the last") : std::string(), last) ==
          "from the last");
    CHECK(all.broadcast(std::string(all.rank() == 0 ? "" : "not this"), 0).empty());
}

TAILRACE_MPI_TEST("mpi: every rank sends every other one what it likes, nothing too") {
    // Also in messages of 7 bytes at most.
    for (const comm::Comm& all : {world(), comm::from_mpi(MPI_COMM_WORLD, 7)}) {
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
    }
}

TAILRACE_MPI_TEST("mpi: agreement throws on all ranks or on none") {
    const comm::Comm all = world();
    CHECK_NOTHROW(all.agree(std::nullopt));
    for (int failing = 0; failing < all.size(); ++failing) {
        std::optional<core::Error> mine;
        if (all.rank() >= failing)
            mine = core::Error(core::Code::io, "rank " + std::to_string(all.rank()) + " fell over",
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
}

TAILRACE_MPI_TEST("mpi: one rank throws in its work, all hear of it, and the next call works") {
    const comm::Comm all = world();
    const auto work = [&all](int failing) {
        return all.agree_on([&all, failing] {
            if (all.rank() == failing)
                throw core::Error(core::Code::no_such_directory, "no such folder", "/nope");
            return all.rank();
        });
    };
    TAILRACE_CHECK_ALL_THROW(core::Code::no_such_directory, work(all.size() - 1));
    CHECK(work(-1) == all.rank());
}

TAILRACE_MPI_TEST("mpi: split by colour and into imitated nodes") {
    const comm::Comm all = world();
    const comm::Comm half = all.split(all.rank() % 2, -all.rank());
    CHECK(half.size() == (all.size() + (all.rank() % 2 == 0 ? 1 : 0)) / 2);
    CHECK(half.sum(std::uint64_t{1}) == static_cast<std::uint64_t>(half.size()));
    ::unsetenv("TAILRACE_RANKS_PER_NODE");
    CHECK(all.split_node().size() == all.size());
    ::setenv("TAILRACE_RANKS_PER_NODE", "2", 1);
    const comm::Comm node = all.split_node();
    CHECK(node.rank() == all.rank() % 2);
    ::setenv("TAILRACE_RANKS_PER_NODE", "two", 1);
    TAILRACE_CHECK_ALL_THROW(core::Code::bad_input, all.split_node());
    ::unsetenv("TAILRACE_RANKS_PER_NODE");
}

TAILRACE_MPI_TEST(2, "mpi: a broadcast of more than 2^30 bytes arrives whole") {
    const comm::Comm all = world();
    // Two pieces and a rest: the seam at 2^30 is where an int count would break.
    std::vector<std::byte> data((std::size_t{1} << 30) + 12345);
    if (all.rank() == 0)
        for (std::size_t i = 0; i < data.size(); i += 4096)
            data[i] = static_cast<std::byte>((i >> 12) * 7 + 1);
    if (all.rank() == 0) data.back() = std::byte{99};
    all.broadcast(std::span(data), 0);
    bool right = data.back() == std::byte{99};
    for (std::size_t i = 0; i < data.size(); i += 4096)
        right = right && data[i] == static_cast<std::byte>((i >> 12) * 7 + 1);
    CHECK(right);
}

// Counts over 2^31 cannot be tried on a small machine; what is cut at a few bytes is cut alike.
TAILRACE_MPI_TEST("mpi: messages longer than the largest go in pieces, everywhere") {
    for (const std::size_t largest : {std::size_t{8}, std::size_t{24}, std::size_t{1000}}) {
        const comm::Comm all = comm::from_mpi(MPI_COMM_WORLD, largest);
        const auto n = static_cast<std::uint64_t>(all.size());
        const auto r = static_cast<std::uint64_t>(all.rank());
        for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 125U, 126U}) {
            std::vector<std::uint64_t> whole(count);
            std::vector<double> real(count);
            for (std::size_t i = 0; i < count; ++i) {
                whole[i] = i * 100 + r;
                real[i] = static_cast<double>(i * 100 + r);
            }
            all.reduce(whole, comm::Reduce::max);
            all.reduce(real, comm::Reduce::min);
            for (std::size_t i = 0; i < count; ++i) {
                CHECK(whole[i] == i * 100 + n - 1);
                CHECK(real[i] == static_cast<double>(i * 100));
            }
            std::string text = all.rank() == 0 ? std::string(count, 'q') + "end" : "";
            CHECK(all.broadcast(std::move(text)) == std::string(count, 'q') + "end");
            const auto texts =
                all.split(0, -all.rank())
                    .gather_text(std::string(count, static_cast<char>('a' + all.rank())));
            for (std::size_t t = 0; t < texts.size(); ++t)
                CHECK(texts[t] == std::string(count, static_cast<char>('a' + n - 1 - t)));
        }
    }
    TAILRACE_CHECK_ALL_THROW(core::Code::wrong_call, comm::from_mpi(MPI_COMM_WORLD, 0));
    TAILRACE_CHECK_ALL_THROW(core::Code::wrong_call,
                             comm::from_mpi(MPI_COMM_WORLD, std::size_t{1} << 31));
}

TAILRACE_MPI_TEST("mpi: errors of calls without a communicator of ours return, for a while") {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL, after = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    {
        const comm::ErrorsReturn guard;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        CHECK(MPI_Type_contiguous(-1, MPI_BYTE, &type) != MPI_SUCCESS);  // ends the program without
    }
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    CHECK(before == after);
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&after);
}
