// SPDX-License-Identifier: Apache-2.0
// Rules of transfers: 25, 26, 27, 28, 29, 38, 74.
#include <algorithm>
#include <array>
#include <limits>

#include "intent/plan/functions.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;
using Side = std::optional<Transfers> Dataset::*;

/// Where calls are not told apart, what any of them asked for is said of the one direction used.
bool asked_together(const Dataset& dataset, const std::optional<Transfers>& transfers) {
    if (!transfers) return false;
    if (transfers->requested_collective) return *transfers->requested_collective > 0;
    const bool only = calls(dataset.reads) == 0 || calls(dataset.writes) == 0;
    return only && calls(transfers) > 0 && dataset.requested_collective.value_or(false);
}

std::optional<Reason> together_fires(const Subject& s, Side side, const char* what) {
    const auto& transfers = s.dataset->*side;
    if (!parallel(s) || file_ranks(s) < 2 || calls(transfers) == 0) return std::nullopt;
    if (transfers->requested_independent.value_or(0) < calls(transfers)) return std::nullopt;
    const std::uint64_t bytes = call_bytes(transfers, *s.dataset);
    if (bytes == 0 || bytes >= mib) return std::nullopt;
    Reason reason{say(calls(transfers), " independent ", what, " of ", size(bytes), " by ",
                      file_ranks(s), " ranks to one dataset"),
                  {}};
    return reason.note("dataset.calls", calls(transfers), "calls")
        .note("dataset.call_bytes", bytes, "bytes")
        .note("file.ranks", file_ranks(s), "ranks");
}

std::optional<Held> together_held(const Subject& s, Side side) {
    const auto& transfers = s.dataset->*side;
    if (calls(transfers) % file_ranks(s) != 0 || !balanced(transfers, s))
        return Held{Guard::proof,
                    "it was not counted that every rank makes as many calls for as many "
                    "bytes: a rank that does not call makes the others wait for ever"};
    if (s.dataset->direct_chunk_writes)
        return Held{Guard::direct_chunks, "some writes go past the transfer list"};
    return std::nullopt;
}

std::optional<Reason> writes_fires(const Subject& s) {
    return together_fires(s, &Dataset::writes, "writes");
}
std::optional<Held> writes_held(const Subject& s) { return together_held(s, &Dataset::writes); }
Proposal writes_act(const Subject&) {
    return {.settings = {{.key = "write_mode", .value = Setting(std::string("collective"))}}};
}
std::optional<Reason> reads_fires(const Subject& s) {
    return together_fires(s, &Dataset::reads, "reads");
}
std::optional<Held> reads_held(const Subject& s) { return together_held(s, &Dataset::reads); }
Proposal reads_act(const Subject&) {
    return {.settings = {{.key = "read_mode", .value = Setting(std::string("collective"))}}};
}

std::optional<Reason> large_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    for (const auto* side : {&dataset.writes, &dataset.reads}) {
        const std::uint64_t bytes = call_bytes(*side, dataset);
        if (!parallel(s) || !asked_together(dataset, *side) || bytes < 16 * mib) continue;
        Reason reason{say("collective calls of ", size(bytes),
                          " per rank: to exchange so much costs more than it saves"),
                      {}};
        return reason.note("dataset.call_bytes", bytes, "bytes");
    }
    return std::nullopt;
}

std::optional<Held> large_held(const Subject& s) {
    if (!s.dataset->filters.empty())
        return Held{Guard::filters, "filters in parallel need collective transfers"};
    const auto& transfers = call_bytes(s.dataset->writes, *s.dataset) >= 16 * mib
                                ? s.dataset->writes
                                : s.dataset->reads;
    const std::optional<Access> access = dominant(transfers, *s.dataset);
    bool below = false;  // whole in all dimensions after the first that is cut: contiguous
    if (access)
        for (std::size_t d = 0; d < access->length.size(); ++d) {
            if (below && (!extents_known(*s.dataset) || access->length[d] != s.dataset->dims[d]))
                return Held{Guard::shape, say("the part of a rank, ", extents(access->length),
                                              " elements, is not contiguous, or not known to be")};
            if (access->length[d] != 1) below = true;
        }
    return std::nullopt;
}

Proposal large_act(const Subject&) {
    return {.settings = {{.key = "collective_io", .value = Setting(std::string("individual"))}}};
}

/// Chunks that a rank takes in one collective call.
std::uint64_t chunks_per_rank(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    std::uint64_t most = 0;
    for (const auto* side : {&dataset.writes, &dataset.reads}) {
        if (!asked_together(dataset, *side)) continue;
        if (const std::optional<Access> access = dominant(*side, dataset))
            most = std::max(most, chunks_touched(*access, dataset));
    }
    return most;
}

