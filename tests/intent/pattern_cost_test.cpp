// SPDX-License-Identifier: Apache-2.0
// An entry of a plan is for all that its pattern matches, also for what no rule fires at.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;

namespace {

bool sets(const plan::Plan& plan, const std::string& key) {
    for (const plan::Entry& entry : plan.entries)
        for (const plan::Planned& planned : entry.settings)
            if (planned.key == key) return true;
    return false;
}

std::string disagreement(const plan::Plan& plan, const std::string& rule) {
    for (const plan::HeldBack& one : plan.held_back)
        if (one.because.rule == rule && one.guard == "disagreement") return one.because.text;
    return "";
}

/// Records of 800 bytes that are appended, in chunks of 1 KiB.
Dataset sensor(const std::string& path, std::uint64_t records) {
    Dataset made = tests::dataset(path, records * 100, 1);
    made.creates = 1;
    made.layout = "chunked";
    made.chunk = {128};
    made.max_dims = {std::nullopt};
    made.extensions = Extensions{records, {}};
    made.writes = tests::accesses(records, {100});
    return made;
}

}  // namespace

TEST_CASE("one long dataset gives no large chunks to the short ones of its pattern") {
    Profile profile = tests::plain_run();
    profile.files[0].datasets = {sensor("/sensor_0", 10000)};
    Options options;
    options.dataset_globs["/data/f.h5:/sensor_0"] = "/sensor_[0-9]*";
    CHECK(sets(plan_of({profile}, options, {}), "chunk"));
    for (int i = 1; i < 200; ++i) {
        const std::string path = "/sensor_" + std::to_string(i);
        profile.files[0].datasets.push_back(sensor(path, 10));
        options.dataset_globs["/data/f.h5:" + path] = "/sensor_[0-9]*";
    }
    const plan::Plan plan = plan_of({profile}, options, {});
    CHECK_FALSE(sets(plan, "chunk"));
    CHECK(disagreement(plan, "19").find("would take 207 MiB instead of 9.18 MiB") !=
          std::string::npos);
    CHECK(sets(plan_of({profile}, Options{}, {}), "chunk"));  // without a pattern
    // What is empty, or as long, takes no more.
    for (Dataset& one : profile.files[0].datasets)
        if (one.path != "/sensor_0") one = sensor(one.path, one.path.size() % 2 == 0 ? 9000 : 0);
    CHECK(sets(plan_of({profile}, options, {}), "chunk"));
}

TEST_CASE("one file of many objects gives no large blocks to the small ones of its pattern") {
    Profile profile = tests::plain_run();
    tests::operations(profile, "attribute").create = 5000;
    tests::first(profile).writes = tests::accesses(1, {4ULL << 20U});
    Options options;
    options.file_globs["/data/f.h5"] = "/data/?.h5";
    CHECK(sets(plan_of({profile}, options, {}), "meta_block_bytes"));
    for (const char* path :
         {"/data/a.h5", "/data/b.h5", "/data/c.h5", "/data/d.h5", "/data/e.h5"}) {
        profile.files.push_back(profile.files[0]);
        profile.files.back().path = path;
        profile.files.back().hdf5->metadata["attribute"].create = 5;
        profile.files.back().datasets[0].writes = tests::accesses(1, {100});
        options.file_globs[path] = "/data/?.h5";
    }
    const plan::Plan plan = plan_of({profile}, options, {});
    CHECK_FALSE(sets(plan, "meta_block_bytes"));
    CHECK(disagreement(plan, "3").find("would take") != std::string::npos);
    profile.files.erase(profile.files.begin() + 2, profile.files.end());
    CHECK(sets(plan_of({profile}, options, {}), "meta_block_bytes"));
}

TEST_CASE("a file that is read in small pieces keeps its sieve buffer, and so does its pattern") {
    Profile profile = tests::plain_run();
    const auto& cases = tests::file_cases();
    std::find_if(cases.begin(), cases.end(), [](const tests::RuleCase& one) {
        return one.rule == "11";
    })->evidence(profile);
    profile.files.push_back(tests::plain_run().files[0]);
    profile.files[1].path = "/data/g.h5";
    Options options;
    for (const File& file : profile.files) options.file_globs[file.path] = "/data/?.h5";
    CHECK(sets(plan_of({profile}, options, {}), "sieve_buffer_bytes"));
    Dataset& other = profile.files[1].datasets[0];
    other.reads = tests::accesses(1000, {1});
    other.reads->order = Order{0, 0, 999, 0, {}};
    const plan::Plan plan = plan_of({profile}, options, {});
    CHECK_FALSE(sets(plan, "sieve_buffer_bytes"));
    CHECK(disagreement(plan, "11").find("not in sequence") != std::string::npos);
}

TEST_CASE("files of a pattern that are written in other shapes get no line with either's chunks") {
    Profile profile = tests::plain_run();
    const auto& cases = tests::dataset_cases();
    std::find_if(cases.begin(), cases.end(), [](const tests::RuleCase& one) {
        return one.rule == "72";
    })->evidence(profile);
    profile.files.push_back(profile.files[0]);
    profile.files[1].path = "/data/g.h5";
    Options options;
    for (const File& file : profile.files) options.file_globs[file.path] = "/data/?.h5";
    const auto advised = [&profile](const Options& given) {
        std::vector<plan::Advice> found;
        for (const plan::Advice& one : plan_of({profile}, given, {}).advice)
            if (one.because.rule == "72") found.push_back(one);
        return found;
    };
    auto found = advised(options);
    REQUIRE(found.size() == 1);
    CHECK(found[0].chunk == Extents{256, 256, 1});
    CHECK(found[0].text.find("other files") == std::string::npos);
    Dataset& other = profile.files[1].datasets[0];
    other.writes = tests::accesses(256, {1, 256, 512});
    found = advised(options);
    REQUIRE(found.size() == 1);
    CHECK(found[0].chunk.empty());
    CHECK(found[0].text.ends_with("; other files of this pattern want other chunks"));
    // Without a pattern each file has its own.
    found = advised({});
    REQUIRE(found.size() == 2);
    CHECK_FALSE(found[0].chunk.empty());
    CHECK_FALSE(found[1].chunk.empty());
}
