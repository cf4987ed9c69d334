// SPDX-License-Identifier: Apache-2.0
// Rules that look at a file as a whole: where its objects begin, and what it needs in memory.
#include <doctest/doctest.h>

#include <algorithm>

#include "intent/plan/compile.hpp"
#include "intent/plan/functions.hpp"
#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::decision;
using tests::RuleCase;

namespace {

/// A run with the evidence of the first case of a rule.
Profile evidence_of(const std::string& rule) {
    Profile profile = tests::plain_run();
    const std::vector<RuleCase>& cases = tests::file_cases();
    const auto found = std::find_if(cases.begin(), cases.end(),
                                    [&](const RuleCase& one) { return one.rule == rule; });
    REQUIRE(found != cases.end());
    found->evidence(profile);
    return profile;
}

/// What a setting becomes in a file system with such blocks.
std::uint64_t on_blocks(const Set& set, std::uint64_t block_bytes) {
    if (!set.function) return std::get<std::uint64_t>(*set.value);
    const plan::FunctionInfo& function = *plan::find_function(set.function->name);
    Extents numbers;
    for (const std::string_view& name : function.numbers)
        if (!name.empty()) numbers.push_back(set.function->numbers.at(std::string(name)));
    plan::Surroundings around;
    around.block_bytes = block_bytes;
    return plan::evaluate(function.function, numbers, set.function->extents, around).number;
}

}  // namespace

TEST_CASE("rules 1 and 2 align what has a block or more, on Lustre a stripe") {
    constexpr std::uint64_t kib = 1024, mib = 1048576;
    const auto check = [](const Profile& profile, const char* rule, std::uint64_t block_bytes,
                          std::uint64_t threshold, std::uint64_t alignment) {
        CAPTURE(rule);
        CAPTURE(block_bytes);
        const auto decided = decision(profile, Options{}, rule);
        REQUIRE(decided);
        REQUIRE_FALSE(decided->held);
        const std::vector<Set>& sets = decided->proposal.settings;
        REQUIRE(sets.size() == 2);
        CHECK(sets[0].key == "alignment_threshold_bytes");
        CHECK(on_blocks(sets[0], block_bytes) == threshold);
        CHECK(sets[1].key == "alignment_bytes");
        CHECK(on_blocks(sets[1], block_bytes) == alignment);
    };
    for (const char* rule : {"1", "2"}) {
        Profile profile = evidence_of(rule);
        profile.run.file_systems[0].type = "gpfs";
        check(profile, rule, 4 * kib, 64 * kib, 4 * kib);
        check(profile, rule, mib, mib, mib);
        check(profile, rule, 16 * mib, 16 * mib, 16 * mib);
        check(profile, rule, 64 * mib, 16 * mib, 16 * mib);
        // Lustre tells 4 KiB where the plan is put.
        profile.run.file_systems[0].type = "lustre";
        check(profile, rule, 4 * kib, mib, mib);
        profile.files[0].posix->file_alignment_bytes = 4096;
        profile.files[0].lustre = Lustre{8, mib, {}};
        check(profile, rule, 4 * kib, mib, mib);
        check(profile, rule, 4 * mib, 4 * mib, 4 * mib);
    }
}

TEST_CASE("rule 3: blocks of metadata are no more than a quarter of the file") {
    Profile profile = tests::plain_run();
    tests::operations(profile, "attribute").create = 130;
    const auto block = [&profile] {
        const auto decided = decision(profile, Options{}, "3");
        REQUIRE(decided);
        return std::get<std::uint64_t>(*decided->proposal.settings.at(0).value);
    };
    tests::first(profile).writes = tests::accesses(1, {1000});
    CHECK(block() == 16384);
    tests::first(profile).writes = tests::accesses(1, {512 * 1024});
    CHECK(block() == 1048576);
    tests::operations(profile, "attribute").create = 4001;
    CHECK(block() == 1048576);
    // Written four times, and there once.
    tests::first(profile).writes = tests::accesses(4, {512 * 1024});
    CHECK(block() == 1048576);
    profile.files[0].posix.emplace().writes.emplace().highest_byte = 20000000;
    CHECK(block() == 4194304);
    profile.files[0].posix.reset();
    // What filters leave of it is not known, but for the layer below.
    tests::first(profile).filters.push_back({1, "deflate", {}});
    CHECK(block() == 131072);
    profile.files[0].posix.emplace().writes.emplace().highest_byte = 480000;
    CHECK(block() == 16384);
}

