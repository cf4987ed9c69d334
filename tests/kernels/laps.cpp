// SPDX-License-Identifier: Apache-2.0
// Times of named parts on each rank, and over the ranks.
#include "runner/laps.hpp"
#include "comm/mpi_comm.hpp"
#include "mpi_test.hpp"

using namespace tailrace;
using runner::Laps;
using runner::over_ranks;

TEST_SUITE("kernels.laps") {
    TEST_CASE("a part is added up, with its calls") {
        Laps laps;
        laps.add("write 0", 0.25);
        laps.add("write 0", 0.5);
        laps.add("prepare 0", 2, 5);
        REQUIRE(laps.all().size() == 2);
        CHECK(laps.all().at("write 0").seconds == 0.75);
        CHECK(laps.all().at("write 0").calls == 2);
        CHECK(laps.all().at("prepare 0").calls == 5);
    }

    TAILRACE_MPI_TEST(3, "over the ranks: the least, the mean, the greatest, the most calls") {
        const auto rank = static_cast<double>(test::rank());
        const auto last = static_cast<double>(test::size() - 1);
        Laps laps;
        laps.add("up", 1 + rank, static_cast<std::uint64_t>(test::rank()));
        laps.add("down", last - rank);
        const auto all = over_ranks(comm::from_mpi(MPI_COMM_WORLD), laps);
        REQUIRE(all.size() == 2);
        CHECK(all.at("up").seconds.min == 1);
        CHECK(all.at("up").seconds.mean == doctest::Approx(1 + last / 2));
        CHECK(all.at("up").seconds.max == 1 + last);
        CHECK(all.at("up").calls == static_cast<std::uint64_t>(test::size() - 1));
        CHECK(all.at("down").seconds.min == 0);
        CHECK(all.at("down").seconds.max == last);
        CHECK(all.at("down").calls == 1);
    }

    TAILRACE_MPI_TEST(3, "without parts there is nothing") {
        CHECK(over_ranks(comm::from_mpi(MPI_COMM_WORLD), Laps()).empty());
    }
}
