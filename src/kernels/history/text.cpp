// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/text.hpp"

#include <algorithm>

#include "core/units.hpp"
#include "kernels/run/text.hpp"

namespace tailrace::kernels::history {

using run::labelled;

namespace {

std::string servers_text(const core::Config& config) {
    if (!config.has("servers")) return "none: plain calls of the format";
    const std::uint64_t servers = config.number("servers");
    return servers == 0 ? "0: embedded" : std::to_string(servers);
}

}  // namespace

std::string echo_text(const Inputs& inputs) {
    const Geometry& grid = inputs.geometry;
    const std::uint64_t files =
        (inputs.steps + inputs.records_per_file - 1) / inputs.records_per_file;
    std::string text(80, '=');
    text += '\n';
    return text +
           labelled("Ranks of the model", std::to_string(grid.ranks()) + ", " +
                                              run::by_x({grid.nx, grid.ny}) +
                                              " along longitude and latitude") +
           labelled("Server ranks", servers_text(inputs.config)) +
           labelled("Grid", run::by_x({grid.im, grid.jm, grid.km})) +
           labelled("Fields", std::to_string(inputs.fields) + " in " +
                                  std::to_string(inputs.collections) + " collections") +
           labelled("Records", std::to_string(inputs.steps) + " in " +
                                   std::to_string(files * inputs.collections) + " files") +
           labelled("Computation between records", core::seconds_text(inputs.compute.seconds));
}

std::string classic_text(const Inputs& inputs, const core::Record& record,
                         const run::Figures& figures) {
    if (!record.serving) return {};
    const core::ServingRecord& served = *record.serving;
    const auto steps = static_cast<double>(inputs.steps);
    double longest = 0;
    for (const core::StepRecord& step : record.steps)
        if (step.stall_s) longest = std::max(longest, step.stall_s->max);
    return labelled("Stall of the model, all", core::seconds_text(served.stall_s.max)) +
           labelled("Stall per record, mean", core::seconds_text(served.stall_s.max / steps)) +
           labelled("Longest stall of a record", core::seconds_text(longest)) +
           labelled("All, to the last file's name",
                    core::seconds_text(figures.durable_s) + " without computation") +
           labelled("Memory copy of the same, all", core::seconds_text(served.memory_copy_s)) +
           labelled("Memory copy of a record", core::seconds_text(served.memory_copy_s / steps));
}

}  // namespace tailrace::kernels::history
