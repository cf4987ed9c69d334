// SPDX-License-Identifier: Apache-2.0
#include "server/session.hpp"

#include <algorithm>
#include <utility>

#include "server/client/embedded.hpp"
#include "server/client/remote.hpp"

namespace tailrace::server {

namespace {

enum Part { model, servers, left_over };

Part part_of(int rank, const Split& ranks) {
    const auto among = [rank](const std::vector<std::uint64_t>& all) {
        return std::find(all.begin(), all.end(), static_cast<std::uint64_t>(rank)) != all.end();
    };
    return among(ranks.model) ? model : among(ranks.servers) ? servers : left_over;
}

/// Between clients, the first, and front ends.
comm::Channel channel_of(const comm::Comm& world, const Layout& layout) {
    const Part part = part_of(world.rank(), layout.ranks);
    const int place = world.rank() + (part == servers ? world.size() : 0);
    return world.split(part == left_over ? 1 : 0, place).channel();
}

}  // namespace

Session::Session(const comm::Comm& world, const Layout& layout, Files::Published published)
    : x_layout(layout),
      x_ranks(world.split(part_of(world.rank(), layout.ranks), world.rank())),
      x_channel(channel_of(world, layout)) {
    const Part part = part_of(world.rank(), layout.ranks);
    if (part == left_over) {
        x_channel.close();
        return;
    }
    const auto rank = static_cast<std::uint64_t>(x_ranks.rank());
    const std::uint64_t clients = layout.ranks.model.size();
    const std::uint64_t hash = layout.hash();
    WriteWork write = [writer = std::make_shared<Writer>(world.rank(), world.size(),
                                                         std::move(published))](Work& work) {
        (*writer)(work);
    };
    if (part == servers) {
        serve(x_channel, {rank, clients, hash, layout.credit_bytes}, write);
        x_channel.close();
        return;
    }
    const ClientSetup setup{rank,
                            clients,
                            layout.ranks.servers.size(),
                            hash,
                            layout.slab_bytes,
                            layout.credit_bytes,
                            layout.defaults.depth};
    std::unique_ptr<Backend> backend;
    if (layout.kind == LayoutKind::embedded)
        backend = std::make_unique<Embedded>(x_channel, setup, std::move(write));
    else
        backend = std::make_unique<Remote>(x_channel, setup);
    x_model = std::make_unique<Model>(std::move(backend), x_ranks.rank());
}

Session::~Session() = default;

}  // namespace tailrace::server
