// SPDX-License-Identifier: Apache-2.0
#include "runner/text.hpp"

#include <algorithm>
#include <map>

#include "core/statistics.hpp"
#include "core/units.hpp"

namespace tailrace::runner {

namespace {

using core::bytes_text;
using core::rate_text;
using core::seconds_text;

constexpr std::size_t value_column = 32;

std::string mode_text(const core::TransfersRecord& transfers) {
    std::string text = transfers.collective_actual
                           ? (*transfers.collective_actual ? "collective" : "independent")
                           : (transfers.collective_requested ? "collective requested; not measured"
                                                             : "independent");
    if (transfers.mode.find(text) == 0) text.clear();  // "independent (pwrite)" says it itself
    if (!transfers.mode.empty()) text += (text.empty() ? "" : ", ") + transfers.mode;
    if (!transfers.no_collective_cause.empty())
        text += "; not collective because: " + transfers.no_collective_cause;
    return text;
}

std::string joined(const std::map<std::string, std::string>& pairs) {
    std::string text;
    for (const auto& [name, value] : pairs) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

/// What more than two objects share is said once: there may be thousands of them.
std::string settings_text(const std::map<std::string, std::string>& settings) {
    std::map<std::string, std::size_t> shared;  // "name=value" of objects
    std::map<std::string, std::string> left;
    const auto of_object = [](const std::string& name) {
        const std::size_t blank = name.front() == '/' ? name.find(' ') : std::string::npos;
        return blank == std::string::npos ? std::string() : name.substr(blank + 1);
    };
    for (const auto& [name, value] : settings)
        if (const std::string own = of_object(name); !own.empty()) ++shared[own + "=" + value];
    std::string text;
    for (const auto& [pair, count] : shared)
        if (count > 2)
            text += (text.empty() ? "" : " ") + std::to_string(count) + " datasets " + pair;
    for (const auto& [name, value] : settings)
        if (const auto at = shared.find(of_object(name) + "=" + value);
            at == shared.end() || at->second <= 2)
            left.emplace(name, value);
    return text + (text.empty() || left.empty() ? "" : " ") + joined(left);
}

/// Hints that were asked for, and that MPI-IO does not tell of with that value.
std::string not_in_force(const core::Record& record) {
    auto left = record.mpi_io.hints_requested;
    for (const auto& [name, value] : record.mpi_io.hints_in_force)
        if (const auto found = left.find(name); found != left.end() && found->second == value)
            left.erase(found);
    return left.empty() ? "" : labelled("Hints not in force", joined(left));
}

std::string in_force(const core::Record& record) {
    std::string text = labelled("Transfer in force", mode_text(record.transfers));
    if (!record.mpi_io.implementation.empty())
        text += labelled("MPI-IO", record.mpi_io.implementation) +
                labelled("Hints in force", record.mpi_io.hints_in_force.empty()
                                               ? "none told"
                                               : joined(record.mpi_io.hints_in_force)) +
                not_in_force(record);
    if (!record.file.settings.empty())
        text += labelled("File settings in force", settings_text(record.file.settings));
    text += labelled("Space reserved", record.reservation.empty() ? "no" : record.reservation);
    if (!record.context.striping.empty())
        text += labelled("Striping in force", joined(record.context.striping));
    return text;
}

/// How much smaller the filters made the file, whatever else is in it.
std::string compression_text(const Kernel& kernel, const core::BytesRecord& bytes) {
    if (!kernel.plan().filtered() || bytes.stored == 0) return "";
    const double ratio = static_cast<double>(bytes.logical) / static_cast<double>(bytes.stored);
    return labelled("Compression", core::digits(ratio) + " (bytes logical by bytes stored)");
}

std::string index_text(const std::vector<std::uint64_t>& index) {
    std::string text;
    for (std::uint64_t i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
    return "(" + text + ")";
}

/// The dimensions of an object, and which one it is where there are several.
std::string where_text(const Kernel& kernel, const std::string& path) {
    const std::vector<core::Object> objects = kernel.schema().objects;
    for (std::size_t i = 0; i < objects.size(); ++i)
        if (objects[i].path == path)
            return (objects.size() == 1 ? "" : path + " ") + "(" + kernel.axes(i) + ")";
    return path;
}

std::string checks(const Kernel& kernel, const core::Record& record) {
    std::string text;
    if (record.read_back)
        text += labelled("Read back",
                         seconds_text(record.read_back->elapsed_s) + ", " +
                             rate_text(rate(record.read_back->bytes, record.read_back->elapsed_s)) +
                             ", each step cut as " + by_x(record.read_back->decomposition) +
                             ", cache " + record.read_back->cache);
    for (const core::ReadRecord& read : record.reads)
        text += labelled("Read " + read.pattern,
                         seconds_text(read.elapsed_s) + ", " +
                             rate_text(rate(read.bytes, read.elapsed_s)) + ", " +
                             std::to_string(read.requests) + " boxes, opened in " +
                             seconds_text(read.open_s) + ", " + std::to_string(read.elements) +
                             " elements, " + std::to_string(read.wrong) + " wrong; cache " +
                             read.cache + " (" + read.cache_evidence + ")");
    const core::VerificationRecord& checked = record.verification;
    if (checked.status == core::VerificationStatus::not_run) return text;
    text += labelled("Verification", std::to_string(checked.elements) + " elements, " +
                                         std::to_string(checked.wrong) + " wrong");
    for (const core::WrongElement& one : checked.first)
        text += labelled("  wrong at " + where_text(kernel, one.object),
                         index_text(one.index) + ": expected " + core::digits(one.expected) +
                             ", found " + core::digits(one.found));
    return text;
}

std::string over_repetitions(const std::string& label, std::span<const Figures> measured,
                             double (*value)(const Figures&), std::string (*print)(double)) {
    std::vector<double> values;
    for (const Figures& figures : measured) values.push_back(value(figures));
    std::sort(values.begin(), values.end());
    return labelled(label, print(values.front()) + " | " + print(core::median(values)) + " | " +
                               print(values.back()));
}

}  // namespace

std::string labelled(const std::string& label, const std::string& value) {
    std::string line = label + ":";
    line.resize(std::max(line.size() + 1, value_column), ' ');
    return line + value + "\n";
}

std::string yes(bool value) { return value ? "1" : "0"; }

std::string metadata_text(const core::TransfersRecord& transfers) {
    const std::string evidence =
        transfers.metadata_evidence.empty() ? "" : " (" + transfers.metadata_evidence + ")";
    if (transfers.metadata_collective_actual)
        return yes(*transfers.metadata_collective_actual) + evidence;
    return (transfers.metadata_collective_requested ? "requested; not measured"
                                                    : "not requested; not measured") +
           evidence;
}

std::string results_text(const Kernel& kernel, const core::Record& record, const Figures& figures) {
    const core::BytesRecord bytes = record.bytes.value_or(core::BytesRecord{});
    std::string text = "\n";
    text += labelled("Setting space aside", seconds_text(figures.reserve_s)) +
            labelled("Agreement of ranks", seconds_text(figures.agree_s)) +
            labelled("Sync to the device",
                     seconds_text(figures.sync_s) + (record.file.durable ? "" : " (not durable)")) +
            labelled("Durable total", seconds_text(figures.durable_s)) +
            labelled("Durable throughput", rate_text(rate(figures.bytes, figures.durable_s))) +
            labelled("Bytes logical", bytes_text(bytes.logical)) +
            labelled("Bytes stored", bytes_text(bytes.stored)) + compression_text(kernel, bytes) +
            labelled("Bytes on disk blocks", bytes_text(bytes.allocated)) + who_wrote_text(record) +
            in_force(record) +
            labelled("File", record.file.path + " (" + kernel.opener()->name() + ")") +
            checks(kernel, record);
    const std::string advice = advice_text(record);
    return text + (advice.empty() ? "" : "\n" + advice);
}

std::string summary_text(std::span<const Figures> measured) {
    const std::string count = std::to_string(measured.size());
    return std::string(80, '-') + "\n" +
           labelled("Measured repetitions", count + " (min | median | max, the warm-up apart)") +
           over_repetitions(
               "Write throughput", measured,
               [](const Figures& f) { return rate(f.bytes, f.write_s); }, rate_text) +
           over_repetitions(
               "Aggregate throughput", measured,
               [](const Figures& f) { return rate(f.bytes, f.aggregate_s()); }, rate_text) +
           over_repetitions(
               "Durable throughput", measured,
               [](const Figures& f) { return rate(f.bytes, f.durable_s); }, rate_text) +
           over_repetitions(
               "Durable total", measured, [](const Figures& f) { return f.durable_s; },
               seconds_text);
}

}  // namespace tailrace::runner
