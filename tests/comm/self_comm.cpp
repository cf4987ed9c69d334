// SPDX-License-Identifier: Apache-2.0
// The face without MPI keeps the same promises on one process.
#include <doctest/doctest.h>

#include <cstring>

#include "comm/comm.hpp"

using namespace tailrace;

TEST_CASE("self: one rank, every reduction is the identity") {
    const comm::Comm self = comm::Comm::self();
    CHECK(self.rank() == 0);
    CHECK(self.size() == 1);
    CHECK(self.sum(std::uint64_t{7}) == 7);
    CHECK(self.max(-2.5) == -2.5);
    CHECK(self.broadcast(std::string("a\0b", 3)) == std::string("a\0b", 3));
    CHECK(self.gather_text("mine") == std::vector<std::string>{"mine"});
    CHECK(self.same(3));
    CHECK(self.split(5, 0).size() == 1);
    CHECK(self.split_node().size() == 1);
}

TEST_CASE("self: agreement throws what failed, with the rank, and passes results on") {
    const comm::Comm self = comm::Comm::self();
    CHECK(self.agree_on([] { return 42; }) == 42);
    CHECK_NOTHROW(self.agree(std::nullopt));
    try {
        self.agree(core::Error(core::Code::no_space, "the disk is full", "a.h5", "free space"));
        FAIL("nothing was thrown");
    } catch (const core::Error& error) {
        CHECK(error.code() == core::Code::no_space);
        CHECK(error.rank() == 0);
        CHECK(error.failed_ranks() == 1);
        CHECK(std::strcmp(error.what(),
                          "a.h5: the disk is full (rank 0 of 1)\n       hint: free space") == 0);
    }
}

TEST_CASE("self: a foreign exception becomes an internal error") {
    const comm::Comm self = comm::Comm::self();
    try {
        self.agree_on([] { throw std::runtime_error("out of cheese"); });
        FAIL("nothing was thrown");
    } catch (const core::Error& error) {
        CHECK(error.code() == core::Code::internal);
        CHECK(error.message() == "out of cheese");
    }
}
