// SPDX-License-Identifier: Apache-2.0
// The history kernel as a program, alone or with ranks that serve: tailrace-history.
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/memory_watch.hpp"
#include "formats/open.hpp"
#include "kernels/history/kernel.hpp"
#include "runner/laps.hpp"
#include "server/client/model_sink.hpp"
#include "server/session.hpp"
#include "tools/kernel_program.hpp"

namespace {

using namespace tailrace;
namespace history = kernels::history;

/// Sinks of a server; what is read is read by the format.
class ByServer final : public runner::Opener {
public:
    ByServer(server::Model& model, server::Series& series, const formats::Options& options)
        : x_model(model),
          x_series(series),
          x_options(options),
          x_format(runner::one_file(x_options)) {}

    [[nodiscard]] std::string name() const override { return "netcdf4, by the server"; }
    void check_schema(const core::Schema& schema) const override { x_format->check_schema(schema); }
    void check(const comm::Comm& comm, const core::Target& target, int ranks) const override {
        x_format->check(comm, target, ranks);
    }
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                   const core::Target& target,
                                                   core::Phases& phases) const override {
        return server::model_sink(x_model, comm, x_series, target, phases);
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        return x_format->source(comm, path, phases);
    }

private:
    server::Model& x_model;
    server::Series& x_series;
    formats::Options x_options;
    std::unique_ptr<Opener> x_format;
};

server::Storage storage_of(const formats::netcdf4::Options& options) {
    server::Storage storage;
    storage.shuffle = options.shuffle;
    storage.deflate = static_cast<std::uint64_t>(options.deflate);
    if (options.zstd) storage.zstd = static_cast<std::uint64_t>(*options.zstd);
    storage.quantize = static_cast<server::Quantize>(options.quantize);
    storage.digits = static_cast<std::uint64_t>(options.quantize_digits);
    return storage;
}

/// The server of this run, and what its Sinks share.
struct Serving {
    server::Model* model = nullptr;
    std::uint64_t servers = 0;
    std::deque<server::Series> series{};  ///< one per collection
    server::Traffic told{};
    history::Watched watched{};
};

/// What server ranks counted. In the embedded layout the model's ranks have done it, and their
/// processor time is theirs.
void add_servers(const std::vector<server::Figures>& heard, core::ServingRecord& record) {
    std::map<std::uint64_t, server::Figures> all;
    core::QueueRecord queue;
    for (const server::Figures& one : heard) {
        server::Figures& sum = all[one.server];
        sum.sent += one.sent, sum.received += one.received, sum.cpu_s += one.cpu_s;
        queue.bytes_max = std::max(queue.bytes_max, one.queue_bytes);
        queue.items_max = std::max(queue.items_max, one.queue_items);
    }
    record.queue = queue;
    if (record.servers.ranks == 0) return;
    std::vector<double> sent, received, cpu;
    for (const auto& [server, sum] : all) {
        sent.push_back(static_cast<double>(sum.sent));
        received.push_back(static_cast<double>(sum.received));
        cpu.push_back(sum.cpu_s);
    }
    record.servers.messages_sent = core::spread_of(sent);
    record.servers.messages_received = core::spread_of(received);
    record.servers.cpu_s = core::spread_of(cpu);
}

/// What the model's ranks know of the server, from its statuses.
void tell(Serving& serving, const comm::Comm& comm, core::ServingRecord& record) {
    record.kind = serving.servers == 0 ? "embedded" : "simple";
    record.servers.ranks = serving.servers;
    const server::Traffic now = serving.model->traffic();
    runner::Laps laps;
    laps.add("sent", static_cast<double>(now.sent - serving.told.sent));
    laps.add("received", static_cast<double>(now.received - serving.told.received));
    serving.told = now;
    const auto over = runner::over_ranks(comm, laps);
    record.model.messages_sent = over.at("sent").seconds;
    record.model.messages_received = over.at("received").seconds;
    std::vector<server::Figures> heard;
    for (std::size_t c = 0; c < serving.series.size(); ++c) {
        std::size_t file = c;  // they are ended collection by collection
        for (server::Figures& one : std::exchange(serving.series[c].heard, {})) {
            if (one.file_s && file < record.files.size()) {
                record.files[file].elapsed_s = *one.file_s;
                file += serving.series.size();
            }
            heard.push_back(one);
        }
    }
    add_servers(heard, record);
}

