// SPDX-License-Identifier: Apache-2.0
// Every rule fires on the least evidence, and its guard holds it back.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/hash.hpp"
#include "intent/plan/check.hpp"
#include "intent/plan/plan_json.hpp"
#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::decision;
using tests::RuleCase;

namespace {

std::vector<RuleCase> all_cases() {
    std::vector<RuleCase> all = tests::file_cases();
    for (const auto* more : {&tests::dataset_cases(), &tests::hint_cases(), &tests::beyond_cases(),
                             &tests::access_cases()})
        all.insert(all.end(), more->begin(), more->end());
    return all;
}

Options everything() {
    Options options;
    for (const auto cls :
         {plan::Class::safe, plan::Class::layout, plan::Class::collective, plan::Class::opt_in})
        options.allowed.insert(cls);
    options.reliability["/data/f.h5"] = Reliability::scratch;
    return options;
}

bool sets(const Proposal& proposal, const std::string& key) {
    return std::any_of(proposal.settings.begin(), proposal.settings.end(),
                       [&](const Set& set) { return set.key == key; }) ||
           std::any_of(proposal.environment.begin(), proposal.environment.end(),
                       [&](const auto& one) { return one.first == key; });
}

/// A run with the evidence of the first case of a rule.
Profile evidence_of(const std::vector<RuleCase>& cases, const std::string& rule) {
    Profile profile = tests::plain_run();
    std::find_if(cases.begin(), cases.end(), [&](const RuleCase& one) {
        return one.rule == rule;
    })->evidence(profile);
    return profile;
}

Profile cache_thrash() { return evidence_of(tests::dataset_cases(), "13"); }

/// Whether a plan sets this key anywhere.
bool has(const plan::Plan& plan, const std::string& key) {
    for (const plan::Entry& entry : plan.entries)
        for (const plan::Planned& planned : entry.settings)
            if (planned.key == key) return true;
    return false;
}

/// The text of what holds a rule back; empty: this guard does not.
std::string held_by(const plan::Plan& plan, const std::string& rule, const std::string& guard) {
    for (const plan::HeldBack& one : plan.held_back)
        if (one.because.rule == rule && one.guard == guard) return one.because.text;
    return "";
}

/// A chunked dataset of 512 MiB that is written at once.
void in_small_chunks(Dataset& dataset) {
    dataset.dims = {65536, 1024};
    dataset.ndims = 2;
    dataset.elements = 65536ULL * 1024;
    dataset.chunk = {16, 16};
    dataset.layout = "chunked";
    dataset.writes = tests::accesses(1, {65536, 1024});
}

}  // namespace

TEST_CASE("there are 77 rules, and a case or more for each") {
    REQUIRE(all_rules().size() == 77);
    const std::vector<RuleCase> cases = all_cases();
    for (std::size_t i = 0; i < 77; ++i) {
        const std::string id = std::to_string(i + 1);
        CHECK(all_rules()[i]->id == id);
        CHECK(std::count_if(cases.begin(), cases.end(),
                            [&](const RuleCase& one) { return one.rule == id; }) >= 1);
    }
}

TEST_CASE("each rule fires on the least evidence") {
    for (const RuleCase& one : all_cases()) {
        CAPTURE(one.rule);
        Profile profile = tests::plain_run();
        CHECK_FALSE(decision(profile, everything(), one.rule));
        one.evidence(profile);
        const auto found = decision(profile, everything(), one.rule);
        REQUIRE(found);
        CAPTURE(found->reason.text);
        if (found->held) CAPTURE(found->held->text);
        CHECK_FALSE(found->reason.text.empty());
        if (!one.key.empty()) {
            CHECK_FALSE(found->held);
            CHECK(sets(found->proposal, one.key));
        } else if (!found->held) {
            CHECK_FALSE(found->proposal.advice.empty());
        } else {
            CHECK(found->held->guard_name() == "nothing to set");
        }
    }
}

TEST_CASE("each guard holds its rule back") {
    for (const RuleCase& one : all_cases()) {
        if (one.guard.empty()) continue;
        CAPTURE(one.rule);
        Profile profile = tests::plain_run();
        one.evidence(profile);
        one.change(profile);
        Options options = everything();
        if (one.guard == "reliability") options.reliability.clear();
        const auto found = decision(profile, options, one.rule);
        REQUIRE(found);
        REQUIRE(found->held);
        CHECK(found->held->guard_name() == one.guard);
        CHECK_FALSE(found->held->text.empty());
    }
}

