// SPDX-License-Identifier: Apache-2.0
// Declared intents win over derived ones; what the profile has against them is said.
#include <doctest/doctest.h>

#include "core/error.hpp"
#include "intent/intents/declared.hpp"
#include "intent/intents/intents_json.hpp"
#include "intent/plan/plan_json.hpp"
#include "intent/profile/profile_json.hpp"
#include "intent/rules/advise.hpp"
#include "profiles.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::tests;

namespace {

Settings declared(const std::string& key, const Setting& value) { return {{key, value}}; }

/// A dataset of 800 bytes that was written, and read where `read`.
Profile run(bool read, std::uint64_t ranks = 1) {
    Profile made = profile(ranks);
    File one = file("/d/a.h5", 0, ranks - 1);
    Dataset data = dataset("/x", 100, ranks);
    data.writes = transfers(4, 800, 0, 1);
    if (read) data.reads = transfers(4, 800, 1, 2);
    one.datasets = {data};
    made.files = {one};
    return made;
}

const DeclaredIntent& the(const std::vector<DeclaredIntent>& all, const std::string& name) {
    for (const DeclaredIntent& one : all)
        if (one.name == name) return one;
    FAIL("nothing was declared of " << name);
    return all.front();
}

Statement said(const std::string& value, Confidence confidence = Confidence::high) {
    Statement made;
    made.value = value;
    made.confidence = confidence;
    return made;
}

}  // namespace

TEST_CASE("what is declared wins, with full confidence and where it is from") {
    Profile made = run(false);
    made.files[0].declared = {
        {"property_list", ProcessSet(0, 0), declared("reliability", "scratch")}};
    made.files[0].datasets[0].declared = {
        {"context_manager", ProcessSet(0, 0), declared("full_coverage", "yes")}};
    const Intents found = intents(made);
    const FileIntent& file = found.files.at("/d/a.h5");
    CHECK(file.reliability.value == "scratch");
    CHECK(file.reliability.confidence == Confidence::full);
    CHECK(file.reliability.evidence.at(0).from == "property_list");
    CHECK(std::get<std::string>(file.reliability.evidence.at(1).value) == "durable");
    const DatasetIntent& data = found.datasets.at("/d/a.h5:/x");
    CHECK(data.reliability.value == "scratch");  // that of its file
    CHECK(data.full_coverage.value == "yes");
    CHECK(data.full_coverage.confidence == Confidence::full);
    CHECK_FALSE(the(file.declared, "reliability").contradiction.has_value());
    CHECK(found.workload.reliability.value == "scratch");
    // It survives its JSON.
    const Intents again = intents_from_json(to_json(found), "i");
    CHECK(again.files.at("/d/a.h5").declared.at(0).from == "property_list");
    CHECK(to_json(again) == to_json(found));
}

TEST_CASE("the program's own list wins over a block, that over the command line and files") {
    Profile made = run(false);
    auto& all = made.files[0].declared;
    const auto order = [&] { return intents(made).files.at("/d/a.h5").order.value; };
    all.push_back({"environment", {}, declared("order", "random")});
    CHECK(order() == "random");
    all.push_back({"file", {}, declared("order", "strided")});
    CHECK(order() == "strided");
    all.push_back({"command_line", {}, declared("order", "repeated")});
    CHECK(order() == "repeated");
    all.push_back({"property_list", {}, declared("order", "sequential")});
    CHECK(order() == "sequential");
    all.push_back({"context_manager", {}, declared("order", "mixed")});
    CHECK(order() == "sequential");
    CHECK_FALSE(the(intents(made).files.at("/d/a.h5").declared, "order").contradiction);
}

TEST_CASE("a declaration that the profile contradicts is kept, and said") {
    Profile made = run(true);
    made.files[0].declared = {{"file", {}, declared("type", "write_only")}};
    const FileIntent file = intents(made).files.at("/d/a.h5");
    CHECK(file.type.value == "write_only");
    CHECK(file.mode.value == "write_only");
    const auto& against_it = the(file.declared, "type").contradiction;
    REQUIRE(against_it);
    CHECK(against_it->find("the profile says read_after_write (bytes_read 800 bytes") == 0);
}

