// SPDX-License-Identifier: Apache-2.0
#include "server/session.hpp"

#include <utility>

#include "server/client/embedded.hpp"
#include "server/client/remote.hpp"

namespace tailrace::server {

Sharing sharing_of(const comm::Comm& /*world*/, const std::vector<std::string>& words) {
    Sharing sharing;
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i] == "--npes_output_server") sharing.servers = std::stoull(words[i + 1]);
    return sharing;
}

Session::Session(const comm::Comm& world, const Sharing& sharing, Files::Published published)
    : x_ranks(world.split(static_cast<std::uint64_t>(world.rank()) + sharing.servers <
                                  static_cast<std::uint64_t>(world.size())
                              ? 0
                              : 1,
                          world.rank())),
      x_channel(world.channel()) {
    const auto rank = static_cast<std::uint64_t>(world.rank());
    const std::uint64_t clients = static_cast<std::uint64_t>(world.size()) - sharing.servers;
    WriteWork write = [writer = std::make_shared<Writer>(world.rank(), world.size(),
                                                         std::move(published))](Work& work) {
        (*writer)(work);
    };
    if (rank >= clients) {
        serve(x_channel, {rank - clients, clients, sharing.layout_hash, sharing.credit_bytes},
              write);
        x_channel.close();
        return;
    }
    const ClientSetup setup{rank,
                            clients,
                            sharing.servers,
                            sharing.layout_hash,
                            sharing.slab_bytes,
                            sharing.credit_bytes,
                            sharing.depth};
    std::unique_ptr<Backend> backend;
    if (sharing.servers == 0)
        backend = std::make_unique<Embedded>(x_channel, setup, std::move(write));
    else
        backend = std::make_unique<Remote>(x_channel, setup);
    x_model = std::make_unique<Model>(std::move(backend), world.rank());
}

Session::~Session() = default;

}  // namespace tailrace::server
