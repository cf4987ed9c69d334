// SPDX-License-Identifier: Apache-2.0
// The history kernel as a program: tailrace-history. Kernel and server meet here alone.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/history/kernel.hpp"
#include "server/client/model_sink.hpp"
#include "server/session.hpp"
#include "tools/kernel_program.hpp"

namespace {

namespace comm = tailrace::comm;
namespace core = tailrace::core;
namespace formats = tailrace::formats;
namespace history = tailrace::kernels::history;
namespace run = tailrace::kernels::run;
namespace server = tailrace::server;

/// Writes through the server, and reads as everybody.
class ServedOpener final : public run::Opener {
public:
    ServedOpener(const formats::Options& options, server::ModelFiles& files)
        : x_plain(run::one_file(options)), x_files(files) {}
    [[nodiscard]] std::string name() const override { return x_plain->name(); }
    void check_schema(const core::Schema& schema) const override { x_plain->check_schema(schema); }
    void check(const comm::Comm& ranks, const core::Target& target, int count) const override {
        x_plain->check(ranks, target, count);
    }
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm&, const core::Target& target,
                                                   core::Phases& phases) const override {
        return x_files.sink(target, phases);
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& ranks,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        return x_plain->source(ranks, path, phases);
    }

private:
    std::unique_ptr<run::Opener> x_plain;
    server::ModelFiles& x_files;
};

server::CollectionOptions options_of(const core::Config& config) {
    server::CollectionOptions options;
    options.if_exists = server::IfExists::replace;
    const std::string format = config.given("format") ? config.text("format") : "netcdf4";
    if (format == "hdf5")
        options.format = server::Format::hdf5;
    else if (format == "pnetcdf")
        options.format = server::Format::cdf5;
    else if (format != "netcdf4")
        throw config.error("format", "a server writes no " + format,
                           "take netcdf4, hdf5 or pnetcdf, or leave servers out");
    return options;
}

/// The session of a run with a server, on a rank of the model.
struct Served {
    server::Session session;
    std::optional<server::ModelFiles> files;
};

void check_ranks(const comm::Comm& world, const core::Config& config) {
    if (config.number("servers") >= static_cast<std::uint64_t>(world.size()))
        throw config.error("servers",
                           std::to_string(config.number("servers")) + " of " +
                               std::to_string(world.size()) + " ranks leave none for the model",
                           "start more ranks, or ask for fewer servers");
}

/// Also after a failure the servers are told that the model has ended.
void serve_and_run(Served*& served, const comm::Comm& world, const core::Config& config,
                   const std::function<void(const comm::Comm&)>& kernel) {
    if (!config.has("servers")) return kernel(world);
    const server::CollectionOptions options = world.agree_on([&] {
        check_ranks(world, config);
        return options_of(config);
    });
    server::Sharing sharing;
    sharing.servers = config.number("servers");
    Served here{{world, sharing}, {}};
    server::Session& session = here.session;
    if (!session.is_model()) return;
    served = &here;
    here.files.emplace(session.ranks(), session.model(), options, server::Storage{});
    try {
        kernel(session.ranks());
    } catch (const core::Error&) {
        static_cast<void>(session.model().finalize());
        throw;
    }
    for (const server::Status& status : session.model().finalize())
        if (status.error) throw core::Error(*status.error);
}

run::Outputs outputs_of(Served* served, core::Config config, std::uint64_t ranks,
                        const run::Plan& started) {
    const std::uint64_t servers = config.has("servers") ? config.number("servers") : 0;
    const bool shared_out = served != nullptr;  // then `ranks` are those of the model
    if (!shared_out) ranks -= std::min(servers, ranks - 1);
    history::Inputs inputs = history::inputs_from(std::move(config), ranks);
    if (inputs.config.has("servers") && inputs.filtered())
        throw inputs.config.error("servers", "the server writes without filters",
                                  "leave out deflate, shuffle and filter, or servers");
    run::started_as(inputs, started);
    history::MakeOpener opener;
    if (shared_out)
        opener = [files =
                      &*served->files](const history::Inputs& of) -> std::unique_ptr<run::Opener> {
            return std::make_unique<ServedOpener>(of.options, *files);
        };
    run::Outputs outputs;
    outputs.push_back(history::make_kernel(std::move(inputs), std::move(opener)));
    return outputs;
}

}  // namespace

int main(int argc, char** argv) {
    Served* served = nullptr;  // while the kernel runs
    tailrace::tools::KernelProgram which;
    which.program.name = "tailrace-history";
    which.program.summary = "writes the history of a model, through servers or without";
    which.program.environment_prefix = history::environment_prefix;
    which.program.keys = history::key_table();
    which.program.reads_stdin = false;
    which.share = [&served](const comm::Comm& world, const core::Config& config,
                            const std::function<void(const comm::Comm&)>& kernel) {
        serve_and_run(served, world, config, kernel);
    };
    which.make = [&served](core::Config config, std::uint64_t ranks, const run::Plan& started) {
        return outputs_of(served, std::move(config), ranks, started);
    };
    return tailrace::tools::run_kernel_program(argc, argv, std::move(which));
}
