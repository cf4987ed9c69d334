// SPDX-License-Identifier: Apache-2.0
// What becomes of each rule where the same run left a Darshan log instead of a profile: the table
// of docs/reference/darshan.md. TAILRACE_REGENERATE=1 writes it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::RuleCase;

namespace {

/// No counter of H5D holds it.
void strip(Dataset& dataset, bool made) {
    dataset.creates.reset();
    dataset.max_dims.clear();
    if (dataset.dims.size() > 1) dataset.dims.clear();
    if (dataset.type) dataset.type = ElementType{"", dataset.type->bytes, {}};
    dataset.filters.clear();
    dataset.fill.reset();
    dataset.allocation.reset();
    dataset.settings_of_program.clear();
    dataset.read_after_write.reset();
    dataset.direct_chunk_reads.reset();
    dataset.direct_chunk_writes.reset();
    dataset.extensions.reset();
    dataset.attributes.reset();
    if (dataset.chunk.empty() && !made && !dataset.writes) dataset.layout.reset();
    const bool both = dataset.reads && dataset.writes;
    for (auto* side : {&dataset.reads, &dataset.writes}) {
        if (!*side) continue;
        Transfers& one = **side;
        one.order.reset();
        one.coverage.reset();
        one.by_process.clear();
        one.processes.reset();
        one.even.reset();
        if (both) one.shapes.clear();  // which of the two they are of is not told
        if (one.requested_collective.value_or(0) > 0) {
            dataset.requested_collective = true;
            one.requested_collective.reset();
            one.requested_independent.reset();
        }
    }
}

/// Each dataset that was made has a record; opens are counted with it. Groups and attributes have
/// none.
void take_records(File& file) {
    const auto counted = file.hdf5->metadata.find("dataset");
    if (counted == file.hdf5->metadata.end() || file.datasets.empty()) return;
    const std::uint64_t callers = std::max<std::uint64_t>(
        file.hdf5->mpio.value_or(false) ? file.hdf5->communicator_size.value_or(1) : 1, 1);
    const std::uint64_t made = counted->second.create.value_or(0) / callers;
    const std::uint64_t opened = counted->second.open.value_or(0);
    while (file.datasets.size() < std::min<std::uint64_t>(made, 20000)) {
        file.datasets.push_back(file.datasets.front());
        file.datasets.back().path += "_" + std::to_string(file.datasets.size());
    }
    for (Dataset& dataset : file.datasets) dataset.opens = callers + opened / file.datasets.size();
}

void strip(File& file) {
    if (file.hdf5) take_records(file);
    const bool made = file.hdf5 && file.hdf5->creates.value_or(0) > 0;
    if (file.hdf5) {
        Hdf5File left;
        left.opens = file.hdf5->opens;
        left.flushes = file.hdf5->flushes;
        left.mpio = file.hdf5->mpio;
        left.open = file.hdf5->open;
        left.close = file.hdf5->close;
        const bool together = left.mpio.value_or(false);
        if (together && !file.mpiio) file.mpiio = MpiioFile{};
        if (together) file.mpiio->communicator_size = file.hdf5->communicator_size;
        if (!together && !file.posix) file.posix = PosixFile{};
        file.hdf5 = left;
    }
    if (file.mpiio) {
        file.mpiio->hints_given.clear();
        file.mpiio->hints_in_force.clear();
        file.mpiio->implementation.reset();
        file.mpiio->create_mode = made;
        for (auto* side : {&file.mpiio->reads, &file.mpiio->writes})
            if (*side) (*side)->ranges.clear();
    } else if (file.posix) {
        file.posix->create_mode = made;
    }
    for (Dataset& dataset : file.datasets) strip(dataset, made);
}

Profile as_log(Profile profile) {
    profile.origin.kind = OriginKind::darshan;
    profile.run.processes.clear();
    profile.run.nodes.reset();
    profile.run.node_memory_bytes.reset();
    for (File& file : profile.files) strip(file);
    return profile;
}

std::string outcome(const Profile& profile, const std::string& rule) {
    Options options;
    for (const auto cls :
         {plan::Class::safe, plan::Class::layout, plan::Class::collective, plan::Class::opt_in})
        options.allowed.insert(cls);
    options.reliability["/data/f.h5"] = Reliability::scratch;
    const auto found = tests::decision(profile, options, rule);
    if (!found) return "";
    if (found->held) return "held back (" + found->held->guard_name() + ")";
    return found->proposal.advice.empty() || !found->proposal.settings.empty() ? "proposed"
                                                                               : "said";
}

constexpr const char* same_calls = "that all ranks make the same calls, by which none can hang";
constexpr const char* structure = "calls on groups and attributes; of datasets it has the opens";
constexpr const char* extents = "the extents of several dimensions; of one it has them";
constexpr const char* filling = "fill values, and that every element is written";
constexpr const char* filters = "filters";
constexpr const char* nodes_known = "the nodes, but where DXT traced all ranks";

/// What a log lacks of what a rule has to see, or has to be sure of.
const std::map<int, std::string> missing{
    {5, same_calls},
    {6, same_calls},
    {8, structure},
    {9, structure},
    {10, "the alignment and the strategy that the program asks for"},
    {11, extents},
    {13, extents},
    {14, "that transfers of a dataset go in sequence"},
    {16, filters},
    {17, extents},
    {18, extents},
    {19, "calls of H5Dset_extent"},
    {20, filling},
    {22, filling},
    {24, structure},
    {25, same_calls},
    {26, same_calls},
    {27, same_calls},
    {28, same_calls},
    {29, filters},
    {30, "the class of the type, and filters"},
    {31, filters},
    {32, "the layout of what is only read, which may be virtual"},
    {34, nodes_known},
    {35, structure},
    {36, "objects that are left open"},
    {37, "opens for reading only"},
    {38, "the type in memory"},
    {41, nodes_known},
    {53, nodes_known},
    {54, "the class of the type"},
    {58, "places of MPI-IO calls, and how much each rank moves"},
    {59, filling},
    {72, extents},
    {74, same_calls},
    {75, extents},
    {77, "which of Open MPI's implementations of MPI-IO it was"},
};

std::string table() {
    std::map<int, std::set<std::string>> found;
    for (const auto* cases : {&tests::file_cases(), &tests::dataset_cases(), &tests::hint_cases(),
                              &tests::beyond_cases(), &tests::access_cases()})
        for (const RuleCase& one : *cases) {
            Profile profile = tests::plain_run();
            one.evidence(profile);
            found[std::stoi(one.rule)].insert(outcome(as_log(profile), one.rule));
        }
    std::string text = "| rule | from a log | what is missing |\n|---|---|---|\n";
    for (const auto& [rule, outcomes] : found) {
        std::string best;
        for (const char* word : {"proposed", "said"})
            if (best.empty() && outcomes.contains(word)) best = word;
        for (const std::string& one : outcomes)
            if (best.empty()) best = one;
        const auto why = missing.find(rule);
        text += "| " + std::to_string(rule) + " | " + (best.empty() ? "not seen" : best) + " | " +
                (why == missing.end() ? "" : why->second) + " |\n";
        const bool nothing_to_do = best == "held back (nothing to set)";
        INFO("rule ", rule, ": ", best);
        CHECK((best == "proposed" || best == "said" || nothing_to_do) == (why == missing.end()));
    }
    return text;
}

const std::string page = std::string(TAILRACE_SOURCE) + "/docs/reference/darshan.md";
constexpr const char* mark = "<!-- generated by tests/intent/darshan_rules_test.cpp -->\n";

}  // namespace

TEST_CASE("a table says what becomes of each rule in a Darshan log") {
    std::ifstream in(page);
    std::stringstream read;
    read << in.rdbuf();
    const std::string text = read.str();
    const std::size_t begin = text.find(mark), end = text.rfind(mark);
    REQUIRE(begin < end);
    const std::size_t after = begin + std::string(mark).size();
    if (std::getenv("TAILRACE_REGENERATE") == nullptr) {
        CHECK(text.substr(after, end - after) == "\n" + table() + "\n");
        return;
    }
    std::ofstream(page) << text.substr(0, after) << "\n" << table() << "\n" << text.substr(end);
}