TEST_CASE("rule 11: the buffers of all datasets are within the memory of a process") {
    Profile profile = evidence_of("11");
    for (int i = 0; i < 9; ++i) {
        Dataset other = tests::dataset("/whole" + std::to_string(i), 512 * 1024, 1);
        other.layout = "contiguous";
        other.writes = tests::accesses(1, {512 * 1024});
        profile.files[0].datasets.push_back(other);
    }
    const auto buffer = [&profile] {
        const auto decided = decision(profile, Options{}, "11");
        REQUIRE(decided);
        REQUIRE_FALSE(decided->held);
        return std::get<std::uint64_t>(*decided->proposal.settings.at(0).value);
    };
    CHECK(buffer() == (19999ULL * 5 + 1) * 8);
    profile.run.node_memory_bytes = 4 * 10 * 128 * 1024;
    CHECK(buffer() == 128 * 1024);
    // Some of the calls that are out of sequence do no harm.
    profile.run.node_memory_bytes = 64ULL << 30U;
    Dataset& last = profile.files[0].datasets.back();
    last.writes = tests::accesses(2000, {64});
    last.writes->order = Order{1950, 0, 49, 0, {}};
    CHECK(buffer() == (19999ULL * 5 + 1) * 8);
}

TEST_CASE("rule 7: what is closed after each object or two has no burst of metadata") {
    Profile profile = tests::plain_run();
    Hdf5File& file = *profile.files[0].hdf5;
    tests::operations(profile, "dataset").create = 3000;
    CHECK(decision(profile, Options{}, "7"));
    file.opens = file.creates = 3000;
    CHECK_FALSE(decision(profile, Options{}, "7"));
    file.opens = file.creates = 3;
    REQUIRE(decision(profile, Options{}, "7"));
    CHECK(decision(profile, Options{}, "7")->reason.text.find("(3 closes)") != std::string::npos);
}

TEST_CASE("what ranks create together is one object, however many of them make the call") {
    Profile profile = tests::plain_run();
    tests::together(profile, 64);
    const auto blocks = [&profile](std::uint64_t calls) {
        tests::operations(profile, "dataset").create = calls;
        return decision(profile, Options{}, "3");
    };
    CHECK_FALSE(blocks(6400));
    REQUIRE(blocks(6464));
    CHECK(blocks(6464)->reason.text.starts_with("101 objects"));
    profile.files[0].hdf5->flushes = 64;
    tests::operations(profile, "dataset").create = 64000;
    REQUIRE(decision(profile, Options{}, "7"));
    CHECK(decision(profile, Options{}, "7")
              ->reason.text.starts_with("a burst of 1000 new objects with 1 flushes"));
    profile.files[0].hdf5->mpio = false;  // each of them for itself
    CHECK(blocks(101));
}

namespace {

/// Written together by 4 ranks through OMPIO, for 2 of 10 s of each.
Profile through_ompio() {
    Profile profile = tests::plain_run();
    tests::hdf5_less_mpiio(profile, 4, 8, 256 * 1048576);
    MpiioFile& mpiio = *profile.files[0].mpiio;
    mpiio.implementation = "OMPIO";
    mpiio.writes->elapsed_s = 8;
    return profile;
}

Options together() {
    Options options;
    options.allowed.insert(plan::Class::collective);
    return options;
}

}  // namespace

TEST_CASE("rule 77 is about writes through OMPIO that take time, and says who wrote") {
    Profile profile = through_ompio();
    const auto text = [&profile] {
        const auto found = decision(profile, together(), "77");
        return found ? found->reason.text : "";
    };
    CHECK(text() == "8 collective writes of 256 MiB through OMPIO, 2 s of each rank on average");
    profile.files[0].posix = PosixFile{};
    profile.files[0].posix->writes = PosixTransfers{};
    CHECK(text().ends_with("; below it 1 of 4 ranks wrote all"));
    profile.files[0].posix->writes->ranges = {{0, 9, 900, 0, 900}, {2, 9, 900, 900, 1800}};
    CHECK(text().ends_with("; below it 2 of 4 ranks wrote all"));
    profile.files[0].posix.reset();
    profile.files[0].writers = 3;
    CHECK(text().ends_with("; below it 3 of 4 ranks wrote all"));

    MpiioFile& mpiio = *profile.files[0].mpiio;
    mpiio.writes->elapsed_s = 0.7;
    CHECK(text().empty());
    mpiio.writes->elapsed_s = 8;
    profile.files[0].written_as_asked = true;  // no other implementation does better
    CHECK(text().empty());
    profile.files[0].written_as_asked = false;
    CHECK_FALSE(text().empty());
    mpiio.writes->collective = 0;
    mpiio.writes->independent = 8;
    CHECK(text().empty());
    mpiio.writes->collective = 8;
    CHECK_FALSE(text().empty());
    mpiio.implementation = "ROMIO";
    CHECK(text().empty());
    mpiio.implementation.reset();  // of MPICH
    CHECK(text().empty());
}