TEST_CASE("which statements contradict a word, and which one run cannot tell") {
    const auto contradicts = [](const char* key, const char* word, const char* seen) {
        return against(key, word, said(seen)).has_value();
    };
    CHECK(contradicts("type", "read_only", "write_only"));
    CHECK(contradicts("type", "write_only", "read_write"));
    CHECK(contradicts("type", "read_after_write", "read_before_write"));
    CHECK_FALSE(contradicts("type", "read_after_write", "write_only"));  // read by another run
    CHECK_FALSE(contradicts("type", "write_only", "no_data"));
    CHECK(contradicts("reuse", "once", "re_read"));
    CHECK(contradicts("reuse", "re_read", "re_read_and_rewritten"));
    CHECK_FALSE(contradicts("reuse", "re_read", "once"));
    CHECK(contradicts("order", "sequential", "random"));
    CHECK_FALSE(contradicts("order", "sequential", "one_transfer"));
    CHECK(contradicts("how_shared", "disjoint_blocks", "overlapping"));
    CHECK_FALSE(contradicts("sharing_pattern", "shared", "independent"));
    CHECK(contradicts("collective", "not_requested", "done"));
    CHECK(contradicts("collective", "requested", "not_requested"));
    CHECK_FALSE(contradicts("collective", "requested", "done"));
    CHECK(contradicts("full_coverage", "yes", "no"));
    CHECK(contradicts("reliability", "scratch", "durable"));
    CHECK(contradicts("producer_consumer", "no", "yes"));
    CHECK_FALSE(contradicts("producer_consumer", "producer", "yes"));
    CHECK_FALSE(against("order", "random", said("sequential", Confidence::low)));
    CHECK_FALSE(against("order", "random", said("not known")));
    CHECK(against("most transfers have", 10, Count(22)));
    CHECK(against("most transfers have", 50, Count(22)));
    CHECK_FALSE(against("most transfers have", 11, Count(22)));
    CHECK_FALSE(against("most transfers have", 11, Count()));
}

TEST_CASE("a flush contradicts scratch; a consumer does not only write") {
    Profile made = run(false);
    made.files[0].hdf5->flushes = 3;
    made.files[0].declared = {{"file", {}, declared("reliability", "scratch")},
                              {"file", {}, declared("producer_consumer", "consumer")}};
    const FileIntent file = intents(made).files.at("/d/a.h5");
    CHECK(file.reliability.value == "scratch");
    CHECK(the(file.declared, "reliability").contradiction->find("flushes 3 calls") !=
          std::string::npos);
    CHECK(the(file.declared, "producer_consumer").contradiction.has_value());
}

TEST_CASE("numbers: sizes and the place in the order") {
    Profile made = run(false);
    made.files[0].datasets[0].declared = {
        {"file", {}, {{"size_bytes", std::uint64_t{8000}}, {"sequence", std::uint64_t{4}}}}};
    const DatasetIntent data = intents(made).datasets.at("/d/a.h5:/x");
    CHECK(data.fs_size->bytes == 8000);
    CHECK(data.sequence == 4);
    CHECK(*the(data.declared, "size_bytes").contradiction ==
          "the profile says its size is 800 bytes");
    CHECK(*the(data.declared, "sequence").contradiction == "the profile says it was number 0");
}

TEST_CASE("processes that declare differently: the most careful word, and it is said") {
    Profile made = run(false, 2);
    made.files[0].declared = {
        {"property_list", ProcessSet(0, 0), declared("reliability", "durable")},
        {"property_list", ProcessSet(1, 1), declared("reliability", "scratch")}};
    const FileIntent file = intents(made).files.at("/d/a.h5");
    CHECK(file.reliability.value == "durable");
    CHECK(the(file.declared, "reliability").contradiction->find("declared differently") == 0);
}

TEST_CASE("a durable dataset makes its file durable, a scratch one does not change it") {
    Profile made = run(false);
    made.run.file_systems = {{"/d", "tmpfs", {}}};
    auto& data = made.files[0].datasets[0];
    CHECK(intents(made).files.at("/d/a.h5").reliability.value == "scratch");
    data.declared = {{"property_list", {}, declared("reliability", "durable")}};
    CHECK(intents(made).files.at("/d/a.h5").reliability.value == "durable");
    CHECK(intents(made).files.at("/d/a.h5").reliability.confidence == Confidence::full);
    made.run.file_systems = {{"/d", "ext4", {}}};
    data.declared = {{"property_list", {}, declared("reliability", "scratch")}};
    CHECK(intents(made).files.at("/d/a.h5").reliability.value == "durable");
}

TEST_CASE("a durable dataset makes a scratch file durable, and that contradicts nothing") {
    Profile made = run(false);
    made.files[0].declared = {{"property_list", {}, declared("reliability", "scratch")}};
    made.files[0].datasets[0].declared = {
        {"property_list", {}, declared("reliability", "durable")}};
    const Intents found = intents(made);
    CHECK(found.files.at("/d/a.h5").reliability.value == "durable");
    CHECK_FALSE(the(found.datasets.at("/d/a.h5:/x").declared, "reliability").contradiction);
    Dataset other = made.files[0].datasets[0];
    other.path = "/y";
    other.declared.clear();
    made.files[0].datasets.push_back(other);
    CHECK(intents(made).datasets.at("/d/a.h5:/y").reliability.value == "scratch");
}

