// SPDX-License-Identifier: Apache-2.0
// Plans: functions, the flat form and its damage, look-ups, JSON.
#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <random>

#include "core/error.hpp"
#include "core/hash.hpp"

#include "intent/plan/compile.hpp"
#include "intent/plan/lookup.hpp"
#include "intent/plan/plan_json.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::plan;
using tailrace::core::Error;

namespace {

using Numbers = std::vector<std::uint64_t>;

Planned literal(const std::string& key, Setting value) {
    return {key, std::move(value), {}, {}, Class::safe, {}, {"13", "because", {}, "", ""}};
}

Plan sample() {
    Plan plan;
    plan.entries.push_back(
        {"/data/run_*/out.h5",
         "",
         When::create,
         {literal("alignment_threshold_bytes", std::uint64_t{65536}),
          {"alignment_bytes",
           {},
           Call{"fs_blocks", {{"count", 1}, {"low_bytes", 4096}, {"high_bytes", 1U << 24U}}, {}},
           {},
           Class::layout,
           {},
           {"1", "", {}, "", ""}},
          literal("hint.cb_nodes", std::string("4"))}});
    plan.entries.push_back(
        {"/data/run_*/out.h5",
         "/a/*",
         When::any,
         {literal("chunk", Extents{10, 20}), literal("chunk_cache_preemption", 0.5)}});
    plan.entries.push_back(
        {"/data/run_1/out.h5", "/a/b", When::any, {literal("chunk", Extents{5, 5})}});
    plan.entries.push_back(
        {"out.h5",
         "/a/b",
         When::any,
         {literal("fill_time", std::string("never")), literal("chunk", Extents{1, 1})}});
    plan.environment.push_back({"PNETCDF_HINTS", "a=1;b=2", {"53", "", {}, "", ""}});
    return plan;
}

struct Bytes {
    explicit Bytes(const std::vector<std::byte>& from) : words((from.size() + 7) / 8) {
        std::memcpy(words.data(), from.data(), from.size());
        size = from.size();
    }
    [[nodiscard]] std::span<const std::byte> all() const {
        return std::as_bytes(std::span(words)).first(size);
    }
    std::vector<std::uint64_t> words;  // so that it lies at a multiple of 8
    std::size_t size = 0;
};

Bytes compiled(const Plan& plan) { return Bytes(compile(plan, "p", tailrace::core::hash_hex)); }

const PlanSetting* setting(const Found& found, Key key) {
    for (const PlanSetting* one : found.all())
        if (one->key == static_cast<std::uint16_t>(key)) return one;
    return nullptr;
}

}  // namespace

TEST_CASE("a large plan has equal lists of settings once, and a small one keeps its hash") {
    Plan plan;
    const auto grow = [&plan](std::size_t count) {
        for (std::size_t i = plan.entries.size(); i < count; ++i)
            plan.entries.push_back({"/data/out.h5",
                                    "/x" + std::to_string(i),
                                    When::any,
                                    {literal("chunk", Extents{1 + i % 3, 20}),
                                     literal("chunk_cache_preemption", 0.5)}});
    };
    grow(100);
    CHECK(compiled_bytes(plan) > std::size_t{100} * 2 * sizeof(PlanSetting));
    grow(1000);
    CHECK(compiled_bytes(plan) <= largest_advised);
    const Bytes bytes = compiled(plan);
    std::string_view problem;
    const PlanView view = PlanView::decode(bytes.all(), problem);
    REQUIRE(problem.empty());
    for (std::size_t i = 0; i < 1000; ++i) {
        const Found found = find(view, "/data/out.h5", "/x" + std::to_string(i), Moment::create, 1);
        REQUIRE(found.count == 2);
        const PlanSetting* chunk = setting(found, Key::chunk);
        REQUIRE(chunk != nullptr);
        CHECK(view.numbers(*chunk)[0] == 1 + i % 3);
        CHECK(view.numbers(*chunk)[1] == 20);
    }
}

