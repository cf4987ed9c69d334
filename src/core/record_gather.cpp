// SPDX-License-Identifier: Apache-2.0
// From what each rank knows to the parts of a Record.
#include <algorithm>
#include <array>
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

template <class Number>
Number number(const std::string& word, const std::string& text) {
    Number value{};
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc{} || end != word.data() + word.size()) damaged(text);
    return value;
}

/// Seconds with as many digits as it takes to get the same number back.
std::string exact(double value) {
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

Times times_of(const std::string& text) {
    Times times;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, seconds, entries;
        std::getline(words, name, '\t');
        std::getline(words, seconds, '\t');
        std::getline(words, entries);
        PhaseTime& time = times[name];
        time.elapsed_s = number<double>(seconds, line);
        time.entries = number<std::uint64_t>(entries, line);
    }
    return times;
}

std::vector<Times> all_times(std::span<const std::string> texts) {
    std::vector<Times> all;
    for (const std::string& text : texts) all.push_back(times_of(text));
    return all;
}

/// Of the rank that waited least for others.
Times waited_for(const std::vector<Times>& all) {
    const auto waited = [](const Times& times) {
        const auto found = times.find("agree");
        return found == times.end() ? 0 : found->second.elapsed_s;
    };
    const auto least =
        std::min_element(all.begin(), all.end(),
                         [&](const Times& a, const Times& b) { return waited(a) < waited(b); });
    return least == all.end() ? Times{} : *least;
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
    record.bytes = BytesRecord{report.bytes_logical, report.bytes_stored, report.bytes_allocated};
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

void take_failed(Record& record, const FileReport& report) {
    take(record, report);
    record.bytes.reset();
    record.file.parts.clear();
    record.file.durable = false;
}

std::uint64_t ranks_that_wrote(std::span<const WriterReport> writers) noexcept {
    return static_cast<std::uint64_t>(std::count_if(
        writers.begin(), writers.end(),
        [](const WriterReport& writer) { return writer.total.write.bytes_done > 0; }));
}

std::string phases_to_text(const Times& times) {
    std::string text;
    for (const auto& [name, time] : times)
        text += name + '\t' + exact(time.elapsed_s) + '\t' + std::to_string(time.entries) + '\n';
    return text;
}

std::map<std::string, PhaseRecord> phases_of(std::span<const std::string> texts,
                                             std::span<const std::string> until_named) {
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
    for (const auto& [name, time] : waited_for(all_times(until_named)))
        phases[name].path_s = time.elapsed_s;
    return phases;
}

}  // namespace tailrace::core
