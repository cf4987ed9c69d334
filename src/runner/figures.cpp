// SPDX-License-Identifier: Apache-2.0
#include "runner/figures.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "runner/kernel.hpp"
#include "runner/lustre.hpp"
#include "runner/writing.hpp"

namespace tailrace::runner {

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
                               written.durable_s,
                               written.define_s,
                               written.flush_s,
                               phases.seconds("reserve"),
                               written.set_aside_s};
    comm.reduce(std::span(values), comm::Reduce::max);
    const double open_s = std::max(0.0, values[0] - values[11]);
    return {open_s,
            values[1],
            values[2],
            values[3],
            written.write_s,
            values[4],
            values[5],
            values[6],
            values[7],
            values[8],
            values[9],
            values[10],
            written.report.bytes_logical,
            over_ranks(comm, written.laps),
            written.laps,
            written.data_written_at};
}

core::Record record_frame(const comm::Comm& comm, const Kernel& kernel) {
    const Plan& inputs = kernel.plan();
    core::Record record;
    record.kernel = inputs.limit == LimitMode::alone ? "limit" : kernel.name();
    record.started = core::utc_now();
    record.context = core::collect_context(folder_of(inputs.filename));
    const comm::Comm node = comm.split_node();
    record.context.ranks = comm.size();
    record.context.nodes = static_cast<int>(comm.sum(std::uint64_t{node.rank() == 0 ? 1U : 0U}));
    record.context.ranks_per_node =
        static_cast<int>(comm.max(static_cast<std::uint64_t>(node.size())));
    record.file.path = inputs.filename.string();
    record.configuration = configuration_of(inputs.config);
    record.transfers.collective_requested = inputs.collective();
    record.transfers.metadata_collective_requested = inputs.options.facts().collective_metadata;
    record.mpi_io.hints_requested = inputs.hints();
    return record;
}

core::MemoryRecord memory_of(const comm::Comm& comm, const Kernel& kernel,
                             std::uint64_t after_init_bytes) {
    const std::uint64_t peak = core::process_memory().peak_bytes;
    const std::uint64_t above = peak - std::min(peak, after_init_bytes);
    return {comm.max(after_init_bytes), comm.max(peak), comm.max(above), kernel.bytes_per_rank()};
}

void take_written(const comm::Comm& comm, const Kernel& kernel, const Written& written,
                  const Figures& figures, core::Record& record) {
    const Plan& inputs = kernel.plan();
    core::take(record, written.report);
    const std::vector<std::uint64_t> given = comm.gather_value(written.bytes_given);
    for (core::WriterReport& writer : record.writers)
        writer.bytes_given = given.at(static_cast<std::size_t>(writer.rank));
    record.steps = written.steps;
    record.elapsed = core::ElapsedRecord{figures.durable_s, figures.write_s, figures.aggregate_s()};
    const bool may_be_striped =
        inputs.striping.asked() || record.context.file_system.type == "lustre";
    if (comm.rank() == 0 && may_be_striped && lfs_there())
        record.context.striping = striping_in_force(inputs.filename);
    kernel.add_figures(comm, record);
}

}  // namespace tailrace::runner