TEST_CASE("tiles keep within the extents and below the largest size") {
    const Numbers dims{100, 7}, tile{0, 10}, most{1U << 20U};
    Surroundings around{dims, dims, {}, 8, 4, 4096, 0};
    Value value = evaluate(Function::tile, most, tile, around);
    REQUIRE(value.state == Value::State::good);
    CHECK(value.extents[0] == 100);
    CHECK(value.extents[1] == 7);
    const Numbers small{800};
    value = evaluate(Function::tile, small, tile, around);
    CHECK(value.extents[0] == 13);  // 100 halved three times
    CHECK(value.extents[1] == 7);
    const Numbers three{1, 2, 3};
    CHECK(evaluate(Function::tile, most, three, around).state == Value::State::other_rank);
    const Numbers tiny{4};
    CHECK(evaluate(Function::tile, tiny, tile, around).state == Value::State::too_large);
    const Numbers open{0, 7}, unbound{unlimited, 7};
    Surroundings grows{open, unbound, {}, 8, 1, 0, 0};
    const Numbers wanted{64, 0};
    value = evaluate(Function::tile, most, wanted, grows);
    CHECK(value.extents[0] == 64);
    CHECK(value.state == Value::State::good);
}

TEST_CASE("tiles of which much would lie beyond the dataset become as many even ones") {
    const Numbers most{4U << 20U}, eights(6, 8), tens(6, 10);
    Surroundings around{tens, tens, {}, 4, 1, 0, 0};
    Value value = evaluate(Function::tile, most, eights, around);
    for (std::size_t d = 0; d < 6; ++d) CHECK(value.extents[d] == 5);
    // A profile of 1000 rows, and a run of 330: two chunks of 165 rows, not of 320.
    const Numbers wanted{320, 100}, rows{330, 100}, many{1000, 100}, open{unlimited, 100};
    around = {rows, rows, {}, 4, 1, 0, 0};
    CHECK(evaluate(Function::tile, most, wanted, around).extents[0] == 165);
    // A few rows more than there are cost less than chunks that cut through what the program moves.
    around = {many, many, {}, 4, 1, 0, 0};
    const Numbers fifths{256, 100};
    CHECK(evaluate(Function::tile, most, fifths, around).extents[0] == 256);
    // What can grow will be filled.
    around = {rows, open, {}, 4, 1, 0, 0};
    CHECK(evaluate(Function::tile, most, wanted, around).extents[0] == 320);
}

TEST_CASE("blocks per rank follow the size of the communicator") {
    const Numbers dims{100, 8}, numbers{0, 1U << 20U}, outside{2, 1U << 20U};
    Surroundings around{dims, dims, {}, 8, 8, 0, 0};
    CHECK(evaluate(Function::block_per_rank, numbers, {}, around).extents[0] == 13);
    around.ranks = 1000;
    CHECK(evaluate(Function::block_per_rank, numbers, {}, around).extents[0] == 1);
    CHECK(evaluate(Function::block_per_rank, outside, {}, around).state ==
          Value::State::other_rank);
}

TEST_CASE("there is no block of a rank in what can grow") {
    const Numbers none{0}, some{4000000}, open{unlimited}, rows{0, 1U << 24U};
    for (const Numbers* dims : {&none, &some}) {
        const Surroundings around{*dims, open, {}, 8, 4, 0, 0};
        CHECK(evaluate(Function::block_per_rank, rows, {}, around).state ==
              Value::State::not_known);
    }
    // Nor where another dimension grows: maps that are divided by columns.
    const Numbers maps{0, 100, 400}, of_time{unlimited, 100, 400}, columns{2, 1U << 24U};
    const Surroundings around{maps, of_time, {}, 8, 4, 0, 0};
    CHECK(evaluate(Function::block_per_rank, columns, {}, around).state == Value::State::not_known);
}

