// SPDX-License-Identifier: Apache-2.0
#include "server/client/embedded.hpp"

#include <limits>
#include <utility>

namespace tailrace::server {

namespace {

ClientSetup synchronous(ClientSetup setup) {
    setup.servers = 1;
    setup.depth = 0;
    setup.stuck_timeout_s = 0;  // rank 0 computes too, and writes only within its calls
    // Nor may a put wait for rank 0, which may wait for this rank in a call of the model's.
    setup.credit_bytes = std::numeric_limits<std::uint64_t>::max() / 4;
    return setup;
}

}  // namespace

Embedded::Embedded(comm::Channel& channel, const ClientSetup& setup, WriteWork write,
                   const Neighbours& neighbours)
    : x_calls(channel, synchronous(setup), neighbours, 0,
              [this] { return x_server && x_server->move_on(); }) {
    if (setup.client == 0)
        x_server.emplace(channel,
                         FrontEndSetup{0, setup.clients, setup.layout_hash, setup.credit_bytes},
                         std::move(write), Writing::within, neighbours);
}

std::vector<Status> Embedded::finalize() {
    std::vector<Status> all = x_calls.finalize();
    if (x_server) x_server->run();
    return all;
}

}  // namespace tailrace::server