TEST_CASE("collective and opt-in rules need to be allowed") {
    for (const RuleCase& one : all_cases()) {
        Profile profile = tests::plain_run();
        one.evidence(profile);
        Options options;
        options.reliability["/data/f.h5"] = Reliability::scratch;
        const auto found = decision(profile, options, one.rule);
        REQUIRE(found);
        const bool needs =
            found->cls == plan::Class::collective || found->cls == plan::Class::opt_in;
        CAPTURE(one.rule);
        CHECK((found->held && found->held->guard_name() == "class") == needs);
    }
}

TEST_CASE("where two rules meet the written order decides") {
    for (const Conflict& conflict : conflicts()) {
        const auto named = [&](std::string_view id) {
            return std::any_of(all_rules().begin(), all_rules().end(),
                               [&](const Rule* rule) { return rule->id == id; });
        };
        CHECK(named(conflict.winner));
        CHECK(named(conflict.loser));
        for (const Conflict& other : conflicts())  // no circle of two
            CHECK_FALSE((other.winner == conflict.loser && other.loser == conflict.winner));
    }
    Profile profile = tests::plain_run();
    for (const RuleCase& one : tests::file_cases())
        if (one.rule == "9") one.evidence(profile);
    tests::operations(profile, "dataset").create = 101;
    const auto meta = decision(profile, everything(), "3");
    REQUIRE(meta);
    REQUIRE(meta->held);
    CHECK(meta->held->guard_name() == "conflict");
    CHECK(meta->held->text.rfind("rule 9: ", 0) == 0);
}

TEST_CASE("a rule that is held by another holds none back") {
    const auto& all = conflicts();
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = i + 1; k < all.size(); ++k) {
            CAPTURE(all[i].winner);
            CHECK(all[i].winner != all[k].loser);  // who loses later has not won before
        }
}

TEST_CASE("no rule sets what its class does not cover") {
    for (const RuleCase& one : all_cases()) {
        Profile profile = tests::plain_run();
        one.evidence(profile);
        const auto found = decision(profile, everything(), one.rule);
        REQUIRE(found);
        if (found->held) continue;
        CAPTURE(one.rule);
        for (const Set& set : found->proposal.settings) {
            CAPTURE(set.key);
            CHECK(plan::is_enough(found->cls, plan::find_key(set.key)->key));
        }
    }
}

TEST_CASE("no rule gives a page buffer, by which HDF5 loses objects") {
    for (const RuleCase& one : all_cases()) {
        Profile profile = tests::plain_run();
        one.evidence(profile);
        CAPTURE(one.rule);
        for (const Decision& decided : decide(profile, everything()))
            CHECK_FALSE(sets(decided.proposal, "page_buffer_bytes"));
    }
}

TEST_CASE("indexes of PyTables keep their chunks") {
    for (const char* rule : {"17", "18", "19", "23"}) {
        CAPTURE(rule);
        Profile profile = evidence_of(tests::dataset_cases(), rule);
        for (Dataset& dataset : profile.files[0].datasets) dataset.path = "/_i_t/x" + dataset.path;
        const auto found = decision(profile, everything(), rule);
        REQUIRE(found);
        REQUIRE(found->held);
        CHECK(found->held->guard_name() == "library");
    }
}

TEST_CASE("collective metadata needs both permissions") {
    for (const RuleCase& one : tests::file_cases()) {
        if (one.rule != "5" && one.rule != "6") continue;
        Profile profile = tests::plain_run();
        one.evidence(profile);
        for (const auto cls : {plan::Class::collective, plan::Class::opt_in}) {
            Options options = everything();
            options.allowed.erase(cls);
            CHECK(decision(profile, options, one.rule)->held->guard_name() == "class");
        }
        CHECK_FALSE(decision(profile, everything(), one.rule)->held);
    }
}

TEST_CASE("what is allowed by default asks for no newer reader") {
    for (const auto& cases : {tests::file_cases(), tests::dataset_cases()}) {
        for (const RuleCase& one : cases) {
            CAPTURE(one.rule);
            Profile profile = tests::plain_run();
            one.evidence(profile);
            const auto found = decision(profile, Options{}, one.rule);
            if (!found || found->held) continue;
            for (const char* key : {"libver_low", "libver_high", "file_space_strategy"})
                CHECK_FALSE(sets(found->proposal, key));
        }
    }
    Profile profile = tests::plain_run();
    for (const RuleCase& one : tests::file_cases())
        if (one.rule == "9") one.evidence(profile);
    tests::operations(profile, "dataset").create = 101;
    CHECK(decision(profile, Options{}, "9")->held->guard_name() == "class");
    CHECK_FALSE(decision(profile, Options{}, "3")->held);  // a rule that is held wins no conflict
}

