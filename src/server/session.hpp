// SPDX-License-Identifier: Apache-2.0
// From a communicator and a layout to a model that puts, and servers that write.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/channel.hpp"
#include "comm/comm.hpp"
#include "server/client/model.hpp"
#include "server/writer/writer.hpp"

namespace tailrace::server {

/// How the ranks are shared out: the model's first, the servers behind them.
struct Sharing {
    std::uint64_t servers = 0;      ///< 0: embedded
    std::uint64_t layout_hash = 0;  ///< of all that must be the same on all ranks
    std::uint64_t slab_bytes = std::uint64_t{8} << 20;
    std::uint64_t credit_bytes = std::uint64_t{32} << 20;
    std::uint64_t depth = 2;
};

/// Of the options of the command line.  [local, the same on all ranks]
[[nodiscard]] Sharing sharing_of(const comm::Comm& world, const std::vector<std::string>& words);

class Session {
public:
    /// A rank of a server serves here, until the model ends.  [collective]
    /// @param published  called with each file that this rank, or rank 0 of the model, has finished
    /// @throws core::Error
    Session(const comm::Comm& world, const Sharing& sharing, Files::Published published = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] bool is_model() const noexcept { return x_model != nullptr; }  ///< [local]
    [[nodiscard]] Model& model() { return *x_model; }                            ///< [local]
    /// The ranks of the model, or those of the servers.  [local]
    [[nodiscard]] const comm::Comm& ranks() const noexcept { return x_ranks; }

private:
    comm::Comm x_ranks;
    comm::Channel x_channel;
    std::unique_ptr<Model> x_model;
};

}  // namespace tailrace::server
