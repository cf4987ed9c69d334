// SPDX-License-Identifier: Apache-2.0
// A launcher of another MPI starts as many programs as it should have started ranks.
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::tools {

/// What a launcher says of the processes that it has started, in its variables.
struct Launched {
    std::string variable;         ///< that says how many; empty: no launcher is known
    std::uint64_t processes = 1;  ///< of Open MPI's mpiexec, of Hydra (MPICH) or of srun
    bool first = true;            ///< whether this is the first of them
};

/// Of the environment. Where launchers stand in each other the one that started a single process
/// wins, since it may have been the last.  [local]
[[nodiscard]] Launched launched();

/// Refuses a start in which every process would be a run of its own, all writing the same file:
/// MPI sees one rank, and the launcher has started more.  [local]
/// @throws core::Error{bad_input}
void check_one_world(std::uint64_t ranks, const std::string& mpi_library);

}  // namespace tailrace::tools