TEST_CASE("a plan carries the reason, and what the function gave") {
    const plan::Plan plan = plan_of({cache_thrash()}, Options{}, {"p.json"});
    REQUIRE(plan.entries.size() == 1);
    CHECK(plan.entries[0].file == "/data/f.h5");
    CHECK(plan.entries[0].dataset == "/d");
    const plan::Planned& cache = plan.entries[0].settings[0];
    CHECK(cache.key == "chunk_cache_bytes");
    CHECK(std::get<std::uint64_t>(*cache.profiled) == 57600000);
    CHECK(cache.because.text.find("touch 40 chunks of 1.14 MiB") != std::string::npos);
    CHECK(cache.because.rule == "13");
    CHECK_NOTHROW((void)plan::to_json(plan, tailrace::core::hash_hex));
}

TEST_CASE("a chunk cache that a library asks for by itself is no choice of the program") {
    const auto plan_with = [](std::uint64_t slots, std::uint64_t bytes, double preemption) {
        Profile profile = cache_thrash();
        auto& own = profile.files[0].datasets[0].settings_of_program;
        own["chunk_cache_slots"] = slots;
        own["chunk_cache_bytes"] = bytes;
        own["chunk_cache_preemption"] = preemption;
        return plan_of({profile}, Options{}, {});
    };
    constexpr std::uint64_t mib = 1048576;
    // netCDF-C of three ages, the room for ten chunks that one of them gives, and PyTables.
    CHECK(plan_with(1009, 4 * mib, 0.75).entries.size() == 1);
    CHECK(plan_with(4133, 16 * mib, 0.75).entries.size() == 1);
    CHECK(plan_with(4133, std::uint64_t{10} * 50 * 3000 * 8, 0.75).entries.size() == 1);
    CHECK(plan_with(521, 16 * mib, 0.0).entries.size() == 1);
    // What somebody chose stays, and what is large enough too.
    CHECK(plan_with(4133, 17 * mib, 0.75).entries.empty());
    CHECK(plan_with(1000, 16 * mib, 0.5).entries.empty());
    CHECK(plan_with(521, 16 * mib, 0.75).entries.empty());
    CHECK(plan_with(1000, 64 * mib, 0.75).entries.empty());
}

TEST_CASE("that every element is written is proven of plain types only") {
    Profile profile = tests::plain_run();
    for (const RuleCase& one : tests::dataset_cases())
        if (one.rule == "22") one.evidence(profile);
    CHECK(decision(profile, everything(), "22"));
    for (const char* type : {"compound", "array", "vlen", "reference", ""}) {
        tests::first(profile).type->type_class = type;
        CHECK_FALSE(decision(profile, everything(), "22"));
    }
    for (const char* type : {"integer", "string", "enum"}) {
        tests::first(profile).type->type_class = type;
        CHECK(decision(profile, everything(), "22"));
    }
}

TEST_CASE("rules of the cache: how often a dataset is opened, if that is for nearly each call") {
    const auto noted = [](std::uint64_t opens) {
        Profile profile = tests::plain_run();
        tests::shape(profile, {100, 100}, {10, 10});
        Dataset& dataset = tests::first(profile);
        dataset.reads = tests::accesses(40, {10, 100});
        dataset.opens = opens;
        dataset.settings_of_program = {{"chunk_cache_preemption", 0.75}};
        const auto made = decision(profile, everything(), "15");
        REQUIRE(made);
        for (const plan::Fact& fact : made->reason.evidence)
            if (fact.name == "dataset.opens") return fact.value == Setting(opens);
        return false;
    };
    CHECK(noted(40));
    CHECK(noted(20));
    CHECK_FALSE(noted(19));
    CHECK_FALSE(noted(1));
}