TEST_CASE("the chunks of a large block end where it ends") {
    const auto extents = [](const Numbers& dims, std::uint64_t dimension) {
        const Numbers numbers{dimension, 1U << 24U};
        const Surroundings around{dims, dims, {}, 8, 4, 0, 0};
        const Value value = evaluate(Function::block_per_rank, numbers, {}, around);
        if (value.state != Value::State::good) return Numbers{};
        return Numbers(value.extents.begin(),
                       value.extents.begin() + static_cast<std::ptrdiff_t>(value.ndims));
    };
    CHECK(extents({16777216}, 0) == Numbers{2097152});  // halves
    CHECK(extents({20000004}, 0) == Numbers{1666667});  // 5,000,001 of a rank: thirds
    CHECK(extents({4, 20000004}, 1) == Numbers{1, 1666667});
    CHECK(extents({1000, 12004}, 1) == Numbers{500, 3001});  // the other dimension first
    CHECK(extents({8589934588}, 0).empty());                 // a prime number of elements
}

TEST_CASE("a cache for a selection, and its slots") {
    const Numbers dims{2000, 3000}, chunk{50, 3000}, column{0, 1}, bound{120, 1, 1U << 30U};
    Surroundings around{dims, dims, chunk, 4, 1, 0, 0};
    CHECK(evaluate(Function::cache_of_selection, bound, column, around).number == 28800000);
    const Numbers factor{100};
    CHECK(evaluate(Function::slots_of_selection, factor, column, around).number == 4001);
    around.memory_bytes = 1U << 20U;  // half a cache is no cache
    CHECK(evaluate(Function::cache_of_selection, bound, column, around).state ==
          Value::State::too_large);
    around.chunk = {};
    CHECK(evaluate(Function::cache_of_selection, bound, column, around).state ==
          Value::State::not_chunked);
    CHECK(next_prime(0) == 2);
    CHECK(next_prime(90) == 97);
}

TEST_CASE("functions of anything give a valid value or none") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        const auto below = [&](std::uint64_t most) {
            const std::uint64_t raw = random();
            return (raw & 7U) == 0 ? raw : raw % most;
        };
        const std::size_t ndims = 1 + below(5) % 5;
        Numbers dims, chunk, selection;
        for (std::size_t d = 0; d < ndims; ++d) {
            dims.push_back(below(5000));
            chunk.push_back(below(100));
            selection.push_back(below(5000));
        }
        Surroundings around{
            dims, dims, chunk, below(100), below(10000), below(1U << 24U), below(1ULL << 40U)};
        for (const FunctionInfo& info : functions()) {
            Numbers numbers;
            for (const auto& name : info.numbers)
                if (!name.empty()) numbers.push_back(below(1ULL << 33U));
            const Value value =
                evaluate(info.function, numbers, info.extents ? selection : Numbers{}, around);
            if (value.state != Value::State::good) continue;
            if (info.result == plan::Shape::extents) {
                REQUIRE(value.ndims == ndims);
                std::uint64_t bytes = around.type_bytes;
                for (std::size_t d = 0; d < ndims; ++d) {
                    REQUIRE(value.extents[d] >= 1);
                    REQUIRE(value.extents[d] <= dims[d]);
                    bytes = times(bytes, value.extents[d]);
                }
                REQUIRE(bytes <= largest_chunk);
            }
            if (info.function == Function::slots_of_selection) {
                REQUIRE(value.number <= largest_slots);
                REQUIRE(next_prime(value.number) == value.number);
            }
            if (info.function == Function::cache_of_selection && around.memory_bytes > numbers[1])
                REQUIRE(value.number <= std::max(around.memory_bytes, numbers[1]));
        }
    }
}

