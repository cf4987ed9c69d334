// SPDX-License-Identifier: Apache-2.0
// One suite for all faces of Comm: a program per face has the same cases.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include "comm/comm.hpp"

namespace tailrace::test {

/// Runs `body` as every rank of each face that this program has, one face after the other: of a
/// process on its own and of threads (threads_face.cpp), or of MPI (mpi_face.cpp).
void on_all_faces(const std::function<void(const comm::Comm&)>& body);

/// Every rank of `all` must get a core::Error with this code.
inline void check_all_throw(const comm::Comm& all, core::Code code,
                            const std::function<void()>& work) {
    const auto error = comm::Comm::caught(work);
    CHECK_MESSAGE(error.has_value(), "no exception on rank ", all.rank());
    if (error) CHECK(core::name(error->code()) == core::name(code));
    CHECK(all.min(std::uint64_t{error ? 1U : 0U}) == 1);
}

}  // namespace tailrace::test
