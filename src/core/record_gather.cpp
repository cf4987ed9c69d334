// SPDX-License-Identifier: Apache-2.0
// From what each rank knows to the parts of a Record.
#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "core/record.hpp"

namespace tailrace::core {

namespace {

using Times = std::map<std::string, PhaseTime>;

[[noreturn]] void damaged(const std::string& text) {
    throw Error(Code::internal, "phase times of another rank cannot be read: " + text.substr(0, 80),
                "phases", "please report it");
}

double number(const std::string& word, const std::string& text) {
    double value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc{} || end != word.data() + word.size()) damaged(text);
    return value;
}

void put(std::string& text, double value) {
    char buffer[40];
    const auto [end, failure] = std::to_chars(buffer, buffer + sizeof buffer, value);
    (void)failure;
    text.append(1, '\t').append(buffer, end);
}

Times times_of(const std::string& text) {
    Times times;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        if (!std::getline(words, word, '\t')) damaged(line);
        PhaseTime& time = times[word];
        if (!std::getline(words, word, '\t')) damaged(line);
        time.elapsed_s = number(word, line);
        while (std::getline(words, word, '\t')) time.each_s.push_back(number(word, line));
        time.entries = time.each_s.size();
    }
    return times;
}

std::vector<Times> all_times(std::span<const std::string> texts) {
    std::vector<Times> all;
    for (const std::string& text : texts) all.push_back(times_of(text));
    return all;
}

/// Seconds of `phase` in one step on every rank; nothing where a rank's entries do not divide into
/// the steps.
std::optional<Spread> of_step(const std::vector<Times>& all, const std::string& phase,
                              std::uint64_t step, std::uint64_t steps) {
    std::vector<double> seconds;
    for (const Times& times : all) {
        const auto found = times.find(phase);
        if (found == times.end() || found->second.entries % steps != 0) return std::nullopt;
        const std::uint64_t per_step = found->second.entries / steps;
        if (per_step == 0) return std::nullopt;
        double sum = 0;
        for (std::uint64_t k = step * per_step; k < (step + 1) * per_step; ++k)
            sum += found->second.each_s[k];
        seconds.push_back(sum);
    }
    return spread_of(seconds);
}

}  // namespace

Spread spread_of(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    double sum = 0;
    for (double value : values) sum += value;
    return {*low, sum / static_cast<double>(values.size()), *high};
}

void take(Record& record, const FileReport& report) {
    record.bytes = {report.bytes_logical, report.bytes_stored, report.bytes_allocated};
    record.transfers.collective_actual = report.data_collective;
    record.transfers.mode = report.data_mode;
    record.transfers.no_collective_cause = report.no_collective_cause;
    record.transfers.metadata_collective_actual = report.metadata_collective;
    record.transfers.metadata_evidence = report.metadata_evidence;
    record.mpi_io.implementation = report.mpi_io;
    record.mpi_io.hints_in_force = report.hints_in_force;
    record.context.mpi_io = report.mpi_io;
    record.context.striping = report.striping;
    record.writers = report.writers;
    record.writers_measured = report.writers_measured;
    record.reserved = report.reserved;
    record.reservation = report.reservation;
    record.file.path = report.path.string();
    record.file.parts = report.parts;
    record.file.settings = report.settings;
    record.file.durable = report.durable;
}

std::uint64_t ranks_that_wrote(std::span<const WriterReport> writers) noexcept {
    return static_cast<std::uint64_t>(std::count_if(
        writers.begin(), writers.end(),
        [](const WriterReport& writer) { return writer.total.write.bytes_done > 0; }));
}

std::string phases_to_text(const Times& times) {
    std::string text;
    for (const auto& [name, time] : times) {
        text += name;
        put(text, time.elapsed_s);
        for (double each : time.each_s) put(text, each);
        text += '\n';
    }
    return text;
}

std::map<std::string, PhaseRecord> phases_of(std::span<const std::string> texts) {
    const std::vector<Times> all = all_times(texts);
    std::set<std::string> names;
    for (const Times& times : all)
        for (const auto& entry : times) names.insert(entry.first);
    std::map<std::string, PhaseRecord> phases;
    for (const std::string& name : names) {
        std::vector<double> seconds;
        PhaseRecord& phase = phases[name];
        for (const Times& times : all) {
            const auto found = times.find(name);
            seconds.push_back(found == times.end() ? 0 : found->second.elapsed_s);
            if (found != times.end())
                phase.entries = std::max(phase.entries, found->second.entries);
        }
        phase.elapsed_s = spread_of(seconds);
    }
    return phases;
}

std::vector<StepRecord> steps_of(std::span<const std::string> texts, std::uint64_t steps) {
    const std::vector<Times> all = all_times(texts);
    std::vector<StepRecord> records;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::optional<Spread> write = of_step(all, "write", step, steps);
        if (!write) return {};
        records.push_back({step, *write, of_step(all, "step_sync", step, steps),
                           of_step(all, "compute", step, steps)});
    }
    return records;
}

}  // namespace tailrace::core