std::optional<Reason> chunk_io_fires(const Subject& s) {
    if (!parallel(s) || !chunked(*s.dataset) || !s.dataset->filters.empty()) return std::nullopt;
    const std::uint64_t chunks = chunks_per_rank(s);
    if (chunks < 4) return std::nullopt;
    Reason reason{say("a collective call takes ", chunks, " chunks per rank"), {}};
    return reason.note("dataset.chunks_touched", chunks, "chunks");
}

Proposal chunk_io_act(const Subject&) {
    return {.settings = {{.key = "chunk_io", .value = Setting(std::string("one_io"))}}};
}

std::optional<Reason> filters_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    if (!parallel(s) || dataset.filters.empty() || calls(dataset.writes) == 0) return std::nullopt;
    if (dataset.writes->requested_independent.value_or(0) == 0) return std::nullopt;
    if (file_ranks(s) < 2) return std::nullopt;  // HDF5 takes those of a single rank
    const std::uint64_t alone = *dataset.writes->requested_independent;
    Reason reason{say(alone, " independent writes of a dataset with filters: HDF5 refuses them"),
                  {}};
    return reason.note("dataset.independent_writes", alone, "calls");
}

bool says_yes(const Dataset& dataset, const std::string& key) {
    const auto found = dataset.settings_of_program.find(key);
    const auto* flag =
        found == dataset.settings_of_program.end() ? nullptr : std::get_if<bool>(&found->second);
    return flag != nullptr && *flag;
}

/// Of a usual call that converts the type of elements; 0: none does.
std::uint64_t converted_bytes(const Dataset& dataset) {
    const bool reading = says_yes(dataset, "memory_type_differs_reading");
    const bool writing = says_yes(dataset, "memory_type_differs_writing");
    // Where it is not known which way, it may be either.
    const bool either = !reading && !writing && says_yes(dataset, "memory_type_differs");
    return std::max(reading || either ? call_bytes(dataset.reads, dataset) : 0,
                    writing || either ? call_bytes(dataset.writes, dataset) : 0);
}

std::optional<Reason> conversion_fires(const Subject& s) {
    const std::uint64_t bytes = converted_bytes(*s.dataset);
    if (bytes < 4 * mib) return std::nullopt;
    Reason reason{say("calls of ", size(bytes), " convert the type; the buffer for it has 1 MiB"),
                  {}};
    return reason.note("dataset.call_bytes", bytes, "bytes");
}

Proposal conversion_act(const Subject& s) {
    const std::uint64_t most = std::min(16 * mib, std::max(memory_of_process(s), mib));
    return {.settings = {{.key = "conversion_buffer_bytes",
                          .value = Setting(std::min(converted_bytes(*s.dataset), most))}}};
}

// --- 74: a call that not all ranks made ----------------------------------------------------------
/// Processes that began fewer transfers than others, and how many each began.
struct LeftBehind {
    ProcessSet processes;
    std::uint64_t fewer = 0, most = 0;
};

/// The run was ended from outside between two calls, and not in one that lasts for ever: its last
/// transfer was no longer ago than some of them take.
bool went_on(const Subject& s) {
    double begun = std::numeric_limits<double>::max(), last = 0, calls = 0;
    for (const Dataset& dataset : s.file.datasets)
        for (const auto* side : {&dataset.reads, &dataset.writes}) {
            if (!*side || !(*side)->active) continue;
            begun = std::min(begun, (*side)->active->start_s);
            last = std::max(last, (*side)->active->end_s);
            calls += static_cast<double>((*side)->calls.value_or(0)) /
                     static_cast<double>(std::max<std::uint64_t>(file_ranks(s), 1));
        }
    if (calls == 0 || !s.profile.run.command_s) return false;
    constexpr double usual = 4, least_s = 1;
    return *s.profile.run.command_s - last < std::max(least_s, usual * (last - begun) / calls);
}

/// In a file that was never closed, where all transfers are collective: counted before each call.
std::optional<LeftBehind> left_behind(const Subject& s) {
    if (!parallel(s) || s.file.hdf5->close || went_on(s)) return std::nullopt;
    std::uint64_t together = 0;
    for (const Dataset& dataset : s.file.datasets)
        for (const auto* side : {&dataset.reads, &dataset.writes}) {
            if (!*side) continue;
            if ((*side)->requested_independent.value_or(0) > 0) return std::nullopt;
            together += (*side)->requested_collective.value_or(0);
        }
    LeftBehind found{{}, std::numeric_limits<std::uint64_t>::max(), 0};
    for (const CallOrder& one : s.file.hdf5->transfer_orders) {
        found.most = std::max(found.most, one.calls);
        if (one.calls > found.fewer) continue;
        if (one.calls < found.fewer) found.processes = {};
        found.fewer = one.calls;
        found.processes.add(one.processes);
    }
    return together > 0 && found.fewer < found.most ? std::optional(found) : std::nullopt;
}

