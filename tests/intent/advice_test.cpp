// SPDX-License-Identifier: Apache-2.0
// What rules say and tell to type, word by word.
#include <doctest/doctest.h>

#include <algorithm>

#include "intent/plan/compile.hpp"
#include "intent/plan/compiled.hpp"
#include "intent/rules/words.hpp"
#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::RuleCase;

namespace {

constexpr std::uint64_t mega = 1048576, giga = 1073741824;

Profile on_evidence(const std::vector<RuleCase>& cases, const std::string& rule) {
    Profile profile = tests::plain_run();
    for (const RuleCase& one : cases)
        if (one.rule == rule) {
            one.evidence(profile);
            return profile;
        }
    FAIL("no case of the rule");
    return profile;
}

std::optional<Decision> decided(const Profile& profile, const std::string& rule) {
    for (const Decision& one : decide(profile, Options{}))
        if (one.rule == rule) return one;
    return std::nullopt;
}

Proposal proposed(const Profile& profile, const std::string& rule) {
    const auto found = decided(profile, rule);
    REQUIRE(found);
    if (found->held) CAPTURE(found->held->text);
    REQUIRE_FALSE(found->held);
    return found->proposal;
}

std::string only_command(const Profile& profile, const std::string& rule) {
    const Proposal proposal = proposed(profile, rule);
    REQUIRE(proposal.commands.size() == 1);
    return proposal.commands[0];
}

std::string buffer_of(const Profile& profile) {
    return std::get<std::string>(*proposed(profile, "42").settings.at(0).value);
}

}  // namespace

TEST_CASE("words for a shell") {
    CHECK(shell_word("/data/f.h5") == "/data/f.h5");
    CHECK(shell_word("") == "''");
    CHECK(shell_word("a b") == "'a b'");
    CHECK(shell_word("it's") == "'it'\\''s'");
    CHECK(shell_word("$x;`y`") == "'$x;`y`'");
    CHECK(shell_path("-rf") == "./-rf");
    CHECK(shell_path("-a b") == "'./-a b'");
}

TEST_CASE("the folder of a path") {
    CHECK(folder_of("f.h5") == ".");
    CHECK(folder_of("/f.h5") == "/");
    CHECK(folder_of("/data/out/f.h5") == "/data/out");
    CHECK(folder_of("out/f.h5") == "out");
}

TEST_CASE("rules 47 and 48 name the folder as a shell takes it") {
    Profile profile = on_evidence(tests::hint_cases(), "47");
    CHECK(only_command(profile, "47") == "lfs setstripe -c 8 -S 1024k /data");
    profile.files[0].path = "/my data/it's/f.h5";
    CHECK(decided(profile, "47")->held->guard_name() == "file system");  // of that folder not known
    profile.files[0].lustre = Lustre{1, 4 * mega, {}};
    CHECK(only_command(profile, "47") == "lfs setstripe -c 8 -S 4096k '/my data/it'\\''s'");
    profile.files[0].path = "f.h5";
    CHECK(only_command(profile, "47") == "lfs setstripe -c 8 -S 4096k .");

    profile = on_evidence(tests::hint_cases(), "48");
    CHECK(only_command(profile, "48") == "lfs setstripe -c 1 /data");
    profile.files[0].path = "/a \"b\"/f.h5";
    CHECK(only_command(profile, "48") == "lfs setstripe -c 1 '/a \"b\"'");
    profile.files[0].path = "-d/f.h5";
    CHECK(only_command(profile, "48") == "lfs setstripe -c 1 ./-d");
}

TEST_CASE("rule 31 names the file and all its hot datasets in one command") {
    Profile profile = on_evidence(tests::dataset_cases(), "31");
    CHECK(only_command(profile, "31") ==
          "tailrace repack /data/f.h5 --filters /d=none -o /data/f.plain.h5");
    profile.files[0].path = "/my data/it's";
    profile.files[0].datasets.push_back(tests::first(profile));
    profile.files[0].datasets[1].path = "/x y*=";
    CHECK(only_command(profile, "31") ==
          "tailrace repack '/my data/it'\\''s' --filters /d=none --filters '/x y[*]?=none' "
          "-o '/my data/it'\\''s.plain'");
    for (int i = 0; i < 20; ++i) profile.files[0].datasets.push_back(profile.files[0].datasets[0]);
    profile.files[0].path = "f.h5";
    CHECK(only_command(profile, "31") == "tailrace repack f.h5 --filters '/*=none' -o f.plain.h5");
}

