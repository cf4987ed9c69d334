// SPDX-License-Identifier: Apache-2.0
// The history kernel as a program, alone or with ranks that serve: tailrace-history.
#include <algorithm>
#include <utility>

#include "formats/open.hpp"
#include "kernels/history/kernel.hpp"
#include "server/client/model_sink.hpp"
#include "server/session.hpp"
#include "tools/kernel_program.hpp"

namespace {

using namespace tailrace;
namespace history = kernels::history;

/// Sinks of a server; what is read is read by the format.
class ByServer final : public kernels::run::Opener {
public:
    ByServer(server::Model& model, server::Series& series, const formats::Options& options)
        : x_model(model),
          x_series(series),
          x_options(options),
          x_format(kernels::run::one_file(x_options)) {}

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
    server::Series series{"history", {}, {}, {}};
};

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
    if (!config.has("servers")) return work(world);
    const auto ranks = static_cast<std::uint64_t>(world.size());
    const std::uint64_t servers = config.number("servers");
    server::Session session(world, server::plain_layout(ranks, servers, "servers"), {},
                            bytes_of_rank(config, ranks - std::min(servers, ranks - 1)));
    if (!session.is_model()) return;
    serving.model = &session.model();
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
        history::MakeOpener opener;
        if (serving.model != nullptr) {
            const formats::netcdf4::Options& options = inputs.options;
            serving.series.storage = storage_of(options);
            opener = [&serving, options = formats::Options(options)] {
                return std::make_unique<ByServer>(*serving.model, serving.series, options);
            };
        }
        return history::make_kernel(std::move(inputs), std::move(opener));
    });
    return tools::run_kernel_program(argc, argv, std::move(which));
}
