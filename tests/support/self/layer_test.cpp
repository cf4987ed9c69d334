// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "mpi_test.hpp"

namespace {
using namespace tailrace;

TAILRACE_MPI_TEST("layer: the number of ranks is the one that was asked for") {
    const char* asked = std::getenv("TAILRACE_TEST_RANKS");
    REQUIRE(asked);
    CHECK(test::size() == std::atoi(asked));
    CHECK(test::rank() < test::size());
}

TAILRACE_MPI_TEST(2, "layer: a case may state its ranks") { CHECK(test::size() == 2); }

TAILRACE_MPI_TEST("layer: one rank's word reaches all; any, all") {
    const bool last = test::rank() == test::size() - 1;
    CHECK(test::on_any_rank(last));
    CHECK(test::on_all_ranks(last) == (test::size() == 1));
    CHECK(test::from_rank0(test::rank() == 0 ? "zero" : "other") == "zero");
}

TAILRACE_MPI_TEST("layer: all ranks share a folder that is new") {
    const std::filesystem::path folder = test::shared_folder();
    CHECK(std::filesystem::is_directory(folder));
    std::ofstream(folder / std::to_string(test::rank())) << "here";
    test::barrier();
    for (int r = 0; r < test::size(); ++r)
        CHECK(std::filesystem::exists(folder / std::to_string(r)));
}

TAILRACE_MPI_TEST("layer: an error on all ranks is seen as one") {
    TAILRACE_CHECK_ALL_THROW(core::Code::no_space,
                             throw core::Error(core::Code::no_space, "disk is full"));
}

TAILRACE_MPI_TEST("layer: the environment is ours") {
    const char* path = std::getenv("HDF5_PLUGIN_PATH");
    REQUIRE(path);
    CHECK(std::string(path).empty());
    CHECK(std::getenv("LD_PRELOAD") == nullptr);
}

}  // namespace