TEST_CASE("the flat form says what the plan says") {
    const Bytes bytes = compiled(sample());
    std::string_view problem;
    const PlanView view = PlanView::decode(bytes.all(), problem);
    REQUIRE(problem.empty());
    CHECK(view.entries().size() == 4);
    CHECK(view.hash() == hash_of(sample(), "p", tailrace::core::hash_hex));
    Plan other = sample();
    other.environment[0].value = "a=2";
    CHECK(view.hash() != hash_of(other, "p", tailrace::core::hash_hex));
    other = sample();
    other.entries[0].settings[0].because.text = "another reason";
    CHECK(view.hash() == hash_of(other, "p", tailrace::core::hash_hex));
}

TEST_CASE("of several patterns the exact one wins, then the longest, then the first") {
    const Bytes bytes = compiled(sample());
    std::string_view problem;
    const PlanView view = PlanView::decode(bytes.all(), problem);
    Found found = find(view, "/data/run_1/out.h5", "/a/b", Moment::open, 1);
    CHECK(found.count == 3);  // each key by itself
    CHECK(view.numbers(*setting(found, Key::chunk))[0] == 5);
    found = find(view, "/data/run_2/out.h5", "/a/b", Moment::open, 1);
    CHECK(view.numbers(*setting(found, Key::chunk))[0] == 10);
    CHECK(view.text(setting(found, Key::fill_time)->text) == "never");
    found = find(view, "/elsewhere/out.h5", "/a/b", Moment::open, 1);
    CHECK(view.numbers(*setting(found, Key::chunk))[0] == 1);
    CHECK(find(view, "/data/run_1/sub/out.h5", "/a/c", Moment::open, 1).count == 0);
    CHECK(find(view, "/data/run_1/out.h5", "", Moment::open, 1).count == 0);  // only new files
    found = find(view, "/data/run_1/out.h5", "", Moment::create, 1);
    CHECK(found.count == 3);
    Surroundings around;
    around.block_bytes = 1U << 20U;
    CHECK(value_of(view, *setting(found, Key::alignment_bytes), around).number == 1U << 20U);
    around.block_bytes = 0;
    CHECK(value_of(view, *setting(found, Key::alignment_bytes), around).state ==
          Value::State::not_known);
    CHECK(matches_file(view, "/x/out.h5"));
    CHECK_FALSE(matches_file(view, "/x/in.h5"));
}

TEST_CASE("what was proven for some ranks holds for those only") {
    Plan plan;
    plan.entries.push_back(
        {"/f.h5", "/d", When::any, {literal("write_mode", std::string("collective"))}});
    plan.entries[0].settings[0].cls = Class::collective;
    plan.entries[0].settings[0].ranks = 4;
    const Bytes bytes = compiled(plan);
    std::string_view problem;
    const PlanView view = PlanView::decode(bytes.all(), problem);
    CHECK(find(view, "/f.h5", "/d", Moment::open, 4).count == 1);
    CHECK(find(view, "/f.h5", "/d", Moment::open, 8).count == 0);
}

TEST_CASE("a literal chunk that does not fit is dropped") {
    const Bytes bytes = compiled(sample());
    std::string_view problem;
    const PlanView view = PlanView::decode(bytes.all(), problem);
    const Found found = find(view, "/data/run_2/out.h5", "/a/b", Moment::create, 1);
    const Numbers wide{100, 100}, narrow{100, 19}, line{100};
    const auto at = [&](const Numbers& dims) {
        Surroundings around{dims, dims, {}, 8, 1, 0, 0};
        return value_of(view, *setting(found, Key::chunk), around).state;
    };
    CHECK(at(wide) == Value::State::good);
    CHECK(at(narrow) == Value::State::beyond_extent);
    CHECK(at(line) == Value::State::other_rank);
}

