// SPDX-License-Identifier: Apache-2.0
// Rules that look at how a dataset is laid out and in which turns it is used.
#include <doctest/doctest.h>

#include <algorithm>

#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::decision;
using tests::RuleCase;

TEST_CASE("chunks that come in turns get a cache that holds them all") {
    // Maps in chunks of their own, of which a call takes a few rows.
    const auto cache_for = [](std::uint64_t changes, std::uint64_t processes = 1) {
        Profile profile = tests::plain_run();
        tests::shape(profile, {96, 512, 512}, {1, 512, 512});
        tests::first(profile).reads = tests::accesses(3072, {1, 16, 512});
        tests::first(profile).reads->processes = processes;
        tests::first(profile).reads->order = Order{2900, 0, 171, 0, {}, changes};
        for (const plan::Entry& entry : plan_of({profile}, Options{}, {}).entries)
            for (const plan::Planned& one : entry.settings)
                if (one.key == "chunk_cache_bytes") return std::get<std::uint64_t>(*one.profiled);
        return std::uint64_t{0};
    };
    constexpr std::uint64_t all = 96ULL * 512 * 512 * 8;
    CHECK(cache_for(3071) >= all);
    CHECK(cache_for(192) >= all);
    CHECK(cache_for(191) == 0);  // one round, and somewhat more
    CHECK(cache_for(95) == 0);   // each chunk to its end
    CHECK(cache_for(4 * 95, 4) == 0);
    CHECK(cache_for(4 * 192, 4) >= all);
}

TEST_CASE("chunks that rule 17 gives get a cache that holds those of a column") {
    Profile profile = tests::plain_run();
    tests::shape(profile, {65536, 2048});
    tests::first(profile).writes = tests::accesses(65536, {1, 2048});
    tests::first(profile).reads = tests::accesses(100, {65536, 1});
    const auto rules_of = [&profile](const Options& options) {
        std::string found;
        for (const plan::Entry& entry : plan_of({profile}, options, {}).entries)
            for (const plan::Planned& one : entry.settings) found += one.key + " ";
        return found;
    };
    CHECK(rules_of(Options{}).find("chunk_cache_bytes") != std::string::npos);
    Options only_safe;
    only_safe.allowed = {plan::Class::safe};
    CHECK(rules_of(only_safe) == "");
    tests::first(profile).creates = 0;  // its layout is what it is
    CHECK(rules_of(Options{}) == "");
}

TEST_CASE("so do chunks that rule 18 lets grow") {
    Profile profile = tests::plain_run();
    tests::shape(profile, {65536, 1024}, {16, 16});
    tests::first(profile).filters.push_back({1, "deflate", {6}});
    tests::first(profile).reads = tests::accesses(1000, {65536, 1});
    for (const plan::Entry& entry : plan_of({profile}, Options{}, {}).entries)
        for (const plan::Planned& one : entry.settings)
            if (one.key == "chunk_cache_bytes") {
                // A chunk becomes 256 x 512 elements: 256 of them, and a fifth more.
                CHECK(std::get<std::uint64_t>(*one.profiled) == 256ULL * 1048576 * 6 / 5);
                CHECK(one.because.text.find("which rule 18 gives it") != std::string::npos);
                return;
            }
    FAIL("no chunk cache");
}

TEST_CASE("rule 18: columns of ranks side by side, written independently, become blocks of ranks") {
    Profile profile = tests::plain_run();
    const auto& cases = tests::dataset_cases();
    const auto side_by_side = std::find_if(cases.begin(), cases.end(), [](const RuleCase& one) {
        return one.rule == "18" && one.guard == "reads";
    });
    REQUIRE(side_by_side != cases.end());
    side_by_side->evidence(profile);
    const auto decided = [&profile] { return decision(profile, Options{}, "18"); };
    REQUIRE(decided());
    const Set set = decided()->proposal.settings.at(0);
    CHECK(set.key == "chunk");
    REQUIRE(set.function);
    CHECK(set.function->name == "block_per_rank");
    CHECK(set.function->numbers.at("dimension") == 1);
    CHECK(decided()->reason.text.find("pieces of 16 bytes") != std::string::npos);
    // By blocks of the ranks, or as a whole, it may be read.
    tests::first(profile).reads = tests::accesses(4, {16384, 2});
    CHECK_FALSE(decided()->held);
    tests::first(profile).reads = tests::accesses(4, {16384, 8});
    CHECK_FALSE(decided()->held);
    tests::first(profile).reads.reset();
    // Collective writes put the pieces together, and long pieces need no other layout.
    tests::first(profile).writes->requested_independent = 0;
    CHECK_FALSE(decided());
    tests::first(profile).writes->requested_independent = 4;
    tests::shape(profile, {16, 8192});
    tests::first(profile).writes->shapes[0].length = {16, 2048};
    CHECK_FALSE(decided());
}

TEST_CASE("rule 20 is for fill values that the library writes before the program does") {
    const auto fires = [](const Fill& fill, const char* allocation, const Extents& chunk,
                          std::uint64_t whole = 0) {
        Profile profile = tests::plain_run();
        tests::shape(profile, {512 * 1024}, chunk);
        Dataset& dataset = tests::first(profile);
        dataset.fill = fill;
        dataset.allocation = allocation;
        dataset.writes = tests::accesses(2, {256 * 1024});
        dataset.writes->whole = whole;
        return decision(profile, Options{}, "20").has_value();
    };
    CHECK(fires({"user", "ifset"}, "late", {}));
    CHECK(fires({"user", "ifset"}, "early", {}, 1));
    CHECK_FALSE(fires({"user", "ifset"}, "late", {}, 1));  // the first write is of all of it
    CHECK_FALSE(fires({"user", "never"}, "early", {}));
    // Its own value the library does not write into a contiguous dataset, unless it is told to.
    CHECK_FALSE(fires({"default", "ifset"}, "late", {}));
    CHECK_FALSE(fires({"default", "ifset"}, "early", {}));
    CHECK(fires({"default", "alloc"}, "late", {}));
    CHECK_FALSE(fires({"undefined", "ifset"}, "early", {}));
    // Chunks that are allocated together get it too.
    CHECK(fires({"default", "ifset"}, "early", {64 * 1024}));
    CHECK(fires({"default", "ifset"}, "late", {64 * 1024}));
    CHECK_FALSE(fires({"user", "ifset"}, "incremental", {64 * 1024}));
}
