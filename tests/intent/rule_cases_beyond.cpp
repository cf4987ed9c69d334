// SPDX-License-Identifier: Apache-2.0
// Of what a plan cannot do: 54 to 58.
#include "rule_cases.hpp"

namespace tailrace::intent::tests {

namespace {

constexpr std::uint64_t mib = 1048576;

/// 64 MiB of doubles in calls of 1 MiB.
void floats(Profile& p) {
    shape(p, {8 * mib});
    first(p).writes = accesses(64, {mib / 8});
}

/// 256 MiB are written in the first half of the run, and read in the second.
void there_and_back(Profile& p) {
    shape(p, {32 * mib});
    first(p).writes = transfers(256, 256 * mib, 0, 4);
    first(p).reads = transfers(256, 256 * mib, 5, 9);
    first(p).read_after_write = ReadAfterWrite{true, true, false};
}

PosixFile plain_writes(std::uint64_t count, std::uint64_t bytes) {
    PosixFile made;
    made.writes = PosixTransfers{};
    made.writes->calls = count;
    made.writes->bytes = bytes;
    return made;
}

File plain_file(const std::string& path, std::uint64_t process, const PosixFile& writes) {
    File made;
    made.path = path;
    made.processes = ProcessSet(process, process);
    made.posix = writes;
    return made;
}

void file_per_process(Profile& p, const std::string& ending) {
    p.run.ranks = 8;
    for (std::uint64_t rank = 0; rank < 8; ++rank)
        p.files.push_back(plain_file("/data/out." + std::to_string(rank) + ending, rank,
                                     plain_writes(4, 4 * mib)));
}

void numbers_one_by_one(Profile& p) {
    p.files.push_back(plain_file("/data/table.txt", 0, plain_writes(500000, 10000000)));
}

/// Four ranks: each writes for 2 of 10 seconds, in four steps.
void steps(Profile& p) {
    together(p, 4);
    p.files[0].datasets.clear();
    for (std::uint64_t step = 0; step < 4; ++step) {
        Dataset made = dataset("/step" + std::to_string(step), 4 * mib, 4);
        const double start_s = 2.0 * static_cast<double>(step);
        made.writes = transfers(4, 32 * mib, start_s, start_s + 0.5);
        made.writes->elapsed_s = 2;
        p.files[0].datasets.push_back(made);
    }
}

/// Rows of four ranks, 1 KiB at a time, without HDF5.
void rows_by_turns(Profile& p) {
    together(p, 4);
    File& file = p.files[0];
    file.hdf5.reset();
    file.datasets.clear();
    file.mpiio = MpiioFile{};
    file.mpiio->communicator_size = 4;
    file.mpiio->writes = MpiioTransfers{};
    MpiioTransfers& writes = *file.mpiio->writes;
    writes.independent = 4000;
    writes.bytes = 4000 * 1024;
    for (std::uint64_t rank = 0; rank < 4; ++rank)
        writes.ranges.push_back({rank, 1000, 1000 * 1024, rank * 1024, (rank + 3997) * 1024});
}

}  // namespace

const std::vector<RuleCase>& beyond_cases() {
    static const std::vector<RuleCase> cases{
        {"54", floats, "", "reads", [](Profile& p) { first(p).reads = accesses(64, {mib / 8}); }},
        {"54", floats, "", "reads", lost_calls},
        {"55", there_and_back, "", "memory",
         [](Profile& p) { p.run.node_memory_bytes = 256 * mib; }},
        {"56", [](Profile& p) { file_per_process(p, ".dat"); }, "", "format",
         [](Profile& p) {
             for (std::size_t i = 1; i < p.files.size(); ++i) p.files[i].path += ".nc";
         }},
        {"56", numbers_one_by_one, "", "append",
         [](Profile& p) { p.files[1].posix->append = true; }},
        {"57", steps, "", "ranks",
         [](Profile& p) {
             p.run.ranks = 1;
             p.files[0].processes = ProcessSet(0, 0);
         }},
        {"57", steps, "", "evidence",
         [](Profile& p) {
             for (Dataset& one : p.files[0].datasets) one.writes->active.reset();
         }},
        {"57", steps, "", "alternation",
         [](Profile& p) {
             for (Dataset& one : p.files[0].datasets) one.writes->active = Span{0, 2};
         }},
        {"57", steps, "", "reads",
         [](Profile& p) {
             Dataset& one = p.files[0].datasets[0];
             one.reads = transfers(4, 32 * mib, 9, 10);
             one.read_after_write = ReadAfterWrite{true, true, false};
         }},
        {"58", rows_by_turns, "", "balance",
         [](Profile& p) { --p.files[0].mpiio->writes->ranges[0].calls; }},
        {"58", rows_by_turns, "", "balance",
         [](Profile& p) { p.files[0].mpiio->communicator_size = 8; }},
    };
    return cases;
}

}  // namespace tailrace::intent::tests