TEST_CASE("where declarations were lost nothing else is, and files count as durable") {
    Profile made = run(false);
    made.files[0].declared = {{"property_list", {}, declared("reliability", "scratch")}};
    const Confidence sure = intents(made).files.at("/d/a.h5").type.confidence;
    made.origin.dropped["declarations"] = 1;
    const FileIntent file = intents(made).files.at("/d/a.h5");
    CHECK(file.type.confidence == sure);
    CHECK(file.reliability.value == "durable");
    CHECK(file.reliability.confidence == Confidence::low);
}

TEST_CASE("several profiles: what one declares holds, and the others are held against it") {
    Profile writer = run(false), other = run(true, 4);
    writer.files[0].declared = {{"property_list", {}, declared("type", "write_only")}};
    for (const bool first : {true, false}) {
        std::vector<NamedProfile> both{{"a", writer}, {"b", other}};
        if (!first) std::swap(both[0], both[1]);
        const FileIntent file = intents_of(both).files.at("/d/a.h5");
        CHECK(file.type.value == "write_only");
        CHECK_FALSE(file.type.changes);
        CHECK(the(file.declared, "type").contradiction.has_value());
        CHECK(file.declared.size() == 1);
    }
}

TEST_CASE("a profile with a foreign declaration is refused") {
    Profile made = run(false);
    const auto refused = [&] {
        try {
            (void)profile_from_json(to_json(made), "p");
        } catch (const tailrace::core::Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    made.files[0].declared = {{"property_list", {}, declared("reliability", "scratch")}};
    CHECK(refused().empty());
    made.files[0].declared[0].from = "hearsay";
    CHECK(refused().find("files[0].declared[0]: nothing is declared from") != std::string::npos);
    made.files[0].declared = {{"file", {}, declared("reliability", "scrtch")}};
    CHECK(refused().find("files[0].declared[0].intents.reliability") != std::string::npos);
    made.files[0].declared = {};
    made.files[0].datasets[0].declared = {{"file", {}, declared("metadata_dominated", "yes")}};
    CHECK(refused().find("files[0].datasets[0].declared[0]") != std::string::npos);
}

TEST_CASE("advice: what delays durability is for files that are not durable") {
    Profile made = run(false);
    Hdf5File& hdf5 = *made.files[0].hdf5;
    hdf5.creates = 1;
    hdf5.metadata["dataset"].create = 5000;
    hdf5.metadata["attribute"].create = 5000;
    hdf5.flushes = 0;
    const auto hasher = [](std::span<const std::byte>) { return std::string(32, '0'); };
    const auto sets = [&](const std::string& declarations) {
        std::vector<rules::Document> of;
        if (!declarations.empty()) of.push_back({"d", declarations});
        const plan::Plan made_of_it = plan::plan_from_json(
            rules::advise({{"p", to_json(made)}}, {}, {}, of, {hasher}), "plan", hasher);
        for (const plan::Entry& entry : made_of_it.entries)
            for (const plan::Planned& one : entry.settings)
                if (one.key == "metadata_cache_evictions") return true;
        return false;
    };
    CHECK_FALSE(sets(""));
    CHECK(sets(R"({"files": {"a.h5": {"reliability": "scratch"}}})"));
    CHECK_FALSE(sets(R"({"files": {"a.h5": {"reliability": "durable"}}})"));
    // What the profile carries is enough.
    made.files[0].declared = {{"property_list", {}, declared("reliability", "recomputable")}};
    CHECK(sets(""));
    CHECK_THROWS_AS(rules::advise({{"i", to_json(intents(made))}}, {}, {}, {{"d", "{}"}}, {hasher}),
                    tailrace::core::Error);
}

TEST_CASE("what no file of several profiles matches is named once, whatever their files are") {
    std::vector<NamedProfile> runs{{"a", run(false)}, {"b", run(false)}};
    runs[1].profile.files[0].path = "/d/other.h5";
    declare_of(runs, {{"d.json", R"({"files": {"b.h5": {"append": "no"},
                                               "other.h5": {"append": "no"}}})"}});
    const std::vector<std::string>& notes = runs[0].profile.origin.notes;
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("declared of \"b.h5\", which no file matches") == 0);
}
