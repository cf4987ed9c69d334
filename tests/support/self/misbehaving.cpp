// SPDX-License-Identifier: Apache-2.0
// Cases that fail or hang on purpose; check_layer.py runs them and looks at what is reported.
#include <unistd.h>

#include "mpi_test.hpp"

namespace {
using namespace tailrace;

void wait_for_ever() {
    for (;;) pause();
}

TEST_CASE("one rank fails a check") { CHECK(test::rank() != 1); }

TEST_CASE("one rank throws") {
    if (test::rank() == 1) throw core::Error(core::Code::io, "disk is on fire");
}

TEST_CASE("one rank hangs") {
    if (test::rank() == 1) wait_for_ever();
    test::barrier();
}

TEST_CASE("one rank does not throw") {
    TAILRACE_CHECK_ALL_THROW(core::Code::io, [] {
        if (test::rank() != 1) throw core::Error(core::Code::io, "as it should");
        return 0;
    }());
}

TEST_CASE("wrong code") {
    TAILRACE_CHECK_ALL_THROW(core::Code::no_space, throw core::Error(core::Code::io, "other"));
}

}  // namespace
