// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/site_rules.hpp"

#include <algorithm>
#include <array>

#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using Text = std::string;

Measured number(const Count& count) {
    if (!count) return std::nullopt;
    return static_cast<double>(*count);
}
Measured number(std::uint64_t count) { return static_cast<double>(count); }
Measured text(const Text& word) {
    if (word.empty()) return std::nullopt;
    return word;
}

constexpr std::array known_measures{
    Measure{"run.ranks", false, "MPI ranks of the run.",
            [](const Subject& s) { return number(ranks(s)); }},
    Measure{"run.nodes", false, "Nodes of the run.",
            [](const Subject& s) { return number(known_nodes(s)); }},
    Measure{"file.ranks", false, "Ranks that open the file together; 1: serial.",
            [](const Subject& s) { return number(file_ranks(s)); }},
    Measure{"file.parallel", false, "1 where HDF5 opens it with MPI-IO, else 0.",
            [](const Subject& s) { return number(parallel(s) ? 1 : 0); }},
    Measure{"file.created", false, "1 where the run creates it, else 0.",
            [](const Subject& s) {
                const Subject file{s.profile, s.file, nullptr, s.reliability, s.allowed};
                return number(created(file) ? 1 : 0);
            }},
    Measure{"file.path", false, "Its path.", [](const Subject& s) { return text(s.file.path); },
            true},
    Measure{"file.system", false, "Type of its file system.",
            [](const Subject& s) { return text(fs_type(s)); }, true},
    Measure{"file.block_bytes", false, "Block or stripe of its file system.",
            [](const Subject& s) { return number(fs_block(s)); }},
    Measure{"file.bytes_written", false, "Bytes written.",
            [](const Subject& s) { return number(bytes_written(s)); }},
    Measure{"file.bytes_read", false, "Bytes read.",
            [](const Subject& s) { return number(bytes_read(s)); }},
    Measure{"file.datasets", false, "Datasets that were used.",
            [](const Subject& s) { return number(s.file.datasets.size()); }},
    Measure{"file.metadata_operations", false, "Creations, opens, reads, writes of metadata.",
            [](const Subject& s) { return number(metadata(s)); }},
    Measure{"file.collective_calls", false, "Collective calls of MPI-IO.",
            [](const Subject& s) { return number(mpiio_calls(s, true)); }},
    Measure{"file.independent_calls", false, "Other calls of MPI-IO.",
            [](const Subject& s) { return number(mpiio_calls(s, false)); }},
    Measure{"dataset.path", true, "Its path within the file.",
            [](const Subject& s) { return text(s.dataset->path); }, true},
    Measure{"dataset.bytes", true, "Its size without filters.",
            [](const Subject& s) { return number(size_bytes(*s.dataset)); }},
    Measure{"dataset.ndims", true, "Number of dimensions.",
            [](const Subject& s) { return number(s.dataset->dims.size()); }},
    Measure{"dataset.layout", true, "contiguous, chunked, compact or virtual.",
            [](const Subject& s) { return text(s.dataset->layout.value_or("")); }, true},
    Measure{"dataset.chunk_bytes", true, "Bytes of a chunk.",
            [](const Subject& s) { return number(chunk_bytes(*s.dataset)); }},
    Measure{"dataset.filters", true, "Number of filters.",
            [](const Subject& s) { return number(s.dataset->filters.size()); }},
    Measure{"dataset.created", true, "1 where the run creates it, else 0.",
            [](const Subject& s) { return number(created(s) ? 1 : 0); }},
    Measure{"dataset.write_calls", true, "Writes.",
            [](const Subject& s) { return number(calls(s.dataset->writes)); }},
    Measure{"dataset.write_bytes", true, "Bytes written.",
            [](const Subject& s) { return number(moved_bytes(s.dataset->writes)); }},
    Measure{"dataset.write_call_bytes", true, "Bytes of a usual write.",
            [](const Subject& s) { return number(call_bytes(s.dataset->writes, *s.dataset)); }},
    Measure{"dataset.read_calls", true, "Reads.",
            [](const Subject& s) { return number(calls(s.dataset->reads)); }},
    Measure{"dataset.read_bytes", true, "Bytes read.",
            [](const Subject& s) { return number(moved_bytes(s.dataset->reads)); }},
    Measure{"dataset.read_call_bytes", true, "Bytes of a usual read.",
            [](const Subject& s) { return number(call_bytes(s.dataset->reads, *s.dataset)); }},
};