TEST_CASE("damage anywhere is found, or harmless") {
    const Bytes good = compiled(sample());
    std::string_view problem;
    for (std::size_t size = 0; size < good.size; ++size)
        CHECK(PlanView::decode(good.all().first(size), problem).empty());
    std::mt19937_64 random(3);
    for (int round = 0; round < 20000; ++round) {
        Bytes bad = good;
        auto* raw = reinterpret_cast<unsigned char*>(bad.words.data());
        for (std::uint64_t flips = 1 + random() % 4; flips > 0; --flips)
            raw[random() % bad.size] ^= static_cast<unsigned char>(1U << (random() % 8));
        const bool same = std::memcmp(bad.words.data(), good.words.data(), good.size) == 0;
        if (!same) CHECK(PlanView::decode(bad.all(), problem).empty());
        // As if somebody had made it so: nothing in it may lead astray.
        const std::uint64_t sum = checksum_of(bad.all());
        std::memcpy(raw + offsetof(PlanHeader, checksum), &sum, sizeof sum);
        const PlanView view = PlanView::decode(bad.all(), problem);
        const Numbers dims{100, 100};
        Surroundings around{dims, dims, dims, 8, 1, 4096, 0};
        for (const char* dataset : {"", "/a/b"}) {
            const Found found = find(view, "/data/run_1/out.h5", dataset, Moment::create, 1);
            for (const PlanSetting* one : found.all()) (void)value_of(view, *one, around);
        }
    }
    Bytes longer = good;
    longer.words.push_back(0);
    longer.size = longer.words.size() * 8;
    CHECK(PlanView::decode(longer.all(), problem).empty());
    CHECK(problem == "it is truncated, or something follows it");
    std::vector<std::byte> huge(largest_plan + 8);
    CHECK(PlanView::decode(huge, problem).empty());
    CHECK(problem == "it is longer than 512 KiB");
}

TEST_CASE("a plan is the same after writing and reading") {
    const std::string text = to_json(sample(), tailrace::core::hash_hex);
    const Plan again = plan_from_json(text, "plan.json", tailrace::core::hash_hex);
    CHECK(to_json(again, tailrace::core::hash_hex) == text);
}

TEST_CASE("a wrong plan says what is wrong, and where") {
    const auto fails = [](Plan plan, const char* text) {
        CHECK_THROWS_WITH_AS((void)compile(plan, "plan.json", tailrace::core::hash_hex),
                             doctest::Contains(text), Error);
    };
    Plan plan = sample();
    plan.entries[1].settings[0].key = "chunks";
    fails(plan,
          "plan.json: entries[1].settings[0]: there is no setting \"chunks\". Did you mean "
          "\"chunk\"?");
    plan = sample();
    plan.entries[1].settings[0].value = Extents{0, 4};
    fails(plan, "an extent of the chunk is 0");
    plan.entries[1].settings[0].value = Extents{1U << 31U, 4};
    fails(plan, "4 GiB");
    plan = sample();
    plan.entries[1].settings[1] = literal("chunk_cache_slots", std::uint64_t{100});
    fails(plan, "the slots of a chunk cache are a prime, not 100");
    plan.entries[1].settings[1] = literal("alignment_bytes", std::uint64_t{4096});
    fails(plan, "is a setting of files, and this entry is of a dataset");
    plan = sample();
    plan.entries[0].settings[1].function->numbers.erase("count");
    fails(plan, "\"fs_blocks\" needs the number \"count\"");
    plan = sample();
    plan.environment[0].name = "LD_PRELOAD";
    fails(plan, "a plan does not set \"LD_PRELOAD\"");
    plan = sample();
    for (int i = 0; i < 11000; ++i) {
        plan.entries.push_back(plan.entries[1]);
        plan.entries.back().file = "/data/" + std::to_string(i);
    }
    fails(plan, "may have 524288");
    std::string text = to_json(sample(), tailrace::core::hash_hex);
    text.replace(text.find("65536"), 5, "65537");
    CHECK_THROWS_WITH_AS((void)plan_from_json(text, "plan.json", tailrace::core::hash_hex),
                         doctest::Contains("do not give the hash"), Error);
}
