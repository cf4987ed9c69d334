// SPDX-License-Identifier: Apache-2.0
// Rules that look at how a dataset is laid out and in which turns it is used.
#include <doctest/doctest.h>

#include <algorithm>

#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::decision;
using tests::RuleCase;

namespace {

/// What holds a rule back that fires; empty: nothing does.
std::string guard_of(const Profile& profile, const char* rule) {
    const auto decided = decision(profile, Options{}, rule);
    REQUIRE(decided);
    return decided->held ? decided->held->guard_name() : "";
}

}  // namespace

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
    tests::first(profile).writes = tests::accesses(1, {65536, 1024});
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

TEST_CASE("rule 38 looks at the calls that convert") {
    Profile profile = tests::plain_run();
    Dataset& data = tests::first(profile);
    data.reads = tests::accesses(1, {1024 * 1024});
    data.writes = tests::accesses(100, {1024});
    const auto fires = [&] { return decision(profile, Options{}, "38").has_value(); };
    data.settings_of_program = {{"memory_type_differs", true}};
    CHECK(fires());
    data.settings_of_program["memory_type_differs_writing"] = true;
    CHECK_FALSE(fires());
    data.settings_of_program["memory_type_differs_reading"] = true;
    CHECK(fires());
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

TEST_CASE("rules 17 to 19 leave chunks alone that would cost more than they bring") {
    Profile profile = tests::plain_run();
    Dataset& dataset = tests::first(profile);
    const auto guard = [&profile](const char* rule) {
        const auto decided = decision(profile, Options{}, rule);
        REQUIRE(decided);
        return decided->held ? decided->held->guard_name() : "";
    };
    const auto turns = [](std::optional<Transfers> side, const Order& order) {
        side->order = order;
        return side;
    };
    // Rows in chunks of their own: read one after the other, and at random.
    tests::shape(profile, {4096, 4096}, {1, 4096});
    dataset.writes = turns(tests::accesses(4096, {1, 4096}), Order{4095, 0, 0, 0, {}});
    dataset.reads = turns(tests::accesses(4096, {1, 4096}), Order{4095, 0, 0, 0, {}});
    CHECK(guard("18") == "");
    dataset.reads->order = Order{3000, 0, 1095, 0, {}};
    CHECK(guard("18") == "places");
    dataset.reads->order = Order{0, 4095, 0, 0, {7, 0}};
    CHECK(guard("18") == "");
    dataset.reads->order = Order{0, 4095, 0, 0, {-64, 0}};  // each in a chunk of its own
    CHECK(guard("18") == "places");
    dataset.reads.reset();
    dataset.writes->order = Order{0, 0, 4095, 0, {}};
    CHECK(guard("18") == "places");
    // A cache that holds all of them would not be there either.
    for (const plan::Entry& entry : plan_of({profile}, Options{}, {}).entries)
        for (const plan::Planned& one : entry.settings) CHECK(one.key != "chunk");
    // Flushed after each row, or opened anew for it; every hundredth row does no harm.
    dataset.writes->order = Order{4095, 0, 0, 0, {}};
    profile.files[0].hdf5->flushes = 4096;
    CHECK(guard("18") == "flush");
    profile.files[0].hdf5->flushes = 41;
    CHECK(guard("18") == "");
    dataset.opens = 4096;
    CHECK(guard("18") == "flush");
    dataset.opens = 1;
    // Blocks here and there in a large matrix.
    dataset.writes = turns(tests::accesses(100, {1, 4096}), Order{0, 99, 0, 0, {1, 0}});
    CHECK(guard("18") == "sparse");
    // The same shape, grown, would be stored ten times over.
    tests::shape(profile, {18, 18, 18, 18, 18}, {3, 3, 3, 3, 3});
    dataset.writes = tests::accesses(18, {1, 18, 18, 18, 18});
    CHECK(guard("18") == "");
    tests::shape(profile, {19, 19, 19, 19, 19, 5}, {4, 4, 4, 4, 4, 4});
    dataset.writes = tests::accesses(19, {1, 19, 19, 19, 19, 5});
    CHECK(guard("18") == "");
    // Points at random of a contiguous dataset, and columns at random.
    tests::shape(profile, {4000, 4000});
    dataset.writes = tests::accesses(1, {4000, 4000});
    dataset.reads = turns(tests::accesses(3000, {4, 4}), Order{0, 0, 2999, 0, {}});
    CHECK(guard("17") == "places");
    dataset.reads = turns(tests::accesses(300, {4000, 1}), Order{0, 0, 299, 0, {}});
    CHECK(guard("17") == "");
    // Appends, with and without a flush after each.
    tests::shape(profile, {1048576}, {128});
    dataset.max_dims = {std::nullopt};
    dataset.extensions = Extensions{1024, {}};
    dataset.reads.reset();
    profile.files[0].hdf5->flushes = 0;
    dataset.writes = turns(tests::accesses(1024, {1024}), Order{1023, 0, 0, 0, {}});
    CHECK(guard("19") == "");
    profile.files[0].hdf5->flushes = 1024;
    CHECK(guard("19") == "flush");
}

TEST_CASE(
    "rule 11: a larger sieve buffer where it is used, and no larger than what is used of it") {
    Profile profile = tests::plain_run();
    Dataset& dataset = tests::first(profile);
    const auto buffer = [&profile] {
        const auto decided = decision(profile, Options{}, "11");
        if (!decided || decided->held) return std::uint64_t{0};
        return std::get<std::uint64_t>(*decided->proposal.settings.at(0).value);
    };
    const auto reads = [&dataset](const Extents& length, const Extents& stride) {
        dataset.reads = tests::accesses(100, length);
        dataset.reads->shapes[0].stride = stride;
    };
    tests::shape(profile, {100, 400000});
    // One piece of each row: each would read a whole buffer.
    reads({16, 200}, {1, 1});
    CHECK(buffer() == 0);
    // Every fifth element of a quarter of the rows.
    reads({8, 20000}, {1, 5});
    CHECK(buffer() == (19999ULL * 5 + 1) * 8);
    // Elements of which the library would read one by one.
    reads({8, 20}, {1, 20000});
    CHECK(buffer() == 0);
}

TEST_CASE("rule 8 does not take a dataset that is opened again for another one") {
    Profile profile = tests::plain_run();
    tests::operations(profile, "dataset").open = 10000;
    CHECK_FALSE(decision(profile, Options{}, "8"));
    for (int number = 0; number < 5000; ++number)
        profile.files[0].datasets.push_back(tests::dataset("/n" + std::to_string(number), 8, 1));
    REQUIRE(decision(profile, Options{}, "8"));
    CHECK(decision(profile, Options{}, "8")->reason.text.find("5001 objects") != std::string::npos);
}

TEST_CASE("rule 18 takes what grew far for what will grow again, and nothing else") {
    Profile lines = tests::plain_run();
    // Lines of 128 bytes in chunks of their own, to 128 MiB: a first chunk of 1 MiB is little.
    tests::shape(lines, {1048576, 16}, {1, 16});
    tests::first(lines).max_dims = {std::nullopt, Count(16)};
    tests::first(lines).writes = tests::accesses(1048576, {1, 16});
    tests::first(lines).extensions = Extensions{1048576, {}};
    CHECK(guard_of(lines, "18") == "");
    // Maps of 40 KB, 1,000 of them: a file with one would hold 32.
    Profile maps = tests::plain_run();
    tests::shape(maps, {1000, 100, 100}, {1, 100, 100});
    tests::first(maps).type->bytes = 4;
    tests::first(maps).max_dims = {std::nullopt, Count(100), Count(100)};
    tests::first(maps).writes = tests::accesses(1000, {1, 100, 100}, 4);
    tests::first(maps).extensions = Extensions{1000, {}};
    CHECK(guard_of(maps, "18") == "extents");
    tests::first(maps).extensions.reset();  // it was created as large as that
    CHECK(guard_of(maps, "18") == "");
    // Blocks of ranks in what is empty when it is created: chunks of one element.
    Profile blocks = tests::plain_run();
    tests::together(blocks, 4);
    tests::shape(blocks, {4194304}, {1024});
    tests::first(blocks).writes = tests::accesses(4, {1048576});
    CHECK(guard_of(blocks, "18") == "");
    tests::first(blocks).max_dims = {std::nullopt};
    tests::first(blocks).extensions = Extensions{4, {}};
    CHECK(guard_of(blocks, "18") == "extents");
    // Chunks that become smaller hold no more than they did.
    Profile huge = tests::plain_run();
    tests::shape(huge, {4194304}, {8388608});
    tests::first(huge).max_dims = {std::nullopt};
    tests::first(huge).extensions = Extensions{4, {}};
    tests::first(huge).writes = tests::accesses(4, {1048576});
    CHECK(guard_of(huge, "18") == "");
}

TEST_CASE("rule 17 in a file of ranks has to save more than the fill values of its chunks") {
    Profile profile = tests::plain_run();
    tests::together(profile, 4);
    Dataset& dataset = tests::first(profile);
    // 16 GiB by blocks of rows, of which a column is 128 MiB of pages.
    tests::shape(profile, {32768, 65536});
    dataset.writes = tests::accesses(4, {8192, 65536});
    const auto guard = [&](std::uint64_t reads) {
        dataset.reads = tests::accesses(reads, {32768, 1});
        return guard_of(profile, "17");
    };
    CHECK(guard(4) == "fill");
    CHECK(guard(100) == "fill");
    CHECK(guard(200) == "");
    // A value of the program's own goes into a contiguous dataset as well, and without any there
    // is nothing to write.
    dataset.fill = Fill{"user", "ifset"};
    CHECK(guard(4) == "");
    dataset.fill = Fill{"default", "never"};
    CHECK(guard(4) == "");
    dataset.fill = Fill{"default", "ifset"};
    CHECK(guard(4) == "fill");
}

TEST_CASE("rule 17 gives no chunks that need a cache where there is none") {
    // Planes written and series read: each would touch 256 chunks of 1 MiB and more.
    Profile profile = tests::plain_run();
    tests::shape(profile, {10000, 1024, 1024});
    Dataset& dataset = tests::first(profile);
    dataset.writes = tests::accesses(10000, {1, 1024, 1024});
    dataset.reads = tests::accesses(9, {10000, 1, 1});
    CHECK(guard_of(profile, "17") == "");
    profile.run.node_memory_bytes.reset();  // 256 MiB then
    CHECK(guard_of(profile, "17") == "cache");
    profile.run.node_memory_bytes = 64ULL << 30U;
    dataset.settings_of_program["chunk_cache_bytes"] = std::uint64_t{16777216};
    CHECK(guard_of(profile, "17") == "cache");
    const auto decided = decision(profile, Options{}, "17");
    CHECK(decided->held->text.find("the program sets chunk_cache_bytes itself") !=
          std::string::npos);
    CHECK_FALSE(decision(profile, Options{}, "13"));
    // What is not packed goes past a cache that is too small for a chunk.
    dataset.settings_of_program["chunk_cache_bytes"] = std::uint64_t{0};
    CHECK(guard_of(profile, "17") == "");
}

TEST_CASE("nor does rule 18, where they would be worse than those of the program") {
    const auto guard = [](const Extents& chunk, bool packed) {
        Profile profile = tests::plain_run();
        tests::shape(profile, {10000000, 2}, chunk);
        Dataset& dataset = tests::first(profile);
        dataset.writes = tests::accesses(10000000, {1, 2});
        dataset.settings_of_program["chunk_cache_bytes"] = std::uint64_t{0};
        if (packed) dataset.filters.push_back({1, "deflate", {6}});
        return guard_of(profile, "18");
    };
    CHECK(guard({1, 2}, false) == "");
    CHECK(guard({1, 2}, true) == "cache");
    CHECK(guard({10000000, 2}, true) == "");
}

TEST_CASE("rule 18 grows packed chunks only where they are tiny") {
    const auto guard = [](std::uint64_t rows, bool packed) {
        Profile profile = tests::plain_run();
        tests::shape(profile, {6400, 1024}, {rows, 1024});  // of 8 KiB
        tests::first(profile).writes = tests::accesses(1, {6400, 1024});
        if (packed) tests::first(profile).filters.push_back({1, "deflate", {1}});
        return guard_of(profile, "18");
    };
    CHECK(guard(1, true) == "");
    CHECK(guard(2, true) == "filters");
    CHECK(guard(7, true) == "filters");
    CHECK(guard(7, false) == "");
}

TEST_CASE("rule 19: packed chunks fit into the cache that there is") {
    Profile profile = tests::plain_run();
    tests::shape(profile, {10000000}, {8192});
    Dataset& dataset = tests::first(profile);
    dataset.max_dims = {std::nullopt};
    dataset.extensions = Extensions{100, {}};
    dataset.writes = tests::accesses(100, {100000});
    const auto bytes = [&profile] {
        const auto decided = decision(profile, Options{}, "19");
        REQUIRE(decided);
        REQUIRE_FALSE(decided->held);
        return std::get<Extents>(*decided->proposal.settings.at(0).profiled).at(0) * 8;
    };
    profile.run.processes[0].hdf5_version = "1.14.6";
    CHECK(bytes() == 4194304);
    dataset.filters.push_back({1, "deflate", {6}});
    CHECK(bytes() == 1048576);
    profile.run.processes[0].hdf5_version = "2.2.0";  // whose cache has 8 MiB
    CHECK(bytes() == 4194304);
    dataset.settings_of_program["chunk_cache_bytes"] = std::uint64_t{65536};
    CHECK(guard_of(profile, "19") == "cache");
}

TEST_CASE("rule 23: many datasets that are only looked at stay out of their headers") {
    const auto guard = [](std::size_t datasets, std::uint64_t opens, std::uint64_t reads) {
        Profile profile = tests::plain_run();
        profile.files[0].datasets.assign(datasets, tests::dataset("/d", 6400, 1));  // 50 KiB
        Dataset& dataset = tests::first(profile);
        dataset.path = "/first";
        dataset.layout = "contiguous";
        dataset.creates = 1;
        dataset.opens = opens;
        if (reads > 0) dataset.reads = tests::accesses(reads, {6400});
        return guard_of(profile, "23");
    };
    CHECK(guard(500, 3, 0) == "opens");
    CHECK(guard(500, 3, 1) == "opens");
    CHECK(guard(500, 3, 2) == "");
    CHECK(guard(500, 1, 0) == "");  // when it was created
    CHECK(guard(300, 3, 0) == "");
}

TEST_CASE("rule 13 leaves large chunks alone of which HDF5 moves only pieces") {
    Profile profile = tests::plain_run();
    Dataset& dataset = tests::first(profile);
    tests::shape(profile, {100, 2048, 1024}, {1, 2048, 1024});  // 16 MiB each
    dataset.reads = tests::accesses(500, {1, 1, 8});
    dataset.reads->order = Order{0, 0, 499, 0, {}};
    CHECK(guard_of(profile, "13") == "places");
    // Points of all layers: few of them are worth no cache for all, many are.
    dataset.reads = tests::accesses(5, {100, 1, 1});
    CHECK(guard_of(profile, "13") == "places");
    dataset.reads = tests::accesses(5000, {100, 1, 1});
    CHECK(guard_of(profile, "13") == "");
    // One column after the other: each chunk comes once into the cache.
    dataset.reads = tests::accesses(102400, {1, 2048, 1});
    dataset.reads->order = Order{0, 102399, 0, 0, {0, 0, 1}};
    CHECK(guard_of(profile, "13") == "");
    // With filters each call unpacks a whole chunk anyway.
    dataset.reads = tests::accesses(500, {1, 1, 8});
    dataset.reads->order = Order{0, 0, 499, 0, {}};
    dataset.filters.push_back({1, "deflate", {6}});
    CHECK(guard_of(profile, "13") == "");
}

TEST_CASE("extents that nobody can have are no chunks, and sizes do not overflow") {
    Profile profile = tests::plain_run();
    tests::together(profile, 4);
    tests::shape(profile, {8, 64}, {0, 64});
    tests::first(profile).writes = tests::accesses(4, {2, 64});
    CHECK_FALSE(decision(profile, Options{}, "18"));
    profile = tests::plain_run();
    tests::shape(profile, {1ULL << 30U, 1ULL << 30U}, {1, 1});
    tests::first(profile).writes = tests::accesses(1, {1, 1});
    CHECK_FALSE(decision(profile, Options{}, "15"));
}