TEST_CASE("the buffer of rule 42 is a multiple of the stripe and within memory") {
    Profile profile = tests::plain_run();
    const auto with = [&](std::uint64_t bytes, std::uint64_t stripe, std::uint64_t memory) {
        profile = tests::plain_run();
        tests::hdf5_less_mpiio(profile, 32, 1000, bytes);  // 16 ranks on a node
        profile.files[0].lustre = Lustre{8, stripe, {}};
        profile.run.node_memory_bytes = memory;
    };
    with(256 * mega, mega, 64 * giga);
    CHECK(buffer_of(profile) == std::to_string(32 * mega));
    with(2 * giga, mega, 64 * giga);
    CHECK(buffer_of(profile) == std::to_string(64 * mega));
    with(2 * giga, 3 * mega, 64 * giga);
    CHECK(buffer_of(profile) == std::to_string(63 * mega));
    with(2 * giga, 64 * mega, 64 * giga);
    CHECK(buffer_of(profile) == std::to_string(64 * mega));
    // A process may have a quarter of its part of the node, and the buffer half of that.
    with(2 * giga, mega, 16 * 4 * 2 * 24 * mega);
    CHECK(buffer_of(profile) == std::to_string(24 * mega));
    // A stripe that does not fit is not made to: neither cut nor over the memory.
    with(2 * giga, 64 * mega, 16 * 4 * 2 * 24 * mega);
    CHECK(decided(profile, "42")->held->guard_name() == "stripe");
    with(2 * giga, 100 * mega, 64 * giga);
    CHECK(decided(profile, "42")->held->guard_name() == "stripe");
    with(2 * giga, mega, 16 * 4 * 2 * 16 * mega);
    CHECK(decided(profile, "42")->held->guard_name() == "memory");
}

TEST_CASE("rules 41 and 53: an aggregator for each stripe that rule 47 gives") {
    Profile profile = tests::plain_run();
    tests::hdf5_less_mpiio(profile, 256, 1000, 3ULL << 30U);
    profile.run.nodes = 16;
    profile.files[0].lustre = Lustre{1, 1 << 20, {}};
    const auto nodes = [&profile] {
        return std::get<std::string>(*proposed(profile, "41").settings.at(0).value);
    };
    CHECK(std::get<std::string>(*proposed(profile, "47").settings.at(0).value) == "8");
    CHECK(nodes() == "8");
    profile.files[0].mpiio->hints_given["striping_factor"] = "1";
    CHECK(nodes() == "1");
    profile.files[0].mpiio->hints_given.clear();
    profile.files[0].hdf5->creates = 0;  // it has the stripes that it has
    CHECK(nodes() == "1");
    profile.files[0].mpiio->writes->bytes = 1 << 20;
    profile.files[0].hdf5->creates = 1;
    CHECK(nodes() == "1");
    profile.files[0].mpiio->writes->bytes = 3ULL << 30U;
    profile.files[0].hdf5.reset();
    profile.files[0].pnetcdf = PnetcdfFile{};
    profile.files[0].pnetcdf->creates = 1;
    const Proposal below = proposed(profile, "53");
    CHECK(below.environment.empty());  // which would go to OMPIO as well
    REQUIRE(below.settings.size() == 1);
    CHECK(below.settings[0].key == "hint.cb_nodes");
    CHECK(std::get<std::string>(*below.settings[0].value) == "8");
}

TEST_CASE("rule 49: the room for the header is within a quarter of the file") {
    Profile profile = on_evidence(tests::hint_cases(), "49");
    profile.files[0].datasets.clear();
    const auto hint = [&profile](std::uint64_t bytes, std::uint64_t block) {
        profile.files[0].mpiio->writes->bytes = bytes;
        profile.run.file_systems[0] = {"/data", "gpfs", block};
        return proposed(profile, "49").environment.at(0).second;
    };
    CHECK(hint(256 << 20, 16 << 20) == "nc_header_align_size=16777216");
    CHECK(hint(8 << 20, 16 << 20) == "nc_header_align_size=2097152");
    CHECK(hint(1 << 20, 16 << 20) == "nc_header_align_size=262144");
    CHECK(hint(1000, 16 << 20) == "nc_header_align_size=65536");
    CHECK(hint(1000, 4096) == "nc_header_align_size=65536");
}

