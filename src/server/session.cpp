// SPDX-License-Identifier: Apache-2.0
#include "server/session.hpp"

#include <algorithm>
#include <utility>

#include "formats/open.hpp"
#include "server/client/backend.hpp"
#include "server/profiler/report.hpp"

namespace tailrace::server {

namespace {

enum class Part { model, servers, left_over };

Part part_of(int rank, const Split& ranks) {
    const auto among = [rank](const std::vector<std::uint64_t>& all) {
        return std::find(all.begin(), all.end(), static_cast<std::uint64_t>(rank)) != all.end();
    };
    return among(ranks.model)     ? Part::model
           : among(ranks.servers) ? Part::servers
                                  : Part::left_over;
}

/// Between clients, the first, and front ends.
comm::Channel channel_of(const comm::Comm& world, const Layout& layout) {
    const Part part = part_of(world.rank(), layout.ranks);
    const int place = world.rank() + (part == Part::servers ? world.size() : 0);
    return world.split(part == Part::left_over ? 1 : 0, place).channel();
}

std::unique_ptr<Profiler> profiler_of(const char* name, const Layout& layout) {
    return layout.profiler ? std::make_unique<Profiler>(name) : std::make_unique<Profiler>();
}

}  // namespace

Session::Session(const comm::Comm& world, const Layout& layout, Files::Published published,
                 std::uint64_t expected)
    : x_layout(layout),
      x_ranks(world.split(static_cast<int>(part_of(world.rank(), layout.ranks)), world.rank())),
      x_channel(channel_of(world, layout)),
      x_profiler(profiler_of(
          part_of(world.rank(), layout.ranks) == Part::model ? "model" : "server", layout)),
      x_writing(profiler_of("writer", layout)) {
    const Part part = part_of(world.rank(), layout.ranks);
    const auto rank = static_cast<std::uint64_t>(x_ranks.rank());
    const bool writes = part == Part::servers ||
                        (layout.kind == LayoutKind::embedded && part == Part::model && rank == 0);
    Neighbours neighbours;
    if (layout.shared_bytes > 0)
        neighbours =
            Neighbours(world.split_node(), {part == Part::left_over ? -1 : x_channel.rank(), writes,
                                            part == Part::model ? layout.shared_bytes : 0});
    static_cast<void>(neighbours.use(std::min(expected, layout.shared_bytes)));
    Lacking missing = lacking(world, writes);
    if (part == Part::left_over) {
        x_channel.close();
        return;
    }
    const std::uint64_t clients = layout.ranks.model.size();
    const std::uint64_t hash = layout.hash();
    const auto writer =
        std::make_shared<Writer>(world.rank(), world.size(), std::move(published), *x_writing);
    WriteWork write = [writer](Work& work) { (*writer)(work); };
    if (part == Part::servers) {
        formats::begin();  // the thread that writes may not call MPI
        serve(x_channel, {rank, clients, hash, layout.credit_bytes, layout.stuck_timeout_s / 4},
              write, std::move(neighbours));
        close();
        write_profile("servers");
        return;
    }
    const ClientSetup setup{rank,
                            clients,
                            layout.ranks.servers.size(),
                            hash,
                            layout.slab_bytes,
                            layout.credit_bytes,
                            layout.defaults.depth,
                            layout.stuck_timeout_s};
    std::unique_ptr<Backend> backend;
    if (layout.kind == LayoutKind::embedded)
        backend = std::make_unique<Backend>(x_channel, setup, neighbours, std::move(write));
    else
        backend = std::make_unique<Backend>(x_channel, setup, std::move(neighbours));
    x_model = std::make_unique<Model>(std::move(backend), x_ranks.rank(), *x_profiler,
                                      std::move(missing));
}

void Session::write_profile(const std::string& of) {
    if (!x_layout.profiler) return;
    if (x_writing->profile().regions.size() > 1) x_profiler->merge(*x_writing);
    write_files(x_ranks, gather(x_ranks, *x_profiler), "tailrace_server_profile." + of);
}

std::vector<Status> Session::finalize() {
    std::vector<Status> all = x_model->finalize();
    close();  // servers end now, not when the session does
    if (const auto error = comm::Comm::caught([&] { write_profile("model"); }))
        all.push_back({0, error});  // what became of the files is told all the same
    return all;
}

/// A rank that is stuck says no goodbye.
void Session::close() {
    formats::before_end();
    if (x_model && x_model->lost_servers()) return x_channel.leave();
    const double seconds = x_layout.stuck_timeout_s;
    x_channel.close(seconds > 0 && seconds < 1e9
                        ? std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9))
                        : comm::Channel::forever);
}

void Session::give_up() noexcept {
    // HDF5 may have ended before: the model's files are not touched, and its memory stays.
    [[maybe_unused]] const Model* const forgotten = x_model.release();
    try {
        x_channel.leave();
    } catch (...) {  // the end of MPI does not wait
    }
}

Session::~Session() {
    try {
        if (std::uncaught_exceptions() == x_exceptions) close();
    } catch (...) {  // finalize() says it
    }
}

}  // namespace tailrace::server
