// SPDX-License-Identifier: Apache-2.0
// The one estimator of what reads take: for a chunk cache, for other chunks, for sources.
#include <doctest/doctest.h>

#include <algorithm>

#include "intent/plan/compile.hpp"
#include "intent/profile/profile_json.hpp"
#include "intent/rules/for_reads.hpp"
#include "intent/rules/read_cost.hpp"
#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;
using tests::decision;

namespace {

/// A file that is there, with a dataset of floats or doubles.
Profile reader(const Extents& dims, const Extents& chunk, std::uint64_t item_bytes, bool packed) {
    Profile made = tests::plain_run();
    made.run.processes[0].hdf5_version = "1.14.6";  // a chunk cache of 1 MiB
    tests::shape(made, dims, chunk);
    Dataset& dataset = tests::first(made);
    dataset.creates = made.files[0].hdf5->creates = 0;
    dataset.type->bytes = item_bytes;
    if (packed) dataset.filters.push_back({1, "deflate", {4}});
    return made;
}

/// Calls of which so many begin in another chunk than the one before.
void reads(Profile& p, std::uint64_t calls, const Extents& length, std::uint64_t changes) {
    Dataset& dataset = tests::first(p);
    dataset.reads = tests::accesses(calls, length, *dataset.type->bytes);
    dataset.reads->order = Order{0, 0, calls - 1, 0, {}, changes};
    dataset.reads->processes = 1;
    dataset.reads->elapsed_s = 9;
}

std::optional<Relaid> relaid(const Profile& profile) {
    Subject subject{profile, profile.files[0]};
    subject.dataset = &profile.files[0].datasets[0];
    return relaid_for_reads(subject);
}

double number(const Decision& one, const char* name) {
    const auto fact = std::ranges::find(one.reason.evidence, name, &plan::Fact::name);
    REQUIRE(fact != one.reason.evidence.end());
    if (const auto* real = std::get_if<double>(&fact->value)) return *real;
    return static_cast<double>(std::get<std::uint64_t>(fact->value));
}

/// Single samples at random out of six chunks of 500.
Profile samples() {
    Profile made = reader({3000, 288, 19}, {500, 288, 19}, 4, true);
    reads(made, 60, {1, 288, 19}, 50);
    return made;
}

}  // namespace

TEST_CASE("rule 13 counts how often chunks come back over the run") {
    const auto cache = decision(samples(), Options{}, "13");
    REQUIRE(cache);
    CHECK_FALSE(cache->held);
    CHECK(std::get<std::uint64_t>(*cache->proposal.settings[0].profiled) >= 6 * 500 * 288 * 19 * 4);
    CHECK(cache->effect.starts_with("chunks are brought into the cache 6 times instead of 60; "));
    CHECK(number(*cache, "estimated.times") == doctest::Approx(9.7).epsilon(0.05));
    CHECK(number(*cache, "estimated.saved") == doctest::Approx(8.07).epsilon(0.02));
    const auto other = decision(samples(), Options{}, "75");
    REQUIRE(other);
    CHECK(number(*other, "estimated.times") > 40);
    CHECK(number(*other, "estimated.saved") > number(*cache, "estimated.saved"));

    // Where all of them have no room, one at least.
    Profile narrow = samples();
    narrow.run.node_memory_bytes = 128 << 20U;
    const auto one = decision(narrow, Options{}, "13");
    REQUIRE(one);
    CHECK_FALSE(one->held);
    CHECK(std::get<std::uint64_t>(*one->proposal.settings[0].profiled) < 14 << 20U);
    CHECK(number(*one, "estimated.times") == doctest::Approx(1.17).epsilon(0.02));

    // Whole chunks come back too, where they are unpacked each time.
    Profile whole = reader({3000, 288, 19}, {100, 288, 19}, 4, true);
    reads(whole, 120, {100, 288, 19}, 119);
    REQUIRE(decision(whole, Options{}, "13"));
    CHECK(number(*decision(whole, Options{}, "13"), "estimated.loads_then") == 30);
    tests::first(whole).filters.clear();
    CHECK_FALSE(decision(whole, Options{}, "13"));
}