TEST_CASE("rule 50 does not fire where calls are deferred") {
    Profile profile = on_evidence(tests::hint_cases(), "50");
    profile.files[0].pnetcdf->independent_waits = 3;
    CHECK_FALSE(decided(profile, "50"));
}

TEST_CASE("reduction names what it costs, and measures the largest dataset") {
    Profile profile = on_evidence(tests::beyond_cases(), "54");
    profile.files[0].path = "/my data/f.h5";
    const Proposal proposal = proposed(profile, "54");
    for (const char* words : {"Lossless", "Lossy", "error bound", "64 MiB are 64 bits wide"})
        CHECK(proposal.advice.find(words) != std::string::npos);
    CHECK(proposal.commands.at(0) ==
          "tailrace repack '/my data/f.h5' --filters /d=shuffle,deflate=1 --dry-run");
    tests::first(profile).filters.push_back({1, "deflate", {}});
    CHECK_FALSE(decided(profile, "54"));
    tests::first(profile).filters.clear();
    tests::first(profile).type->type_class = "integer";
    CHECK_FALSE(decided(profile, "54"));
}

TEST_CASE("what another run reads is work for the first, what many read is a product") {
    Profile writer = tests::plain_run();
    tests::shape(writer, {32 * mega});
    tests::first(writer).writes = tests::transfers(256, 256 * mega, 0, 4);
    CHECK_FALSE(decided(writer, "55"));
    Profile reader = tests::plain_run();
    tests::shape(reader, {32 * mega});
    tests::first(reader).creates = 0;
    tests::first(reader).reads = tests::transfers(256, 256 * mega, 0, 4);
    const auto advised = [](const std::vector<Profile>& all) {
        const plan::Plan plan = plan_of(all, Options{}, {});
        return std::count_if(plan.advice.begin(), plan.advice.end(), [](const plan::Advice& one) {
            return one.because.rule == "55" &&
                   one.because.text.find("by 1 other run") != std::string::npos;
        });
    };
    CHECK(advised({writer, reader}) == 1);
    CHECK(advised({reader, writer}) == 1);
    CHECK(advised({writer, reader, reader}) == 0);
    tests::first(reader).writes = tests::first(writer).writes;
    CHECK(advised({writer, reader}) == 0);  // both make it: none hands it on
}

TEST_CASE("an I/O server is advised once for a run, with what it can hide at most") {
    Profile profile = on_evidence(tests::beyond_cases(), "57");
    const plan::Plan plan = plan_of({profile}, Options{}, {});
    const auto found =
        std::find_if(plan.advice.begin(), plan.advice.end(),
                     [](const plan::Advice& one) { return one.because.rule == "57"; });
    REQUIRE(found != plan.advice.end());
    CHECK(found->file.empty());
    CHECK(found->because.text ==
          "20 % of the run is waiting for output (128 MiB in 16 calls by 4 "
          "processes), 45 % is between them, in 4 bursts");
    CHECK(found->text.find("At most 20 % of the run can be hidden") != std::string::npos);
    for (Dataset& one : profile.files[0].datasets) one.writes->elapsed_s = 0.5;
    CHECK_FALSE(decided(profile, "57"));  // 5 % of the run
}