TEST_CASE("rule 77 does not count writers of which a profile keeps only the first") {
    Profile profile = through_ompio();
    profile.run.ranks = 100;
    profile.files[0].hdf5->communicator_size = 100;
    profile.files[0].mpiio->writes->elapsed_s = 200;
    profile.files[0].posix = PosixFile{};
    profile.files[0].posix->writes = PosixTransfers{};
    auto& ranges = profile.files[0].posix->writes->ranges;
    for (std::uint64_t rank = 0; rank + 1 < most_ranges; ++rank)
        ranges.push_back({rank, 1, 100, 100 * rank, 100 * rank + 100});
    auto found = decision(profile, together(), "77");
    REQUIRE(found);
    CHECK(found->reason.text.ends_with("; below it 63 of 100 ranks wrote all"));
    ranges.push_back({63, 1, 100, 6300, 6400});  // others may have written that found no room
    found = decision(profile, together(), "77");
    REQUIRE(found);
    CHECK(found->reason.text.ends_with("2 s of each rank on average"));
    const auto& facts = found->reason.evidence;
    CHECK(std::ranges::none_of(facts, [](const auto& one) { return one.name == "file.writers"; }));
    profile.files[0].writers = 80;  // counted while the profile was made
    CHECK(decision(profile, together(), "77")->reason.text.ends_with("80 of 100 ranks wrote all"));
}

TEST_CASE("rule 77 leaves what the command line chooses") {
    for (const char* option : {"--mca io ompio", "-mca io ompio", "--omca io ompio"}) {
        Profile profile = through_ompio();
        profile.origin.command = std::string("mpiexec ") + option + " ./model";
        const auto found = decision(profile, together(), "77");
        REQUIRE(found);
        REQUIRE(found->held);
        CHECK(found->held->guard_name() == "program");
        CHECK(found->held->text.find("mca io") != std::string::npos);
        profile.origin.command = "mpiexec --mca io_ompio_grouping_option 1 ./model";
        CHECK_FALSE(decision(profile, together(), "77")->held);
    }
}

TEST_CASE("the variable of rule 77 is collective, once for all files, and part of the hash") {
    Profile profile = through_ompio();
    profile.files.push_back(profile.files[0]);
    profile.files[1].path = "/data/g.h5";
    plan::Plan plan = plan_of({profile}, together(), {});
    REQUIRE(plan.environment.size() == 1);
    CHECK(plan.environment[0].name == "OMPI_MCA_io");
    CHECK(plan.environment[0].value == "^ompio");
    CHECK(plan.environment[0].cls == plan::Class::collective);
    CHECK(plan.environment[0].because.rule == "77");
    const auto compiled = plan::compile(plan, "plan", {});
    plan.environment[0].cls = plan::Class::safe;
    CHECK(plan::compile(plan, "plan", {}) != compiled);
    CHECK(plan_of({profile}, Options{}, {}).environment.empty());
}

TEST_CASE("rule 73 claims no more than it sees of waits") {
    Profile profile = tests::plain_run();
    const auto& cases = tests::hint_cases();
    std::ranges::find(cases, std::string("73"), &RuleCase::rule)->evidence(profile);
    PnetcdfFile& pnetcdf = *profile.files[0].pnetcdf;
    const auto told = [&profile](std::string_view words) {
        const auto found = decision(profile, Options{}, "73");
        REQUIRE(found);
        return (found->reason.text + "\n" + found->proposal.advice).find(words) !=
               std::string::npos;
    };
    for (const bool one : {false, true}) {  // a count of one kind alone leaves it open
        pnetcdf.collective_waits.reset();
        pnetcdf.independent_waits.reset();
        (one ? pnetcdf.collective_waits : pnetcdf.independent_waits) = 0;
        CHECK(told("Its own calls were not seen"));
        CHECK(told("\nif the program waits for each put"));
    }
    pnetcdf.collective_waits = pnetcdf.independent_waits = 0;
    CHECK(told("and no wait for several of them\nbegin the writes of a step"));
    pnetcdf.independent_waits = 1;
    CHECK_FALSE(decision(profile, Options{}, "73"));
}