TEST_CASE("rule 15 goes by the preemption in force, and says what cache was asked for") {
    const auto decided = [](std::uint64_t slots, std::uint64_t bytes, double preemption,
                            std::uint64_t calls) {
        Profile profile = tests::plain_run();
        tests::shape(profile, {100, 100}, {10, 10});
        Dataset& dataset = tests::first(profile);
        dataset.reads = tests::accesses(calls, {10, 100});
        dataset.settings_of_program = {{"chunk_cache_slots", slots},
                                       {"chunk_cache_bytes", bytes},
                                       {"chunk_cache_preemption", preemption}};
        return *decision(profile, everything(), "15");
    };
    constexpr std::uint64_t mib = 1048576;
    const Decision netcdf = decided(1000, 64 * mib, 0.75, 40);
    CHECK_FALSE(netcdf.held);
    std::map<std::string, Setting> facts;
    for (const plan::Fact& fact : netcdf.reason.evidence) facts[fact.name] = fact.value;
    CHECK(facts.at("dataset.chunk_cache_bytes_asked_for") == Setting(64 * mib));
    CHECK(facts.at("dataset.chunk_cache_slots_asked_for") == Setting(std::uint64_t{1000}));
    CHECK(facts.at("dataset.chunk_cache_preemption_asked_for") == Setting(0.75));
    // PyTables: less than rule 15 would set, and as much.
    for (const std::uint64_t calls : {20, 40}) {
        const Decision tables = decided(521, 16 * mib, 0.0, calls);
        REQUIRE(tables.held);
        CHECK(tables.held->guard_name() == "in force");
        CHECK(tables.held->text.find("is 0 already") != std::string::npos);
    }
}

TEST_CASE("repack is named for a file that is there and only read, and for no other") {
    Profile profile = tests::plain_run();
    tests::shape(profile, {65536, 2048});
    tests::first(profile).reads = tests::accesses(100, {65536, 1});
    tests::first(profile).creates = profile.files[0].hdf5->creates = 0;
    const auto advice_of = [&profile] { return plan_of({profile}, Options{}, {}).advice; };
    profile.files[0].datasets.push_back(tests::first(profile));
    profile.files[0].datasets[1].path = "/again";
    const std::vector<plan::Advice> both = advice_of();
    REQUIRE(both.size() == 1);  // once for a file
    CHECK(both[0].file == "/data/f.h5");
    CHECK(both[0].dataset == "");
    CHECK(both[0].because.rule == "75");
    CHECK(both[0].because.text.find("(1 more like it)") != std::string::npos);
    REQUIRE(both[0].commands.size() == 1);
    CHECK(both[0].commands[0] == "tailrace repack /data/f.h5 --profile profile.json --dry-run");
    profile.files[0].datasets.pop_back();
    CHECK(advice_of()[0].because.text.find("more like it") == std::string::npos);
    CHECK(plan_of({profile}, Options{}, {}).held_back[0].guard == "existing");
    tests::first(profile).writes = tests::accesses(1, {1, 2048});
    CHECK(advice_of().empty());
    tests::first(profile).writes = {};
    tests::first(profile).creates = 1;
    CHECK(advice_of().empty());
    tests::shape(profile, {65536, 2048}, {16, 16});  // held back for another reason
    tests::first(profile).direct_chunk_writes.emplace();
    CHECK(advice_of().empty());
}

TEST_CASE("files of a pattern that do not agree get nothing") {
    Profile profile = cache_thrash();
    profile.files.push_back(profile.files[0]);
    profile.files[1].path = "/data/g.h5";
    Options options;
    options.file_globs = {{"/data/f.h5", "/data/?.h5"}, {"/data/g.h5", "/data/?.h5"}};
    plan::Plan plan = plan_of({profile}, options, {});
    REQUIRE(plan.entries.size() == 1);
    CHECK(plan.entries[0].file == "/data/?.h5");
    profile.files[1].datasets[0].reads = tests::accesses(30, {2000, 3});
    plan = plan_of({profile}, options, {});
    CHECK(plan.entries.empty());
    REQUIRE(plan.held_back.size() >= 1);
    CHECK(plan.held_back[0].guard == "disagreement");
}