TEST_CASE("what other chunks save on top of a cache is what the cache leaves") {
    const Profile profile = samples();
    const std::string text = to_json(profile);
    const plan::Plan plan = plan_of({profile}, Options{}, {});
    const std::vector<std::byte> bytes = plan::compile(plan, "plan", [](auto) { return "h"; });
    std::string_view problem;
    const plan::PlanView kept = plan::PlanView::decode(bytes, problem);
    const auto alone = badly_read({"profile", text});
    const auto beside = badly_read({"profile", text}, &kept);
    REQUIRE(alone.size() == 1);
    REQUIRE(beside.size() == 1);
    const auto cache = decision(profile, Options{}, "13");
    const double by_cache = number(*cache, "estimated.saved");
    CHECK(*beside[0].saved_s == doctest::Approx(*alone[0].saved_s - by_cache).epsilon(0.1));
    CHECK(beside[0].times < alone[0].times);

    // A cache for all chunks unpacks each of them once, as other chunks would be: no second gain.
    Profile rows = reader({781300}, {7813}, 4, true);
    reads(rows, 2000, {100}, 1900);
    const plan::Plan all = plan_of({rows}, Options{}, {});
    const auto cached = plan::compile(all, "plan", [](auto) { return "h"; });
    const plan::PlanView with = plan::PlanView::decode(cached, problem);
    CHECK(badly_read({"profile", to_json(rows)}).size() == 1);
    CHECK(badly_read({"profile", to_json(rows)}, &with).empty());
}

TEST_CASE("files of one pattern save together") {
    Profile profile = samples();
    profile.files[0].path = "/data/day1.h5";
    profile.files.push_back(profile.files[0]);
    profile.files[1].path = "/data/day2.h5";
    Options options;
    options.file_globs = {{"/data/day1.h5", "/data/day*.h5"}, {"/data/day2.h5", "/data/day*.h5"}};
    const auto saved = [&] {
        const plan::Plan plan = plan_of({profile}, options, {});
        REQUIRE(plan.entries.size() == 1);
        const auto& evidence = plan.entries[0].settings[0].because.evidence;
        const auto fact = std::ranges::find(evidence, "estimated.saved", &plan::Fact::name);
        return fact == evidence.end() ? 0.0 : std::get<double>(fact->value);
    };
    CHECK(saved() == doctest::Approx(16.1).epsilon(0.02));
    tests::first(profile).reads->elapsed_s.reset();
    CHECK(saved() == 0.0);  // not known of one, so not of both
}

TEST_CASE("chunks follow from the reads, whatever their size is now") {
    // Series at points out of maps of 253 KiB.
    Profile maps = reader({1000, 180, 360}, {1, 180, 360}, 4, true);
    reads(maps, 50, {1000, 1, 1}, 0);
    const auto series = relaid(maps);
    REQUIRE(series);
    CHECK(series->chunk[0] >= 500);
    CHECK(series->saving.times > 100);
    CHECK(decision(maps, Options{}, "75"));

    // Rows of a sparse matrix: small chunks where unpacking is what takes the time.
    Profile rows = reader({1000000}, {7813}, 8, true);
    reads(rows, 400, {100}, 396);
    const auto small = relaid(rows);
    REQUIRE(small);
    CHECK(small->chunk[0] <= 4096);
    CHECK(small->saving.times == doctest::Approx(3.4).epsilon(0.1));
    // Rows of many lengths, of which the profile keeps a few: all of them count.
    Profile many = reader({4000000}, {7813}, 8, true);
    reads(many, 8000, {100}, 7989);
    tests::first(many).reads->shapes[0].calls = 109;
    const auto cache = decision(many, Options{}, "13");
    REQUIRE(cache);
    CHECK(
        cache->reason.text.starts_with("8000 calls, most often of 100 elements, went 7989 times"));
    CHECK(number(*cache, "estimated.loads_now") > 7989);
    CHECK(number(*cache, "estimated.loads_then") == 512);
    CHECK(
        decision(many, Options{}, "75")->reason.text.starts_with("/d: 8000 reads, most often of"));
    reads(rows, 4000, {100}, 50);  // one after the other: the cache has them
    CHECK_FALSE(relaid(rows));
    Profile plain = reader({1000000}, {7813}, 8, false);
    reads(plain, 400, {100}, 396);
    CHECK_FALSE(relaid(plain));
    CHECK_FALSE(decision(plain, Options{}, "75"));
}