const Measure* find(const std::string& name) {
    const auto found = std::find_if(known_measures.begin(), known_measures.end(),
                                    [&](const Measure& one) { return one.name == name; });
    return found == known_measures.end() ? nullptr : &*found;
}

std::string shown(const std::variant<double, std::string>& measured) {
    if (const auto* word = std::get_if<std::string>(&measured)) return *word;
    return std::to_string(static_cast<long long>(std::get<double>(measured)));
}

template <class T>
bool compare(const T& a, Comparison is, const T& b) {
    switch (is) {
        case Comparison::equal:
            return a == b;
        case Comparison::not_equal:
            return a != b;
        case Comparison::less:
            return a < b;
        case Comparison::at_most:
            return a <= b;
        case Comparison::greater:
            return a > b;
        case Comparison::at_least:
            return a >= b;
    }
    return false;
}

/// Nothing where the measure is not known.
Known holds(const Condition& condition, const Measured& measured) {
    if (!measured) return std::nullopt;
    if (const auto* word = std::get_if<std::string>(&*measured)) {
        const auto* wanted = std::get_if<std::string>(&condition.value);
        return wanted != nullptr && compare(*word, condition.is, *wanted);
    }
    const double value = std::get<double>(*measured);
    if (const auto* wanted = std::get_if<std::uint64_t>(&condition.value))
        return compare(value, condition.is, static_cast<double>(*wanted));
    if (const auto* wanted = std::get_if<double>(&condition.value))
        return compare(value, condition.is, *wanted);
    return false;
}

}  // namespace

std::span<const Measure> measures() { return known_measures; }

std::optional<Reason> fires(const SiteRule& rule, const Subject& s) {
    Reason reason;
    for (const Condition& condition : rule.trigger) {
        const Measure* measure = find(condition.measure);
        if (measure == nullptr || (measure->dataset && s.dataset == nullptr)) return std::nullopt;
        const Measured measured = measure->of(s);
        if (!holds(condition, measured).value_or(false)) return std::nullopt;
        reason.text +=
            (reason.text.empty() ? "" : ", ") + condition.measure + " is " + shown(*measured);
        if (const auto* value = std::get_if<double>(&*measured))
            reason.note(condition.measure, static_cast<std::uint64_t>(*value));
        else
            reason.note(condition.measure, std::get<std::string>(*measured));
    }
    return reason;
}

std::optional<Held> held(const SiteRule& rule, const Subject& s) {
    for (const Condition& condition : rule.guard) {
        const Measure* measure = find(condition.measure);
        if (measure == nullptr || (measure->dataset && s.dataset == nullptr)) continue;
        const Measured measured = measure->of(s);
        if (holds(condition, measured).value_or(false)) continue;
        return Held{
            Guard::site,
            (condition.held.empty() ? "a condition of the site is not met" : condition.held) +
                ": " + condition.measure + " is " + (measured ? shown(*measured) : "not known")};
    }
    return std::nullopt;
}

Proposal proposal(const SiteRule& rule) {
    Proposal made;
    made.when = rule.when;
    for (const SiteSetting& setting : rule.settings)
        made.settings.push_back({setting.key, setting.value, setting.function});
    made.advice = rule.advice.value_or("");
    made.commands = rule.commands;
    return made;
}

}  // namespace tailrace::intent::rules
