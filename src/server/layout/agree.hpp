// SPDX-License-Identifier: Apache-2.0
// One Layout for all ranks of a program.
#pragma once

#include "comm/comm.hpp"
#include "server/layout/layout.hpp"

namespace tailrace::server {

struct Agreed {
    Layout layout;
    core::Words rest{};  ///< of this rank's command line, for the model
};
/// Environment and server.toml are those of rank 0, since not every launcher hands the first on to
/// other nodes; nodes are those of Comm::split_node().  [collective]
/// @param words        of this rank's command line
/// @param environment  all of it; only that of rank 0 counts
/// @throws core::Error as given() and layout_of(), and Code::rank_mismatch if the command
/// lines of ranks differ; on all ranks
[[nodiscard]] Agreed agree(const comm::Comm& world, const core::Words& words,
                           const Variables& environment);
/// The environment of this process.  [local]
[[nodiscard]] Variables environment_of_process();

}  // namespace tailrace::server
