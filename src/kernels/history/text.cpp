// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/phases.hpp"
#include "core/units.hpp"
#include "runner/text.hpp"

namespace tailrace::kernels::history {

using runner::labelled;

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
                                              runner::by_x({grid.nx, grid.ny}) +
                                              " along longitude and latitude") +
           labelled("Server ranks", servers_text(inputs.config)) +
           labelled("Grid", runner::by_x({grid.im, grid.jm, grid.km})) +
           labelled("Fields", std::to_string(inputs.fields)) +
           labelled("Records",
                    std::to_string(inputs.steps) + " in " + std::to_string(files) + " files") +
           labelled("Computation between records", core::seconds_text(inputs.compute.seconds));
}

std::string classic_text(const Inputs& inputs, const core::Record& record,
                         const runner::Figures& figures) {
    double longest = 0;
    for (const core::StepRecord& step : record.steps) longest = std::max(longest, step.write_s.max);
    const auto lap = figures.laps.find("stall");
    const double stall = lap == figures.laps.end() ? 0 : lap->second.seconds.max;
    return labelled("Stall of the model, all", core::seconds_text(stall)) +
           labelled("Stall per record, mean",
                    core::seconds_text(stall / static_cast<double>(inputs.steps))) +
           labelled("Longest write of a record", core::seconds_text(longest)) +
           labelled("All, to the last file's name",
                    core::seconds_text(figures.durable_s) + " without computation");
}

std::string copy_text(const comm::Comm& comm, std::uint64_t bytes, std::uint64_t steps) {
    const std::vector<std::byte> from(bytes, std::byte{1});
    std::vector<std::byte> to(bytes, std::byte{2});
    double least = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        comm.barrier();
        const double start = core::now_s();
        if (bytes > 0) std::memcpy(to.data(), from.data(), bytes);
        const double one = comm.max(core::now_s() - start);
        least = attempt == 0 ? one : std::min(least, one);
    }
    const bool copied = to == from;  // and so the copy is not optimised away
    return labelled("Memory copy of the same, all",
                    core::seconds_text(copied ? least * static_cast<double>(steps) : 0)) +
           labelled("Memory copy of a record", core::seconds_text(copied ? least : 0));
}

}  // namespace tailrace::kernels::history