TEST_CASE("what would harm one file of a pattern is for none of them") {
    Profile profile = tests::plain_run();
    in_small_chunks(tests::first(profile));
    for (const char* path : {"/data/g.h5", "/data/h.h5"}) {
        profile.files.push_back(profile.files[0]);
        profile.files.back().path = path;
    }
    Options options;
    for (const File& file : profile.files) options.file_globs[file.path] = "/data/?.h5";
    CHECK(has(plan_of({profile}, options, {}), "chunk"));
    // No need of it, or nothing that says anything, is no harm.
    Dataset& other = profile.files[1].datasets[0];
    other.creates = 0;
    CHECK(has(plan_of({profile}, options, {}), "chunk"));
    other.creates = 1;
    other.writes.reset();
    CHECK(held_by(plan_of({profile}, options, {}), "18", "sparse") != "");
    CHECK(has(plan_of({profile}, options, {}), "chunk"));
    other.dims = other.chunk;
    other.elements = 256;
    CHECK(has(plan_of({profile}, options, {}), "chunk"));
    in_small_chunks(other);
    // Most of them are written by whole chunks, which have to stay as the program knows them.
    other.direct_chunk_writes.emplace();
    tests::first(profile).direct_chunk_writes.emplace();
    const plan::Plan plan = plan_of({profile}, options, {});
    CHECK_FALSE(has(plan, "chunk"));
    CHECK(held_by(plan, "18", "direct chunks") != "");
    CHECK(held_by(plan, "18", "disagreement").find("whole chunks itself") != std::string::npos);
    // Without a pattern each file has its own.
    CHECK(has(plan_of({profile}, Options{}, {}), "chunk"));
    // Of two runs of one file too, in whatever order.
    Profile plain = profile;
    plain.files.erase(plain.files.begin(), plain.files.begin() + 2);
    Profile direct = plain;
    tests::first(direct).direct_chunk_writes.emplace();
    CHECK(has(plan_of({plain}, Options{}, {}), "chunk"));
    CHECK_FALSE(has(plan_of({plain, direct}, Options{}, {}), "chunk"));
    CHECK_FALSE(has(plan_of({direct, plain}, Options{}, {}), "chunk"));
}

TEST_CASE("a variable is not set for what would harm another file") {
    Profile profile = evidence_of(tests::hint_cases(), "50");
    profile.files.push_back(profile.files[0]);
    profile.files[1].path = "/data/other.nc";
    const auto variable = [&profile] {
        const plan::Plan plan = plan_of({profile}, Options{}, {});
        return plan.environment.empty() ? "" : plan.environment[0].value;
    };
    CHECK(variable() == "nc_var_align_size=1048576");
    for (int i = 0; i < 50; ++i)
        profile.files[1].datasets.push_back(tests::dataset("/v" + std::to_string(i), 128, 1));
    CHECK(variable().empty());
    const plan::Plan plan = plan_of({profile}, Options{}, {});
    CHECK(held_by(plan, "50", "size").find("51 fixed variables") != std::string::npos);
    CHECK(held_by(plan, "50", "disagreement").find("51 fixed variables") != std::string::npos);
}

TEST_CASE("a name that looks like a pattern matches just itself") {
    Profile profile = cache_thrash();
    profile.files[0].path = "/data/f[1]*.h5";
    const plan::Plan plan = plan_of({profile}, Options{}, {});
    REQUIRE(plan.entries.size() == 1);
    CHECK(plan.entries[0].file == "/data/f\\[1]\\*.h5");
}

TEST_CASE("a plan is never larger than allowed") {
    Profile profile = cache_thrash();
    const File one = profile.files[0];
    for (int i = 0; i < 3000; ++i) {
        profile.files.push_back(one);
        profile.files.back().path = "/data/" + std::to_string(i) + ".h5";
    }
    const plan::Plan plan = plan_of({profile}, Options{}, {});
    CHECK(plan::compiled_bytes(plan) <= 65536);
    CHECK(plan.entries.size() > 100);
    REQUIRE_FALSE(plan.origin.notes.empty());
    CHECK(plan.origin.notes.back().find("are left out") != std::string::npos);
}

TEST_CASE("a program fails as it is only if ranks waited, or if HDF5 refuses") {
    Profile waits = tests::plain_run();
    tests::together(waits, 4);
    tests::first(waits).writes = tests::accesses(28, {1});
    tests::first(waits).writes->requested_collective = 28;
    tests::first(waits).writes->active = Span{0.0, 7.0};
    waits.files[0].hdf5->transfer_orders = {{ProcessSet(3, 3), 7, "a"}, {ProcessSet(0, 2), 8, "b"}};
    waits.run.command_s = 60;
    CHECK(decision(waits, Options{}, "74"));
    waits.run.command_s = 7.5;  // ended from outside, between two calls
    CHECK_FALSE(decision(waits, Options{}, "74"));

    Profile alone = tests::plain_run();
    tests::together(alone, 2);
    tests::first(alone).filters.push_back({1, "deflate", {4}});
    tests::first(alone).writes = tests::accesses(10, {100});
    tests::first(alone).writes->requested_independent = 10;
    CHECK(decision(alone, Options{}, "29"));
    tests::together(alone, 1);
    CHECK_FALSE(decision(alone, Options{}, "29"));
}