/// The processes of this node, for the first rank of the model there; the model has the first
/// ranks.  [collective]
history::Watched watched(const comm::Comm& world, const core::Config& config) {
    history::Watched all;
    all.of = static_cast<std::uint64_t>(world.size());
    all.every_s = config.real("memory_every");
    if (all.every_s <= 0) return all;
    const comm::Comm node = world.split_node();
    for (const int process : node.gather_value(static_cast<int>(::getpid())))
        all.processes.push_back(process);
    if (node.rank() == 0) all.idle_bytes = core::pss_bytes(all.processes).value_or(0);
    node.barrier();
    return all;
}

/// The mean of a step; 0 if there is something wrong with the inputs, which is told in time.
std::uint64_t bytes_of_rank(const core::Config& config, std::uint64_t ranks) {
    std::uint64_t bytes = 0;
    static_cast<void>(comm::Comm::caught(
        [&] { bytes = history::inputs_from(config, ranks).bytes_of_step(1) / ranks; }));
    return bytes;
}

/// Also after a failure the servers hear that the model has ended.
void share(Serving& serving, const comm::Comm& world, const core::Config& config,
           const std::function<void(const comm::Comm&)>& work) {
    serving.watched = watched(world, config);
    if (!config.has("servers")) return work(world);
    const auto ranks = static_cast<std::uint64_t>(world.size());
    const std::uint64_t servers = config.number("servers");
    server::Session session(world, server::plain_layout(ranks, servers, "servers"), {},
                            bytes_of_rank(config, ranks - std::min(servers, ranks - 1)));
    if (!session.is_model()) return;
    serving.model = &session.model();
    serving.servers = session.layout().ranks.servers.size();
    try {
        work(session.ranks());
    } catch (const core::Error&) {
        try {
            static_cast<void>(session.finalize());
        } catch (const core::Error&) {  // what led here is to be told
        }
        throw;
    }
    for (const server::Status& one : session.finalize())
        if (one.error) throw core::Error(*one.error);
}

}  // namespace

int main(int argc, char** argv) {
    Serving serving;
    tools::KernelProgram which;
    which.program.name = "tailrace-history";
    which.program.summary = "writes the history files of a model, and measures how long it waits";
    which.program.environment_prefix = history::environment_prefix;
    which.program.keys = history::key_table();
    which.program.reads_stdin = false;
    which.share = [&](const comm::Comm& world, const core::Config& config, const auto& work) {
        share(serving, world, config, work);
    };
    const auto inputs_from = [&serving](core::Config config, std::uint64_t ranks) {
        if (serving.model == nullptr && config.has("servers"))  // a dry run is about all ranks
            ranks -= std::min(config.number("servers"), ranks - 1);
        return history::inputs_from(std::move(config), ranks);
    };
    which.make = tools::kernel_maker(inputs_from, [&](history::Inputs inputs) {
        history::Writing writing;
        writing.watched = serving.watched;
        if (serving.model != nullptr) {
            const formats::netcdf4::Options& options = inputs.options;
            for (std::uint64_t i = 1; i <= inputs.collections; ++i) {
                server::Series& one = serving.series.emplace_back();
                one.name = "history" + (inputs.collections > 1 ? "_" + std::to_string(i) : "");
                one.storage = storage_of(options);
            }
            writing.opener = [&serving, options](std::size_t collection) {
                return std::make_unique<ByServer>(*serving.model, serving.series[collection],
                                                  options);
            };
            writing.tell = [&serving](const comm::Comm& comm, core::ServingRecord& record) {
                tell(serving, comm, record);
            };
        }
        return history::make_kernel(std::move(inputs), std::move(writing));
    });
    return tools::run_kernel_program(argc, argv, std::move(which));
}
