// SPDX-License-Identifier: Apache-2.0
// What the collectives and the channels over MPI share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "comm/mpi_comm.hpp"
#include "comm/wire.hpp"

namespace tailrace::comm {

/// The face of a Channel, with a communicator of its own.  [collective]
[[nodiscard]] std::unique_ptr<Wire> open_mpi_wire(MPI_Comm parent, std::size_t largest_message);

/// For who waits and tests: yields for as long as a message takes, then sleeps, and longer the
/// longer it has waited, so that others have the processor.  [local]
void nap(Clock::duration waited, Clock::duration longest);

/// Calls `post(begin, bytes)` for each message that `total` bytes go in: counts are int.  [local]
template <class Post>
void in_messages(std::size_t total, std::size_t largest, Post&& post) {
    for (std::size_t begin = 0; begin < total; begin += largest)
        post(begin, static_cast<int>(std::min(total - begin, largest)));
}

}  // namespace tailrace::comm
