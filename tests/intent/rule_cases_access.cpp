// SPDX-License-Identifier: Apache-2.0
// Of how a file is used below its format: 60 to 71.
#include "rule_cases.hpp"

namespace tailrace::intent::tests {

namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

/// A file of four ranks of which only system calls are known.
File& plain(Profile& p) {
    p.run.ranks = 4;
    File& file = p.files[0];
    file.hdf5.reset();
    file.datasets.clear();
    file.processes = ProcessSet(0, 3);
    file.posix = PosixFile{};
    file.posix->reads = PosixTransfers{};
    return file;
}

PosixTransfers& reads(Profile& p, std::uint64_t calls, std::uint64_t bytes) {
    PosixTransfers& made = *plain(p).posix->reads;
    made.calls = calls;
    made.bytes = bytes;
    return made;
}

void collective_above(Profile& p) {
    p.files[0].mpiio = MpiioFile{};
    p.files[0].mpiio->reads = MpiioTransfers{};
    p.files[0].mpiio->reads->collective = 10;
}

void uneven(Profile& p) {
    File& file = plain(p);
    file.posix->fastest = Extreme{1, 80 * mib, 8.0};
    file.posix->slowest = Extreme{3, 100 * mib, 10.0};
}

void of_one_byte(Profile& p) {
    PosixTransfers& made = reads(p, 1000000, 1000000);
    made.sizes.push_back({0, 101, 1000000});
    made.sequential = 1000000;
}

void here_and_there(Profile& p) { reads(p, 5000, 5000 * mib).sequential = 4000; }

void misaligned(Profile& p) {
    reads(p, 1000, 1000 * mib).sequential = 1000;
    p.files[0].posix->not_aligned_in_file = 101;
    p.files[0].posix->file_alignment_bytes = 4096;
}

void independent(Profile& p) {
    plain(p).mpiio = MpiioFile{};
    MpiioFile& mpiio = *p.files[0].mpiio;
    mpiio.communicator_size = 4;
    mpiio.writes = MpiioTransfers{};
    mpiio.writes->independent = 1000;
    mpiio.writes->bytes = 1000 * mib;
}

void slow_opens(Profile& p) {
    PosixFile& posix = *plain(p).posix;
    posix.opens = 4000;
    posix.metadata_s = 120.0;
    posix.reads->elapsed_s = 119.0;
}

void same_again(Profile& p) { reads(p, 4, 4 * gib).highest_byte = gib - 1; }

/// Files of one process each, with ten small writes and a tenth of a second of metadata.
void many_files(Profile& p, std::uint64_t files) {
    plain(p);
    File& file = p.files[0];
    file.processes = ProcessSet(0, 0);
    file.posix->reads.reset();
    file.posix->opens = 10;
    file.posix->metadata_s = 0.1;
    file.posix->writes = PosixTransfers{};
    file.posix->writes->calls = 10;
    file.posix->writes->bytes = 1000;
    file.posix->writes->elapsed_s = 0.05;
    file.posix->writes->sizes.push_back({0, 101, 10});
    p.files.resize(1);
    for (std::uint64_t i = 1; i < files; ++i) {
        p.files.push_back(p.files[0]);
        p.files.back().path += "." + std::to_string(i);
    }
}

/// Four ranks with a file each, of which the last one is twice as large.
void unlike_files(Profile& p) {
    many_files(p, 4);
    for (std::uint64_t i = 0; i < 4; ++i) {
        p.files[i].processes = ProcessSet(i, i);
        p.files[i].posix->writes->bytes = (i == 3 ? 2 : 1) * gib;
        p.files[i].posix->writes->elapsed_s = i == 3 ? 3 : 1;
    }
}

void filled_first(Profile& p) {
    together(p, 4);
    shape(p, {8 * mib});
    first(p).writes = accesses(4, {2 * mib});
    p.files[0].mpiio = MpiioFile{};
    p.files[0].mpiio->writes = MpiioTransfers{};
    p.files[0].mpiio->writes->bytes = 128 * mib;
}

}  // namespace

const std::vector<RuleCase>& access_cases() {
    static const std::vector<RuleCase> cases{
        {"60", uneven, "", "collective", collective_above},
        {"61", of_one_byte, "", "collective", collective_above},
        {"62", here_and_there, "", "collective", collective_above},
        {"63", misaligned, "", "", nullptr},
        {"64", independent, "", "", nullptr},
        {"65", slow_opens, "", "", nullptr},
        {"66", same_again, "", "collective", collective_above},
        {"67", [](Profile& p) { p.files[0].hdf5->opens = p.files[0].hdf5->creates = 3000; }, "", "",
         nullptr},
        {"68", filled_first, "", "", nullptr},
        {"69", [](Profile& p) { many_files(p, 100); }, "", "", nullptr},
        {"70", [](Profile& p) { many_files(p, 301); }, "", "", nullptr},
        {"71", unlike_files, "", "", nullptr},
    };
    return cases;
}

}  // namespace tailrace::intent::tests
