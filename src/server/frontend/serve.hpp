// SPDX-License-Identifier: Apache-2.0
// A front end over a Channel: receives, assembles, and hands complete steps to who writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/channel.hpp"
#include "server/buffer/slab.hpp"
#include "server/frontend/neighbours.hpp"
#include "server/protocol/front_end.hpp"

namespace tailrace::server {

/// What clients and front ends send each other travels under these tags of one Channel.
inline constexpr comm::Tag to_front_end = 1, to_client = 2, life = 3, lost = 4;

/// One variable of a step, whole.
struct WholeField {
    std::uint64_t field = 0, record = 0;
    Slab slab;
};
/// A complete item: the fields of a step, or none for close_file and flush.
struct Work {
    std::shared_ptr<const Meta> file;  ///< with a body
    Complete item;
    std::vector<WholeField> fields;
    std::optional<core::Error> lost{};  ///< set: a step of the file will never be complete
};
/// Writes it. A core::Error that it throws is the item's final status, on all clients.
using WriteWork = std::function<void(Work&)>;

/// beside: messages are taken meanwhile. within: a process that is also a client writes only while
/// it is in a call of the server, since HDF5 and netCDF are not for two threads.
enum class Writing { beside, within };

/// Clients are the ranks 0 to setup.clients - 1 of the channel.
class Server {
public:
    /// @param how  whether `write` is called in a thread of its own, one item after the other, or
    ///             by move_on()
    /// @param neighbours  of this rank  [local]
    Server(comm::Channel& channel, const FrontEndSetup& setup, WriteWork write, Writing how,
           Neighbours neighbours = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    /// Takes what has come, and hands on what is complete.  [local]
    /// @returns whether there was anything
    /// @throws core::Error if messages are damaged; what `write` throws, if it is no core::Error
    bool move_on();
    [[nodiscard]] bool done() const;  ///< all clients have left, and all is written  [local]
    /// Moves on until then.  [waits for other ranks]
    void run();

private:
    class Impl;
    std::unique_ptr<Impl> x_impl;
};

/// Serves until all clients have left.  [waits for other ranks]
void serve(comm::Channel& channel, const FrontEndSetup& setup, const WriteWork& write,
           Neighbours neighbours = {});

}  // namespace tailrace::server
