// SPDX-License-Identifier: Apache-2.0
// Declarations as texts: what is taken, what is refused with which words, and which file gets what.
#include <doctest/doctest.h>

#include <string>

#include "core/error.hpp"
#include "intent/declare/into_profile.hpp"
#include "intent/declare/match.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::declare;
using tailrace::core::Error;

namespace {

std::string listed(const std::string& text, Of of = Of::file) {
    return list_text(list_from_json(text, of, "here"));
}

/// The text of the error that a call throws; empty where it throws none.
template <class Call>
std::string failure(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

std::string refused(const std::string& text) {
    return failure([&] { (void)document_from_json(text, "d.json"); });
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string word(const Values& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? "" : std::get<std::string>(found->second);
}

}  // namespace

TEST_CASE("a declaration has one text, whatever way it was written") {
    CHECK(listed(R"( {"reliability" : "scratch", "append":true} )") ==
          R"({"append":"yes","reliability":"scratch"})");
    CHECK(listed(R"({"append": "yes", "reliability": "scratch"})") ==
          R"({"append":"yes","reliability":"scratch"})");
    CHECK(listed(R"({"full_coverage": false, "sequence": 3})", Of::dataset) ==
          R"({"full_coverage":"no","sequence":3})");
    CHECK(listed("{}") == "{}");
    const std::string both = R"({"order":"random","datasets":{"/a*":{"reuse":"once"}}})";
    CHECK(listed(both) == both);
    CHECK(listed(listed(both)) == both);
}

TEST_CASE("every key takes each of its words, and none other") {
    for (const KeyInfo& info : keys()) {
        const Of of = info.of == Of::dataset ? Of::dataset : Of::file;
        const std::string front = "{\"" + std::string(info.name) + "\":";
        if (info.kind == Kind::number) {
            CHECK(listed(front + "18446744073709551615}", of) == front + "18446744073709551615}");
            CHECK_THROWS_AS(listed(front + "1.5}", of), Error);
            continue;
        }
        for (const std::string& one : words_of(info))
            CHECK(listed(front + "\"" + one + "\"}", of) == front + "\"" + one + "\"}");
        CHECK_THROWS_AS(listed(front + "\"whatever\"}", of), Error);
        CHECK_THROWS_AS(listed(front + "null}", of), Error);
    }
}

TEST_CASE("a document is refused with its place and the nearest name") {
    CHECK(has(refused(R"({"files": {"*.h5": {"reliabillity": "scratch"}}})"),
              R"(d.json: files["*.h5"]: unknown key "reliabillity". Did you mean "reliability"?)"));
    CHECK(has(refused(R"({"files": {"*.h5": {"datasets": {"/x": {"order": "squential"}}}}})"),
              R"(files["*.h5"].datasets["/x"].order: "squential" is none of its words. Did you )"
              R"(mean "sequential"?)"));
    CHECK(has(refused(R"({"*.h5": {"reliability": "scratch"}})"), R"(unknown key "*.h5")"));
    CHECK(has(refused(R"({"append": true})"),
              R"(unknown key "append": without a pattern of files the document is {"files": )"));
    CHECK(has(refused(R"({"appent": true})"), R"(unknown key "appent")"));
    CHECK(has(refused("{}"), R"(the key "files" is missing)"));
    CHECK(has(refused(R"({"schema": "tailrace-declarations/2", "files": {}})"),
              R"("tailrace-declarations/1" is wanted here, not "tailrace-declarations/2")"));
    CHECK(refused(R"({"schema": "tailrace-declarations/1", "files": {}})").empty());
    CHECK(has(refused(R"({"files": []})"), "files: patterns and what is declared of them"));
    CHECK(has(refused(R"({"files": {"a": 3}})"), R"(files["a"]: an object is wanted here)"));
    CHECK(has(refused("{\"files\":\n{,}}"), "d.json:2"));
    CHECK(has(refused(std::string(70000, ' ') + "{}"), "at most 65536"));
    CHECK(has(refused(R"({"files": {")" + std::string(1025, 'a') + R"(": {}}})"),
              "at most 1024 bytes"));
    std::string many;
    for (int i = 0; i < 257; ++i) many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
    CHECK(has(refused("{\"files\":{" + many + "}}"), "there are 257 patterns, and at most 256"));
}

TEST_CASE("a pattern is for the last parts of a path, or for all of it") {
    CHECK(matches("*.h5", "/a/b/x.h5"));
    CHECK_FALSE(matches("*.h5", "/a/b.h5/x.nc"));
    CHECK(matches("b/*.h5", "/a/b/x.h5"));
    CHECK_FALSE(matches("a/*.h5", "/a/b/x.h5"));
    CHECK(matches("/a/*/x.h5", "/a/b/x.h5"));
    CHECK_FALSE(matches("/b/x.h5", "/a/b/x.h5"));
    CHECK_FALSE(matches("/a/*.h5", "/a/b/x.h5"));  // a star does not go beyond a slash
    CHECK(matches("a/b/x.h5", "/a/b/x.h5"));
    CHECK_FALSE(matches("z/a/b/x.h5", "/a/b/x.h5"));
    CHECK(matches("x.h5", "x.h5"));
    CHECK(matches("chk_[0-9]*.h5", "/r/chk_12.h5"));
    CHECK_FALSE(matches("", "/a"));
}

TEST_CASE("of several patterns the exact path wins, then the longest, then the first") {
    const Document document = document_from_json(R"({"files": {
        "*.h5": {"reliability": "scratch", "order": "random", "append": "no"},
        "/a/x.h5": {"reliability": "durable"},
        "x*.h5": {"reliability": "recomputable", "order": "sequential",
                  "datasets": {"r*": {"order": "strided"}, "rho": {"order": "repeated"}}},
        "*.h5 ": {"order": "mixed"}}})",
                                                 "d");
    const OfFile of = resolve(document, Names{"/a/x.h5"});
    CHECK(word(of.values, "reliability") == "durable");
    CHECK(word(of.values, "order") == "sequential");
    CHECK(word(of.values, "append") == "no");
    CHECK(word(resolve(of, "/g/rho"), "order") == "repeated");
    CHECK(word(resolve(of, "/g/r1"), "order") == "strided");
    CHECK(resolve(of, "/g/s").empty());
    CHECK(word(resolve(document, Names{"/b/y.h5"}).values, "reliability") == "scratch");
    CHECK(resolve(document, Names{"/b/y.nc"}).values.empty());
    const Document equal = document_from_json(
        R"({"files": {"a?": {"order": "random"}, "?b": {"order": "mixed"}}})", "d");
    CHECK(word(resolve(equal, Names{"/ab"}).values, "order") == "random");
}

