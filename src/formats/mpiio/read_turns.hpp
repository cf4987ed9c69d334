// SPDX-License-Identifier: Apache-2.0
// Ranks whose places meet do not read in one collective call where MPI-IO would bring wrong bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "core/box.hpp"

namespace tailrace::formats::mpiio {

/// What a rank reads of an object.
struct Place {
    std::size_t object = 0;
    core::Box box;
    std::uint64_t rank = 0;  ///< of the reader; set by read_turns()
};

/// When this rank reads: in turn `mine` of `all`, taking part in the others with nothing.
struct ReadTurns {
    std::uint64_t mine = 0, all = 1;
};

/// Whether two boxes of an object have an element in common.  [local]
[[nodiscard]] bool meet(const core::Box& a, const core::Box& b);

/// Ranks of one turn have no element in common. OMPIO of Open MPI 4.1 brings wrong bytes, without
/// an error, where they do (docs/developer/hdf5_failures.md); elsewhere all read in one turn.
/// [collective]
/// @param mine  what this rank reads collectively
/// @pre on each rank that uses MPI-IO a file is open through it
[[nodiscard]] ReadTurns read_turns(const comm::Comm& comm, std::vector<Place> mine);

}  // namespace tailrace::formats::mpiio
