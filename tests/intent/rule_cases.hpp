// SPDX-License-Identifier: Apache-2.0
// For each rule the least evidence on which it fires, and one change that holds it back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "intent/rules/decide.hpp"
#include "profiles.hpp"

namespace tailrace::intent::tests {

struct RuleCase {
    std::string rule;
    std::function<void(Profile&)> evidence;  ///< put into a run with one file and one dataset
    std::string key;                         ///< a setting that it makes; empty: advice or none
    std::string guard;  ///< what holds it back after `change`; empty: none does
    std::function<void(Profile&)> change;
};

/// A run that creates /data/f.h5 with a dataset /d of 4 MiB.
inline Profile plain_run() {
    Profile made = profile(1);
    made.run.node_memory_bytes = 64ULL << 30U;
    made.run.file_systems.push_back({"/data", "ext4", 4096});
    made.run.processes.push_back({0, 0, 1, 0, "host", "program", "2.2.0", {}, 0, 1});
    File one = file("/data/f.h5", 0, 0);
    one.hdf5->creates = 1;
    one.hdf5->flushes = 0;
    one.datasets.push_back(dataset("/d", 512 * 1024, 1));
    one.datasets[0].creates = 1;
    one.datasets[0].layout = "contiguous";
    made.files.push_back(one);
    return made;
}

/// What is not in the profile may yet have happened.
inline void lost_calls(Profile& p) { p.origin.dropped["transfers"] = 3; }

inline Dataset& first(Profile& p) { return p.files[0].datasets[0]; }

/// The dataset gets these extents and, where given, chunks.
inline void shape(Profile& p, const Extents& dims, const Extents& chunk = {}) {
    Dataset& d = first(p);
    d.dims = dims;
    d.ndims = dims.size();
    d.elements = 1;
    for (const std::uint64_t extent : dims) *d.elements *= extent;
    d.chunk = chunk;
    d.layout = chunk.empty() ? "contiguous" : "chunked";
}

inline std::optional<Transfers> accesses(std::uint64_t calls, const Extents& length,
                                         std::uint64_t element_bytes = 8) {
    std::uint64_t bytes = element_bytes;
    for (const std::uint64_t extent : length) bytes *= extent;
    Transfers made = transfers(calls, calls * bytes, 0, 1);
    made.shapes.push_back({Selection::hyperslab, length, {}, {}, {}, calls, bytes});
    return made;
}

/// Opened by `ranks` with MPI-IO, all calling alike, on Lustre.
inline void together(Profile& p, std::uint64_t ranks) {
    p.run.ranks = ranks;
    p.run.nodes = (ranks + 15) / 16;
    p.run.file_systems[0].type = "lustre";
    File& one = p.files[0];
    one.processes = ProcessSet(0, ranks - 1);
    one.hdf5->mpio = true;
    one.hdf5->communicator_size = ranks;
    one.hdf5->same_order = true;
    one.hdf5->same_transfer_order = true;
    one.hdf5->same_access_order = true;
}

inline void balance(Transfers& side, std::uint64_t ranks) {
    for (std::uint64_t r = 0; r < ranks; ++r)
        side.by_process.push_back({r, *side.calls / ranks, *side.bytes / ranks, {}, {}});
}

/// Metadata operations of the file.
inline Operations& operations(Profile& p, const std::string& kind) {
    return p.files[0].hdf5->metadata[kind];
}

inline void hdf5_less_mpiio(Profile& p, std::uint64_t ranks, std::uint64_t collective,
                            std::uint64_t bytes) {
    together(p, ranks);
    p.files[0].mpiio = MpiioFile{};
    p.files[0].mpiio->communicator_size = ranks;
    p.files[0].mpiio->writes = MpiioTransfers{};
    p.files[0].mpiio->writes->collective = collective;
    p.files[0].mpiio->writes->bytes = bytes;
}

/// What a rule says of it; none where it does not fire.
inline std::optional<rules::Decision> decision(const Profile& profile,
                                               const rules::Options& options,
                                               const std::string& rule) {
    for (const rules::Decision& one : rules::decide(profile, options))
        if (one.rule == rule) return one;
    return std::nullopt;
}

[[nodiscard]] const std::vector<RuleCase>& file_cases();     ///< rules of files
[[nodiscard]] const std::vector<RuleCase>& dataset_cases();  ///< rules of datasets
[[nodiscard]] const std::vector<RuleCase>& hint_cases();     ///< of MPI-IO, PnetCDF
[[nodiscard]] const std::vector<RuleCase>& beyond_cases();   ///< of what a plan cannot do
[[nodiscard]] const std::vector<RuleCase>& access_cases();   ///< of how files are used

}  // namespace tailrace::intent::tests