TEST_CASE("reads by points say nothing of the chunks that they need") {
    // 400 calls of a few rows each, and two columns that other chunks would suit.
    Profile rows = reader({100000, 100}, {1000, 100}, 4, true);
    reads(rows, 2, {100000, 1}, 397);
    Transfers& side = *tests::first(rows).reads;
    REQUIRE(relaid(rows));
    side.calls = 402;
    side.bytes = 402 * 1600;
    Shape few;
    few.selection = Selection::irregular;
    few.calls = 400;
    few.call_bytes = 1600;
    side.shapes.push_back(few);
    CHECK_FALSE(relaid(rows));
    CHECK_FALSE(decision(rows, Options{}, "75"));
    const auto cache = decision(rows, Options{}, "13");
    REQUIRE(cache);
    CHECK(std::ranges::none_of(cache->reason.evidence, [](const plan::Fact& one) {
        return one.name.starts_with("estimated");
    }));
}

TEST_CASE("a plan's cache lasts until its file is closed") {
    Profile each = samples();
    each.files[0].hdf5->opens = each.files[0].hdf5->read_only_opens = 60;
    tests::first(each).opens = 60;
    CHECK_FALSE(decision(each, Options{}, "13")->effect.starts_with("chunks are brought"));
    CHECK(number(*decision(each, Options{}, "13"), "estimated.saved") < 0.5);
    each.files[0].hdf5->opens = each.files[0].hdf5->read_only_opens = 1;
    CHECK(number(*decision(each, Options{}, "13"), "estimated.loads_then") == 6);
    each.files[0].hdf5->read_only_opens = 0;  // open to be written: until the dataset is
    CHECK_FALSE(decision(each, Options{}, "13")->effect.starts_with("chunks are brought"));
}

TEST_CASE("a file saves what its datasets save together") {
    const auto one = [](double now, double then) {
        return Relaid{"/d", {1}, {now / then, 1.0}, {}, now, then};
    };
    const Saving all = saving_of(std::vector<Relaid>{one(60, 1), one(100000, 50000)});
    CHECK(all.times == doctest::Approx(2.0).epsilon(0.01));
    CHECK(*all.seconds == 2.0);
}

TEST_CASE("what lies well is left alone") {
    // A sample is one piece of a contiguous dataset, and of a chunk that no cache holds.
    Profile whole = reader({3000, 288, 19}, {}, 4, false);
    reads(whole, 60, {1, 288, 19}, 0);
    CHECK_FALSE(relaid(whole));
    Profile large = reader({3000, 288, 19}, {500, 288, 19}, 4, false);
    reads(large, 60, {1, 288, 19}, 50);
    CHECK_FALSE(relaid(large));
    // Blocks by the chunks.
    Profile blocks = reader({256, 256, 256}, {64, 64, 64}, 4, true);
    reads(blocks, 64, {64, 64, 64}, 63);
    CHECK_FALSE(relaid(blocks));
    // All chunks fit the cache of a newer library, and it is opened once.
    Profile cached = reader({512, 1024}, {1, 1024}, 4, true);
    reads(cached, 1000, {512, 1}, 0);
    CHECK(relaid(cached));
    cached.run.processes[0].hdf5_version = "2.0.0";
    CHECK_FALSE(relaid(cached));
    tests::first(cached).opens = 1000;
    CHECK(relaid(cached));
    // Nothing of a file that is written, or made.
    Profile maps = reader({1000, 180, 360}, {1, 180, 360}, 4, true);
    reads(maps, 50, {1000, 1, 1}, 0);
    tests::first(maps).writes = tests::accesses(1, {1, 180, 360}, 4);
    CHECK_FALSE(decision(maps, Options{}, "75"));
}
