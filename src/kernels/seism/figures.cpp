// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/figures.hpp"

#include <algorithm>
#include <filesystem>

#include "kernels/seism/lustre.hpp"

namespace tailrace::kernels::seism {

namespace {

core::ConfigurationValue configuration_value(const core::Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&value)) return *numbers;
    if (const auto* words = std::get_if<core::Words>(&value)) return *words;
    if (const auto* pairs = std::get_if<core::NamedValues>(&value)) return *pairs;
    std::vector<std::string> lines;
    for (const core::Words& words : std::get<std::vector<core::Words>>(value)) {
        lines.emplace_back();
        for (const std::string& word : words)
            lines.back() += (lines.back().empty() ? "" : " ") + word;
    }
    return lines;
}

std::map<std::string, core::ConfigurationValue> configuration_of(const core::Config& config) {
    std::map<std::string, core::ConfigurationValue> all;
    for (const core::Key& key : config.table().keys()) all[key.name] = std::monostate{};
    for (const core::Setting& setting : config.effective())
        all[setting.key] = configuration_value(setting.value);
    return all;
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Min, mean and max over ranks of many values at once.
std::vector<core::Spread> spreads_of(const comm::Comm& comm, const std::vector<double>& mine) {
    std::vector<double> low = mine, sum = mine, high = mine;
    comm.reduce(std::span(low), comm::Reduce::min);
    comm.reduce(std::span(sum), comm::Reduce::sum);
    comm.reduce(std::span(high), comm::Reduce::max);
    std::vector<core::Spread> spreads;
    for (std::size_t i = 0; i < mine.size(); ++i)
        spreads.push_back({low[i], sum[i] / comm.size(), high[i]});
    return spreads;
}

}  // namespace

double rate(std::uint64_t bytes, double seconds) noexcept {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

Figures figures_of(const comm::Comm& comm, const Written& written, const core::Phases& phases) {
    std::vector<double> values{written.open_s,
                               phases.seconds("precreate"),
                               phases.seconds("open_file"),
                               phases.seconds("open_dataset"),
                               written.close_s,
                               phases.seconds("agree"),
                               phases.seconds("sync"),
                               written.durable_s};
    const std::size_t fixed = values.size();
    for (const StepSeconds& step : written.steps) values.push_back(step.write);
    comm.reduce(std::span(values), comm::Reduce::max);
    Figures figures{values[0], values[1], values[2], values[3], 0,
                    values[4], values[5], values[6], values[7], written.report.bytes_logical};
    for (std::size_t i = fixed; i < values.size(); ++i) figures.write_s += values[i];
    return figures;
}

std::vector<core::StepRecord> steps_of(const comm::Comm& comm, const Inputs& inputs,
                                       const Written& written) {
    std::vector<double> mine;
    for (const StepSeconds& step : written.steps)
        mine.insert(mine.end(), {step.write, step.sync, step.compute});
    const std::vector<core::Spread> spreads = spreads_of(comm, mine);
    std::vector<core::StepRecord> steps;
    for (std::size_t k = 0; k < written.steps.size(); ++k) {
        core::StepRecord step{k, spreads[3 * k], std::nullopt, std::nullopt};
        if (inputs.sync_each_step) step.sync_s = spreads[3 * k + 1];
        if (inputs.compute.seconds > 0) step.compute_s = spreads[3 * k + 2];
        steps.push_back(step);
    }
    return steps;
}

core::Record record_frame(const comm::Comm& comm, const Inputs& inputs) {
    core::Record record;
    record.kernel = "seism";
    record.started = core::utc_now();
    record.context = core::collect_context(folder_of(inputs.filename));
    const comm::Comm node = comm.split_node();
    record.context.ranks = comm.size();
    record.context.nodes = static_cast<int>(comm.sum(std::uint64_t{node.rank() == 0 ? 1U : 0U}));
    record.context.ranks_per_node =
        static_cast<int>(comm.max(static_cast<std::uint64_t>(node.size())));
    record.configuration = configuration_of(inputs.config);
    record.transfers.collective_requested = inputs.collective();
    if (const auto* hdf5 = std::get_if<formats::hdf5::Options>(&inputs.options)) {
        record.transfers.metadata_collective_requested = hdf5->collective_metadata;
        record.mpi_io.hints_requested = hdf5->hints;
    } else if (const auto* mpiio = std::get_if<formats::mpiio::Options>(&inputs.options)) {
        record.mpi_io.hints_requested = mpiio->hints;
    }
    return record;
}

core::MemoryRecord memory_of(const comm::Comm& comm, const Inputs& inputs,
                             std::uint64_t after_init_bytes) {
    const std::uint64_t peak = core::process_memory().peak_bytes;
    const std::uint64_t above = peak - std::min(peak, after_init_bytes);
    return {comm.max(after_init_bytes), comm.max(peak), comm.max(above),
            inputs.geometry.bytes_per_rank()};
}

void take_written(const comm::Comm& comm, const Inputs& inputs, const Written& written,
                  const core::Phases& phases, const Figures& figures, core::Record& record) {
    core::take(record, written.report);
    record.phases = core::phases_of(comm.gather_text(core::phases_to_text(phases.times())));
    record.steps = steps_of(comm, inputs, written);
    record.elapsed = {figures.durable_s, figures.write_s, figures.aggregate_s()};
    const bool may_be_striped =
        inputs.striping.asked() || record.context.file_system.type == "lustre";
    if (comm.rank() == 0 && may_be_striped && lfs_there())
        record.context.striping = striping_in_force(inputs.filename);
}

}  // namespace tailrace::kernels::seism