std::optional<Reason> left_behind_fires(const Subject& s) {
    const auto found = left_behind(s);
    if (!found) return std::nullopt;
    Reason reason{say("the file was never closed, and of its collective transfers ",
                      found->processes.size() == 1 ? "process " : "processes ",
                      found->processes.text(), " began ", found->fewer, ", others ", found->most),
                  {}};
    return reason.note("file.transfers_begun_most", found->most, "calls")
        .note("file.transfers_begun_fewest", found->fewer, "calls");
}

Proposal left_behind_act(const Subject& s) {
    return advice(say("look for a collective read or write that ", left_behind(s)->processes.text(),
                      " left out, or did not reach: the others wait in it for ever. A rank that "
                      "has no data takes part with an empty selection (H5Sselect_none)"));
}

const std::array transfer_table{
    Rule{"25",
         "Small writes of many ranks together",
         Scope::dataset,
         Class::collective,
         "all writes independent, below 1 MiB, by at least two ranks",
         "counted: each rank makes as many calls for as many bytes, none is idle",
         "collective writes",
         "a few ranks write large pieces; on a parallel file system",
         "B, E, S",
         {.parallel = true,
          .ranks = 2,
          .same_order = true,
          .keys = "write_mode",
          .same_transfers = true},
         writes_fires,
         writes_held,
         writes_act},
    Rule{"26",
         "Small reads of many ranks together",
         Scope::dataset,
         Class::collective,
         "all reads independent, below 1 MiB, by at least two ranks",
         "counted: each rank makes as many calls for as many bytes, none is idle",
         "collective reads",
         "a few ranks read large pieces",
         "S",
         {.parallel = true,
          .ranks = 2,
          .same_order = true,
          .keys = "read_mode",
          .same_transfers = true},
         reads_fires,
         reads_held,
         reads_act},
    Rule{"27",
         "Large contiguous parts move without an exchange",
         Scope::dataset,
         Class::collective,
         "collective calls of at least 16 MiB per rank",
         "contiguous in the file, no filters",
         "collective calls that move their data individually",
         "no exchange between ranks",
         "B, N",
         {.parallel = true, .same_order = true, .keys = "collective_io"},
         large_fires,
         large_held,
         large_act},
    Rule{"28",
         "One operation for many chunks",
         Scope::dataset,
         Class::collective,
         "a collective call takes at least four chunks per rank, without filters",
         "",
         "one operation for all chunks of a call",
         "fewer collective operations",
         "A",
         {.parallel = true, .same_order = true, .keys = "chunk_io"},
         chunk_io_fires,
         nullptr,
         chunk_io_act},
    Rule{"29",
         "Filters in parallel need collective writes",
         Scope::dataset,
         Class::collective,
         "independent writes of a dataset with filters",
         "counted: each rank makes as many calls for as many bytes, none is idle",
         "collective writes",
         "without it HDF5 refuses the writes",
         "K",
         {.parallel = true, .same_order = true, .keys = "write_mode", .same_transfers = true},
         filters_fires,
         writes_held,
         writes_act,
         true,
         "write it collectively (H5Pset_dxpl_mpio with H5FD_MPIO_COLLECTIVE; h5py: `with "
         "dataset.collective:`), every rank in each call, with an empty selection if it has "
         "nothing; or create it without filters"},
    Rule{"38",
         "A larger buffer for conversions",
         Scope::dataset,
         Class::safe,
         "calls of at least 4 MiB whose type in memory is not that of the file",
         "",
         "conversion buffer: a call, at most 16 MiB",
         "fewer passes",
         "A, T",
         {.keys = "conversion_buffer_bytes"},
         conversion_fires,
         nullptr,
         conversion_act},
    Rule{"74",
         "A collective call that not all ranks made",
         Scope::file,
         Class::advice,
         "a file of several ranks that was never closed, all transfers collective, of which some "
         "ranks began fewer than others; not if the run was ended soon after its last transfer",
         "",
         "advice: the ranks that the others wait for",
         "the program ends",
         "F",
         {.parallel = true},
         left_behind_fires,
         nullptr,
         left_behind_act,
         true},
};

}  // namespace

std::span<const Rule> transfer_rules() { return transfer_table; }

}  // namespace tailrace::intent::rules