TEST_CASE("headers that PnetCDF reads at each open are no reads that would wait for a server") {
    Profile profile = on_evidence(tests::beyond_cases(), "57");
    File& file = profile.files[0];
    file.datasets.clear();
    file.hdf5.reset();
    file.pnetcdf = PnetcdfFile{};
    file.mpiio = MpiioFile{};
    file.mpiio->collective_opens = 4 * 74;
    MpiioTransfers writes;
    writes.collective = 4 * 74;
    writes.bytes = 128 * 1048576;
    writes.elapsed_s = 8;
    writes.active = Span{0, 7};
    file.mpiio->writes = writes;
    MpiioTransfers reads;
    reads.independent = 74;
    reads.bytes = 74 * 262144;
    reads.highest_byte = 262143;
    reads.active = Span{0.1, 7};
    file.mpiio->reads = reads;
    const auto held = [&] {
        const auto found = tests::decision(profile, Options{}, "57");
        REQUIRE(found);
        return found->held ? found->held->guard_name() : "";
    };
    CHECK(held() == "");
    file.mpiio->reads->highest_byte = 64 * 1048576;
    CHECK(held() == "reads");
}

TEST_CASE("writes that HDF5 refuses are said where a plan may not make them collective") {
    for (const RuleCase& one : tests::dataset_cases()) {
        if (one.rule != "29") continue;
        Profile profile = tests::plain_run();
        one.evidence(profile);
        const auto said = [&](const Options& options) {
            const plan::Plan plan = plan_of({profile}, options, {});
            return std::ranges::any_of(plan.advice, [](const plan::Advice& each) {
                return each.because.rule == "29" && each.failing == true &&
                       each.text.find("write it collectively") != std::string::npos;
            });
        };
        Options collective;
        collective.allowed.insert(plan::Class::collective);
        CHECK(said(Options{}));
        CHECK_FALSE(said(collective));
        one.change(profile);
        CHECK(said(collective));
    }
}

TEST_CASE("hints that PnetCDF is given already stay, which is said") {
    Profile profile = on_evidence(tests::hint_cases(), "50");
    const auto of_rule = [&](const std::string& rule) {
        std::vector<std::string> texts;
        for (const plan::Advice& one : plan_of({profile}, Options{}, {}).advice)
            if (one.because.rule.find(rule) != std::string::npos) texts.push_back(one.text);
        return texts;
    };
    const auto variable = [&] {
        const auto all = plan_of({profile}, Options{}, {}).environment;
        return all.empty() ? "" : all[0].value;
    };
    CHECK(of_rule("50").empty());
    CHECK(variable() == "nc_var_align_size=1048576");
    auto& given = profile.files[0].mpiio->hints_given;
    given["nc_var_align_size"] = "4096";
    REQUIRE(of_rule("50").size() == 1);
    CHECK(of_rule("50")[0] ==
          "the hints that are given stay: nc_var_align_size=4096, where the rule wants "
          "nc_var_align_size=1048576. They come from the program or from PNETCDF_HINTS of its "
          "environment; to try the others change them there");
    CHECK(variable().empty());
    // The variable would go before what the program gives to another of its files.
    given.clear();
    profile.files.push_back(profile.files[0]);
    profile.files[1].path = "/data/other.nc";
    profile.files[1].datasets.clear();
    profile.files[1].mpiio->hints_given["nc_var_align_size"] = "8192";
    CHECK(variable().empty());
    REQUIRE(of_rule("50").size() == 1);
    CHECK(of_rule("50")[0].find("nc_var_align_size=8192; other files would get 1048576 from "
                                "PNETCDF_HINTS") != std::string::npos);
    profile.files[1].mpiio->hints_given["nc_var_align_size"] = "1048576";  // no conflict
    CHECK(of_rule("50").empty());
    CHECK(variable() == "nc_var_align_size=1048576");
}

TEST_CASE("a plan of many datasets leaves out the lightest, and says so") {
    Profile profile = on_evidence(tests::dataset_cases(), "13");
    for (int i = 0; i < 1000; ++i) {
        profile.files[0].datasets.push_back(profile.files[0].datasets[0]);
        profile.files[0].datasets.back().path = "/group/dataset " + std::string(1 + i % 50, 'x') +
                                                std::to_string(i / 50);  // joined by no pattern
    }
    const plan::Plan whole = plan_of({profile}, Options{}, {});
    CHECK(plan::compiled_bytes(whole) <= plan::largest_advised);
    CHECK(whole.entries.size() > 600);
    CHECK(whole.entries.size() < 1000);
    REQUIRE_FALSE(whole.origin.notes.empty());
    CHECK(whole.origin.notes.back().find("entries that move the fewest bytes are left out") !=
          std::string::npos);
}
