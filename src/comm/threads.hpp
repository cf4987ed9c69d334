// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process: for tests, and for programs without MPI.
#pragma once

#include <functional>

#include "comm/comm.hpp"

namespace tailrace::comm {

/// Runs `body` as that many ranks, each on a thread of its own, and returns when all have ended. A
/// Comm or Channel made in `body` stays in its thread. A rank that ends, with an exception or
/// without, ends the waiting of the others for it with Code::poisoned.  [local]
/// @throws what the first rank threw that threw; a core::Error names the rank
void run_threads(int ranks, const std::function<void(const Comm&)>& body);

}  // namespace tailrace::comm