TEST_CASE("a document comes to the files it is about, and what nothing matches is named") {
    Profile profile;
    for (const char* path : {"/d/chk_1.h5", "/d/chk_2.h5", "/d/in.nc"}) {
        File file;
        file.path = path;
        file.processes = ProcessSet(profile.files.size(), profile.files.size());
        Dataset dataset;
        dataset.path = "/rho";
        file.datasets = {dataset};
        profile.files.push_back(file);
    }
    const Document document = document_from_json(
        R"({"files": {"chk_*.h5": {"reliability": "scratch", "datasets": {"rho": {"reuse": "once"}}},
                      "chek_1.h5": {"append": "no"}}})",
        "d");
    const auto notes = declare::declare(profile, document, from_command_line);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == R"(declared of "chek_1.h5", which no file matches; there is "chk_1.h5")");
    CHECK(profile.files[0].declared.size() == 1);
    CHECK(profile.files[0].datasets[0].declared.at(0).from == "command_line");
    CHECK(profile.files[2].declared.empty());
    // Of one process, whose files alone it is about; twice the same is one.
    (void)declare::declare(profile, document, from_environment, ProcessSet(1, 1));
    (void)declare::declare(profile, document, from_environment, ProcessSet(1, 1));
    CHECK(profile.files[0].declared.size() == 1);
    REQUIRE(profile.files[1].declared.size() == 2);
    CHECK(profile.files[1].declared[1].processes.text() == "1");
}

TEST_CASE("a pattern of datasets that none matches is named too") {
    Profile profile;
    File file;
    file.path = "/d/chk_1.h5";
    file.datasets.resize(2);
    file.datasets[0].path = "/g/rho";
    file.datasets[1].path = "/g/vel";
    profile.files = {file};
    const Document document = document_from_json(R"({"files": {
        "*.h5": {"datasets": {"rho": {"reuse": "once"}, "/vel": {"order": "mixed"}}},
        "*.nc": {"datasets": {"x": {"order": "mixed"}}}}})",
                                                 "d");
    const auto notes = declare::declare(profile, document, from_command_line);
    REQUIRE(notes.size() == 2);
    CHECK(notes[0] == R"(declared of "*.h5": "/vel", which no dataset matches; there is "/g/vel")");
    CHECK(notes[1].find(R"(declared of "*.nc", which no file matches)") == 0);
}
