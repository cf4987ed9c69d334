// SPDX-License-Identifier: Apache-2.0
// A front end over a Channel: receives, assembles, and hands complete steps to who writes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "comm/channel.hpp"
#include "server/buffer/slab.hpp"
#include "server/protocol/front_end.hpp"

namespace tailrace::server {

/// What clients and front ends send each other travels under these tags of one Channel.
inline constexpr comm::Tag to_front_end = 1, to_client = 2, life = 3;
/// Idle ranks look again after this time.
inline constexpr std::chrono::microseconds idle_time{200};

/// One variable of a step, whole.
struct WholeField {
    std::uint64_t field = 0, record = 0;
    Slab* slab = nullptr;
};
/// A complete item: the fields of a step, or none for close_file and flush.
struct Work {
    const Meta& file;  ///< with a body
    Complete item;
    std::vector<WholeField> fields;
};
/// Writes it. A core::Error that it throws is the item's final status, on all clients.
using WriteWork = std::function<void(const Work&)>;

/// Serves until all clients have left. Clients are the ranks 0 to setup.clients - 1 of the channel.
/// [waits for other ranks]
/// @throws core::Error if messages are damaged, or `write` throws anything but a core::Error
void serve(comm::Channel& channel, const FrontEndSetup& setup, const WriteWork& write);

}  // namespace tailrace::server
