// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "core/error.hpp"
#include "intent/profile/profile_json.hpp"
#include "profiles.hpp"

using namespace tailrace;
using namespace tailrace::intent;

namespace {

/// The error of reading a text, or an empty one.
std::string failure(const std::string& text) {
    try {
        (void)profile_from_json(text, "p.json");
    } catch (const core::Error& error) {
        return error.what();
    }
    return {};
}

std::string document(const std::string& rest) {
    return R"({"schema":"tailrace-profile/1","origin":{"kind":"hook","command":"","version":"",)"
           R"("start":""},"run":{})" +
           rest + "}";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("process sets: ranges join and come back from their text") {
    ProcessSet set(3, 5);
    set.add(7);
    set.add(6);
    CHECK(set.text() == "3-7");
    set.add(0);
    set.add(9, 12);
    CHECK(set.text() == "0,3-7,9-12");
    CHECK(set.size() == 10);
    CHECK(set.contains(12));
    CHECK_FALSE(set.contains(8));
    CHECK(ProcessSet::parse(set.text()) == set);
    CHECK(set.meets(ProcessSet(8, 9)));
    CHECK_FALSE(set.meets(ProcessSet(1, 2)));
    const auto greatest = std::numeric_limits<std::uint64_t>::max();
    set.add(greatest);
    set.add(greatest - 1);
    CHECK(ProcessSet::parse(set.text()).contains(greatest));
    for (const char* bad : {"x", "1-", "5-3", "1,1", "3,2", "1,,2", "18446744073709551616"})
        CHECK_THROWS_AS(ProcessSet::parse(bad), core::Error);
}

TEST_CASE("profile: a dataset that is like another one has what it does not say from there") {
    const auto datasets = [](const std::string& second) {
        return document(
            R"(,"files":[{"path":"/a","datasets":[{"path":"/x","interface":"hdf5","ndims":1,)"
            R"("dims":[4],"fill":{"time":"never"},"reads":{"calls":3,"bytes":96,"order":)"
            R"({"strided":2,"step":[4]}}},)" +
            second + "]}]");
    };
    const Profile read = profile_from_json(
        datasets(R"({"path":"/y","interface":"hdf5","like":0,"dims":[9],"ndims":null,"reads":)"
                 R"({"bytes":64,"order":{"random":2}}},)"
                 R"({"path":"/z","interface":"hdf5","like":1,"fill":null,"reads":null})"),
        "p.json");
    const Dataset& like = read.files[0].datasets[1];
    CHECK(like.path == "/y");
    CHECK(like.dims == Extents{9});
    CHECK_FALSE(like.ndims);
    CHECK(like.fill->time == "never");
    CHECK(like.reads->calls == 3U);
    CHECK(like.reads->bytes == 64U);
    CHECK(like.reads->order->random == 2U);
    CHECK_FALSE(like.reads->order->strided);  // what is within is as a whole
    CHECK(like.reads->order->step.empty());
    const Dataset& last = read.files[0].datasets[2];
    CHECK(last.dims == Extents{9});
    CHECK_FALSE(last.fill);
    CHECK_FALSE(last.reads);
    CHECK_FALSE(has(to_json(read), "like"));

    for (const char* wrong : {"1", "2", "-1", "\"0\"", "0.5"})
        CHECK(has(failure(datasets(std::string(R"({"path":"/y","interface":"hdf5","like":)") +
                                   wrong + "}")),
                  "files[0].datasets[1].like"));
    CHECK(has(failure(datasets(R"({"like":0})")), "\"path\""));
}

TEST_CASE("profile: all there is comes back from its JSON, numbers exact") {
    Profile made = tests::profile(4);
    made.run.node_memory_bytes = std::numeric_limits<std::uint64_t>::max();
    File one = tests::file("/a.h5", 0, 3);
    Dataset dataset = tests::dataset("/x", 100, 4);
    dataset.max_dims = {std::nullopt};
    dataset.settings_of_program = {{"chunk_cache_bytes", std::uint64_t{1} << 62},
                                   {"w0", 0.75},
                                   {"evict", true},
                                   {"chunk", Extents{4, 5}},
                                   {"driver", std::string("core")}};
    dataset.writes = tests::transfers(4, 800, 0.5, 1.5);
    dataset.writes->order = Order{1, 2, 3, 4, {-8}, 5};
    dataset.read_after_write = ReadAfterWrite{true, false, std::nullopt};
    one.datasets = {dataset};
    made.files = {one};
    const std::string text = to_json(made);
    const Profile read = profile_from_json(text, "p.json");
    CHECK(to_json(read) == text);
    const Dataset& back = read.files[0].datasets[0];
    CHECK(*read.run.node_memory_bytes == std::numeric_limits<std::uint64_t>::max());
    CHECK_FALSE(back.max_dims.at(0).has_value());
    CHECK(std::get<Extents>(back.settings_of_program.at("chunk")) == Extents{4, 5});
    CHECK(std::get<std::uint64_t>(back.settings_of_program.at("chunk_cache_bytes")) ==
          std::uint64_t{1} << 62);
    CHECK(back.writes->order->step == std::vector<std::int64_t>{-8});
    CHECK(back.writes->order->chunk_changes == 5);
    CHECK(back.read_after_write->same_process == Known(false));
    CHECK_FALSE(back.read_after_write->other_processes.has_value());
    CHECK_FALSE(back.reads.has_value());
}

TEST_CASE("profile: what is not known stays absent, null counts as absent") {
    const Profile read =
        profile_from_json(document(R"(,"files":[{"path":"/a","posix":{"opens":null}}])"), "p");
    CHECK(read.files[0].posix.has_value());
    CHECK_FALSE(read.files[0].posix->opens.has_value());
    CHECK(to_json(read).find("opens") == std::string::npos);
}

TEST_CASE("profile: errors name the place and the remedy") {
    CHECK(has(failure(""), "p.json: the file is empty, no profile"));
    CHECK(has(failure("[]"), "this is no profile but a list"));
    CHECK(has(failure("{"), "p.json:1: this is no JSON"));
    CHECK(has(failure("{}"), "it has no key \"schema\""));
    CHECK(has(failure(R"({"schema":"tailrace-profile/2"})"), "take a newer Tailrace"));
    CHECK(has(failure(R"({"schema":"tailrace-intents/1"})"),
              "this is no profile: its schema is \"tailrace-intents/1\""));
    CHECK(has(failure(document(R"(,"fils":[])")), "Did you mean \"files\"?"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","posix":{"open_s":1}}])")),
              "p.json: files[0].posix: unknown key \"open_s\""));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","posix":{"opens":-1}}])")),
              "files[0].posix.opens: a whole number >= 0 of 64 bits is wanted here"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","posix":{"opens":1e30}}])")), "64 bits"));
    CHECK(has(failure(document(R"(,"files":[{"processes":"0"}])")),
              "files[0]: the key \"path\" is missing"));
    CHECK(
        has(failure(document(R"(,"files":[{"path":"/a"},{"path":"/a"}])")), "stands there twice"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","processes":"4-2"}])")), "ascending"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","processes":"0-4294967295"}])")),
              "4294967296 processes: at most 16777216"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","datasets":[{"path":"/x","interface":)"
                               R"("hdf5","ndims":100000000}]}])")),
              "100000000 dimensions: at most 1024"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","datasets":[{"path":"/x","interface":)"
                               R"("hdf5"},{"path":"/x","interface":"hdf5"}]}])")),
              "the dataset \"/x\" stands there twice"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","datasets":[{"path":"/x","interface":)"
                               R"("hdf6"}]}])")),
              "one of hdf5, pnetcdf is wanted here"));
    CHECK(has(failure(document(R"(,"files":[{"path":"/a","datasets":[{"path":"/x","interface":)"
                               R"("hdf5","ndims":2,"dims":[1]}]}])")),
              "ndims is 2, and dims has 1 numbers"));
}
