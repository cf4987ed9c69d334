// SPDX-License-Identifier: Apache-2.0
// Rules 45 and 60 to 68 against what the counters of a log mean.
#include <doctest/doctest.h>

#include <algorithm>

#include "intent/rules/words.hpp"
#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;

namespace {

/// Four ranks, one file; of the datasets that a log knows there is one.
Profile logged(bool datasets = false) {
    Profile made = tests::plain_run();
    made.origin.kind = OriginKind::darshan;
    made.run.ranks = 4;
    made.run.elapsed_s = 100;
    File& file = made.files[0];
    file.processes = ProcessSet(0, 3);
    file.hdf5.reset();
    if (!datasets) file.datasets.clear();
    file.posix = PosixFile{};
    file.posix->reads = PosixTransfers{};
    file.posix->writes = PosixTransfers{};
    return made;
}

void moves(std::optional<PosixTransfers>& side, std::uint64_t calls, std::uint64_t bytes) {
    side->calls = side->sequential = calls;
    side->bytes = bytes;
}

void asks(std::optional<MpiioTransfers>& side, std::uint64_t alone, std::uint64_t together,
          std::uint64_t bytes) {
    side = MpiioTransfers{};
    side->independent = alone;
    side->collective = together;
    side->bytes = bytes;
}

/// What is said, or "held: " and the guard, or nothing.
std::string said(const Profile& profile, const std::string& rule) {
    for (const Decision& one : decide(profile, Options{}))
        if (one.rule == rule) return one.held ? "held: " + one.held->guard_name() : one.reason.text;
    return "";
}

std::string advised(const Profile& profile, const std::string& rule) {
    for (const Decision& one : decide(profile, Options{}))
        if (one.rule == rule) return one.proposal.advice;
    return "";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A million small reads here and there, and a thousand large writes.
void small_reads(File& file) {
    moves(file.posix->reads, 1000000, 1000000);
    file.posix->reads->sizes.push_back({0, 101, 1000000});
    file.posix->reads->sequential = 0;
    moves(file.posix->writes, 1000, 1000 * mib);
    file.posix->not_aligned_in_file = 1000000;
    file.posix->file_alignment_bytes = 4096;
}

}  // namespace

TEST_CASE("rules 61 to 64 speak of a log that knows datasets, and not of a profile that does") {
    Profile profile = logged(true);
    small_reads(profile.files[0]);
    profile.files[0].mpiio = MpiioFile{};
    profile.files[0].mpiio->communicator_size = 4;
    asks(profile.files[0].mpiio->reads, 1000000, 0, 1000000);
    for (const char* rule : {"61", "62", "63", "64"}) {
        CAPTURE(rule);
        CHECK(said(profile, rule) != "");
    }
    profile.origin.kind = OriginKind::hook;
    for (const char* rule : {"61", "62", "63", "64"}) {
        CAPTURE(rule);
        CHECK(said(profile, rule) == "");
    }
}

TEST_CASE("a few collective calls among many that are not hold nothing back") {
    Profile profile = logged();
    File& file = profile.files[0];
    small_reads(file);
    file.posix->fastest = Extreme{1, 80 * mib, 8.0};
    file.posix->slowest = Extreme{3, 100 * mib, 10.0};
    file.mpiio = MpiioFile{};
    file.mpiio->communicator_size = 4;
    asks(file.mpiio->reads, 1000000, 4, 1000000);
    for (const char* rule : {"60", "61", "62"}) {
        CAPTURE(rule);
        CHECK_FALSE(has(said(profile, rule), "held"));
        CHECK(said(profile, rule) != "");
    }
    CHECK(has(said(profile, "64"),
              "1000000 calls of MPI-IO that read, by 4 ranks, are independent "
              "and 4 collective"));
    asks(file.mpiio->reads, 1000, 1000000, 1000000);
    for (const char* rule : {"60", "61", "62"}) {
        CAPTURE(rule);
        CHECK(said(profile, rule) == "held: collective");
    }
    CHECK(said(profile, "64") == "");
}

TEST_CASE("each direction is judged by itself") {
    Profile profile = logged();
    File& file = profile.files[0];
    small_reads(file);
    file.mpiio = MpiioFile{};
    file.mpiio->communicator_size = 4;
    asks(file.mpiio->reads, 2000, 0, 1000000);
    asks(file.mpiio->writes, 0, 1000000, 1000 * mib);  // collective calls that write hide no reads
    CHECK(has(said(profile, "61"), "1000000 of 1000000 reads (100 %) have at most 10 KiB"));
    CHECK(has(said(profile, "64"), "2000 calls of MPI-IO that read"));
    // Those that do not wait are collective too, where they say so.
    file.mpiio->reads->nonblocking = 3000;
    file.mpiio->reads->nonblocking_collective = 3000;
    CHECK(said(profile, "61") == "held: collective");
}

TEST_CASE("both directions are said where both are small") {
    Profile profile = logged();
    small_reads(profile.files[0]);
    moves(profile.files[0].posix->writes, 20000, 2000000);
    profile.files[0].posix->writes->sizes.push_back({0, 101, 19990});
    CHECK(said(profile, "61") ==
          "1000000 of 1000000 reads (100 %) have at most 10 KiB, 1 byte on average; "
          "19990 of 20000 writes (more than 99 %) have at most 10 KiB, 100 bytes on average");
}

TEST_CASE("rule 60 is about two processes and more, and a hundredth of the run") {
    Profile profile = logged();
    File& file = profile.files[0];
    file.posix->fastest = Extreme{1, 100 * mib, 1.0};
    file.posix->slowest = Extreme{3, 80 * mib, 2.12345};
    CHECK(said(profile, "60") ==
          "rank 3 took 2.12 s for 80 MiB, rank 1 took 1 s for 100 MiB: 53 % apart in time, 20 % in "
          "bytes");
    CHECK(has(advised(profile, "60"), "some ranks take longer for no more bytes"));
    file.posix->slowest->bytes = 200 * mib;
    CHECK(has(advised(profile, "60"), "give all ranks the same amount"));
    profile.run.elapsed_s = 300;
    CHECK(said(profile, "60") == "");
    profile.run.elapsed_s = 100;
    file.processes = ProcessSet(0, 0);
    CHECK(said(profile, "60") == "");
}

TEST_CASE("rule 63 takes fewer calls where they move much, and says which way to go") {
    Profile profile = logged();
    PosixFile& posix = *profile.files[0].posix;
    moves(posix.writes, 100, 63 * mib);
    posix.not_aligned_in_file = posix.not_aligned_in_memory = 90;
    posix.file_alignment_bytes = mib;
    CHECK(said(profile, "63") == "");
    posix.writes->bytes = 64 * mib;
    CHECK(said(profile, "63") ==
          "90 of 100 system calls (90 %) do not begin at a block of 1 MiB, and 90 move memory that "
          "is not aligned");
    CHECK(has(advised(profile, "63"), "begin what ranks write at multiples of 1 MiB"));
    std::swap(posix.reads, posix.writes);
    CHECK(has(advised(profile, "63"), "read whole blocks, which begin at multiples of 1 MiB"));
}

TEST_CASE("rule 65 looks at the run's time, and at streams") {
    Profile profile = logged();
    File& file = profile.files[0];
    file.posix->metadata_s = 36;  // 9 s of each
    CHECK(said(profile, "65") == "");
    profile.run.elapsed_s = 90;
    CHECK(has(said(profile, "65"), "9 s (10 % of the run) go into opens"));
    file.posix->writes->elapsed_s = 36;
    CHECK(said(profile, "65") == "");
    file.posix->writes->elapsed_s = 0;
    std::swap(file.posix, file.stdio);
    CHECK(has(said(profile, "65"), "9 s (10 % of the run)"));
    file.processes = ProcessSet(0, 0);
    file.stdio->metadata_s = 12345;
    CHECK(has(said(profile, "65"), "12300 s (of several threads: the run took 90 s) go into"));
}

TEST_CASE("rule 66 leaves out what MPI-IO reads by itself, and what was written anew") {
    Profile profile = logged();
    File& file = profile.files[0];
    moves(file.posix->reads, 1000, 400 * mib);
    file.posix->reads->highest_byte = 100 * mib - 1;
    CHECK(has(said(profile, "66"), "each byte 4 times or more, on average"));
    file.mpiio = MpiioFile{};
    asks(file.mpiio->writes, 1000, 0, 400 * mib);  // sieves read before they write
    CHECK(said(profile, "66") == "");
    file.mpiio.reset();
    moves(file.posix->writes, 1000, 300 * mib);  // three versions, each read about once
    CHECK(said(profile, "66") == "");
    file.posix->writes->bytes = 200 * mib;
    CHECK(said(profile, "66") != "");
}

TEST_CASE("rule 67 counts streams that are opened again") {
    Profile profile = logged();
    File& file = profile.files[0];
    file.posix.reset();
    file.processes = ProcessSet(0, 0);
    file.stdio = PosixFile{};
    file.stdio->opens = 3000;
    file.stdio->writes = PosixTransfers{};
    file.stdio->writes->bytes = 300000;
    CHECK(said(profile, "67") == "it is opened 3000 times, and moves 100 bytes each time");
}

TEST_CASE("rule 67 is about 20 opens of a file that describes itself, if they move little") {
    Profile profile = tests::plain_run();
    File& file = profile.files[0];
    file.hdf5->opens = 20;
    tests::first(profile).writes = tests::accesses(20, {1000});
    CHECK(said(profile, "67") == "it is opened 20 times, and moves 7.81 KiB each time");
    file.hdf5->opens = 19;
    CHECK(said(profile, "67") == "");
    file.hdf5->opens = 20;
    tests::first(profile).writes = tests::accesses(20, {1 << 20});
    CHECK(said(profile, "67") == "");
}

TEST_CASE("rule 69 leaves to rule 61 what that says") {
    Profile profile = logged();
    small_reads(profile.files[0]);
    for (int i = 0; i < 200; ++i) {
        profile.files.push_back(logged().files[0]);
        File& file = profile.files.back();
        file.path += "." + std::to_string(i);
        moves(file.posix->writes, 10, 1000);
        file.posix->writes->sizes.push_back({0, 101, 10});
    }
    CHECK(has(said(profile, "69"),
              "2000 of 3000 system calls that read or write (67 %) have at most "
              "10 KiB, in 200 files (without those of rule 61"));
    profile.files.resize(100);
    CHECK(said(profile, "69") == "");
}

TEST_CASE("rule 71 is about half of the ranks and more, and one that has twice as much") {
    Profile profile = logged();
    const File one = profile.files[0];
    profile.files.assign(4, one);
    for (std::uint64_t i = 0; i < 4; ++i) {
        File& file = profile.files[i];
        file.path += "." + std::to_string(i);
        file.processes = ProcessSet(i, i);
        moves(file.posix->writes, 10, 100 * mib);
        file.posix->writes->elapsed_s = 1;
    }
    CHECK(said(profile, "71") == "");
    profile.files[2].posix->writes->elapsed_s = 4;  // slower for no more: not its share
    CHECK(said(profile, "71") == "");
    profile.files[2].posix->writes->bytes = 900 * mib;
    CHECK(said(profile, "71") ==
          "in files that it alone uses process 2 moves 900 MiB in 4 s, 3 others 100 MiB in 1 s "
          "each, on average");
    profile.run.ranks = 9;
    CHECK(said(profile, "71") == "");
}

TEST_CASE("rule 45 does not take the views of HDF5's collective calls for those of others") {
    Profile profile = tests::plain_run();
    tests::hdf5_less_mpiio(profile, 4, 0, 0);
    File& file = profile.files[0];
    file.hdf5 = Hdf5File{};
    file.hdf5->mpio = true;
    file.mpiio->views = 320;
    asks(file.mpiio->reads, 5000, 160, 1000000);
    file.mpiio->writes.reset();
    CHECK(said(profile, "45") == "");
    file.mpiio->views = 321;
    CHECK(said(profile, "45") != "");
}

TEST_CASE("times have three digits") {
    CHECK(seconds(0) == "0 s");
    CHECK(seconds(7.8e-6) == "less than 1 ms");
    CHECK(seconds(8.60021) == "8.6 s");
    CHECK(seconds(85.4749) == "85.5 s");
    CHECK(seconds(999.6) == "1000 s");
    CHECK(seconds(11217.8) == "11200 s");
    CHECK(percent(0.9999) == "more than 99 %");
    CHECK(percent(0.0001) == "less than 1 %");
    CHECK(percent(1) == "100 %");
}
