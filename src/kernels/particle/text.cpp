// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/text.hpp"

#include "core/units.hpp"
#include "runner/run.hpp"
#include "runner/text.hpp"

namespace tailrace::kernels::particle {

using runner::labelled;

namespace {

constexpr double giga = 1e9;
constexpr double gibi = 1073741824.0;

std::string rule(const std::string& title) {
    const std::size_t side = (59 - title.size() - 2) / 2;
    return std::string(side, '=') + " " + title + " " +
           std::string(59 - title.size() - 2 - side, '=') + "\n";
}

std::string seconds(double value) { return core::digits(value) + " s"; }

std::string size(std::uint64_t bytes) {
    const auto value = static_cast<double>(bytes);
    return core::digits(value / giga) + " GB (" + std::to_string(bytes) + " bytes)";
}

/// Both readings of "GB": 10^9 and 2^30 bytes.
std::string rate(std::uint64_t bytes, double elapsed_s) {
    const double value = runner::rate(bytes, elapsed_s);
    if (value <= 0) return "no time passed";
    return core::digits(value / giga) + " GB/s (" + core::digits(value / gibi) + " GiB/s)";
}

/// The call's name in HDF5, or what it is where there is none.
std::string call(const Inputs& inputs, const char* hdf5, const char* plain) {
    return inputs.options.facts().calls_hdf5 ? std::string(hdf5) + "() time"
                                             : std::string(plain) + " time";
}

std::string pattern_text(Pattern pattern, const std::optional<Blocks>& blocks) {
    if (pattern == Pattern::interleaved) return "interleaved";
    if (!blocks) return "contiguous";
    return "strided: " + std::to_string(blocks->count) + " blocks of " +
           std::to_string(blocks->size) + " particles, " + std::to_string(blocks->stride) +
           " apart";
}

std::string write_block(const Inputs& inputs, const runner::Figures& figures) {
    const double sleep_s = inputs.compute.seconds * static_cast<double>(inputs.steps - 1);
    return rule("Performance Results") +
           labelled("Total number of ranks", std::to_string(inputs.layout.geometry.ranks)) +
           labelled("Total emulated compute time", seconds(sleep_s)) +
           labelled("Total write size", size(figures.bytes)) +
           labelled("Raw write time", seconds(figures.write_s)) +
           labelled("Metadata time", seconds(figures.define_s)) +
           labelled(call(inputs, "H5Fcreate", "Create"), seconds(figures.open_s)) +
           labelled(call(inputs, "H5Fflush", "Flush"), seconds(figures.flush_s)) +
           labelled(call(inputs, "H5Fclose", "Close"), seconds(figures.close_s)) +
           labelled("Observed completion time", seconds(figures.durable_s + sleep_s)) +
           labelled("SYNC Raw write rate", rate(figures.bytes, figures.write_s)) +
           labelled("SYNC Observed write rate", rate(figures.bytes, figures.durable_s)) +
           std::string(59, '=') + "\n";
}

std::string read_block(const Inputs& inputs, const core::ReadRecord& read) {
    return rule("Performance Results (read " + read.pattern + ")") +
           labelled("Total number of ranks", std::to_string(inputs.layout.geometry.ranks)) +
           labelled("Total emulated compute time", seconds(0)) +
           labelled("Total read size", size(read.bytes)) +
           labelled("Raw read time", seconds(read.elapsed_s)) +
           labelled("Metadata time", seconds(read.open_s)) +
           labelled("Observed read completion time", seconds(read.open_s + read.elapsed_s)) +
           labelled("SYNC Raw read rate", rate(read.bytes, read.elapsed_s)) +
           labelled("SYNC Observed read rate", rate(read.bytes, read.open_s + read.elapsed_s)) +
           std::string(59, '=') + "\n";
}

const core::ReadRecord* read_of(const Inputs& inputs, const core::Record& record) {
    const bool asked = inputs.read_option != ReadOption::none && !record.reads.empty();
    const bool made = asked && record.reads.back().pattern == runner::name(inputs.reads.back());
    return made ? &record.reads.back() : nullptr;
}

struct Measured {
    double compute_s, raw_s, metadata_s, observed_s, in_rate_s;
    std::uint64_t bytes;
};

std::string csv_rows(const Inputs& inputs, const std::string& operation, const Measured& found) {
    const auto yes = [](bool value) { return value ? "YES" : "NO"; };
    const formats::Facts facts = inputs.options.facts();
    std::string text;
    const auto row = [&text](const char* metric, const std::string& value, const char* unit) {
        text += std::string(metric) + ", " + value + ", " + unit + "\n";
    };
    const auto number = [](double value) { return core::digits(value); };
    row("operation", operation, "");
    row("ranks", std::to_string(inputs.layout.geometry.ranks), "");
    row("collective data", yes(inputs.collective()), "");
    row("collective meta", yes(facts.collective_metadata), "");
    row("subfiling", yes(facts.several_files && facts.keeps_name), "");
    row("total compute time", number(found.compute_s), "seconds");
    row("total size", std::to_string(found.bytes), "B");
    row("raw time", number(found.raw_s), "seconds");
    row("raw rate", number(runner::rate(found.bytes, found.raw_s)), "B/s");
    row("metadata time", number(found.metadata_s), "seconds");
    row("observed rate", number(runner::rate(found.bytes, found.in_rate_s)), "B/s");
    row("observed time", number(found.observed_s), "seconds");
    return text;
}

}  // namespace

std::vector<runner::NamedFile> files_written(const Inputs& inputs) {
    std::vector<runner::NamedFile> files;
    if (!inputs.csv_file.empty()) files.push_back({"csv_file", "csv_file", inputs.csv_file});
    if (!inputs.read_csv_file.empty())
        files.push_back({"read_csv_file", "read_csv_file", inputs.read_csv_file});
    return files;
}

std::vector<runner::SideFile> side_files(const Inputs& inputs, const core::Record& record,
                                         const runner::Figures& figures) {
    const std::string head = "metric, value, unit\n";
    std::vector<runner::SideFile> files;
    if (!inputs.csv_file.empty()) {
        const double sleep_s = inputs.compute.seconds * static_cast<double>(inputs.steps - 1);
        const Measured written{sleep_s,           figures.write_s,
                               figures.define_s,  figures.durable_s + sleep_s,
                               figures.durable_s, figures.bytes};
        files.push_back({inputs.csv_file, head + csv_rows(inputs, "write", written)});
    }
    const core::ReadRecord* read = read_of(inputs, record);
    if (inputs.read_csv_file.empty() || read == nullptr) return files;
    const double all_s = read->open_s + read->elapsed_s;
    const std::string rows =
        csv_rows(inputs, "read", {0, read->elapsed_s, read->open_s, all_s, all_s, read->bytes});
    if (!files.empty() && runner::lead_to_one_name(inputs.read_csv_file, inputs.csv_file))
        files.back().text += rows;
    else
        files.push_back({inputs.read_csv_file, head + rows});
    return files;
}

std::string echo_text(const Inputs& inputs) {
    const Layout& layout = inputs.layout;
    std::string text =
        rule("Benchmark Configuration") +
        labelled("Number of processes", std::to_string(layout.geometry.ranks)) +
        labelled("Particles per rank", runner::by_x(layout.geometry.per_rank)) +
        labelled("Particles in the file", runner::by_x(layout.geometry.dims())) +
        labelled("Time steps", std::to_string(inputs.steps)) +
        labelled("Memory pattern", pattern_text(layout.memory, std::nullopt)) +
        labelled("File pattern", pattern_text(layout.file, layout.geometry.blocks)) +
        labelled("Collective data requested", runner::yes(inputs.collective())) +
        labelled("Chunk", inputs.chunk ? runner::by_x(*inputs.chunk) : "none (contiguous)");
    return text;
}

std::string classic_text(const Inputs& inputs, const core::Record& record,
                         const runner::Figures& figures) {
    std::string text = write_block(inputs, figures);
    if (const core::ReadRecord* read = read_of(inputs, record)) text += read_block(inputs, *read);
    return text;
}

}  // namespace tailrace::kernels::particle
