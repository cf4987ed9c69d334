// SPDX-License-Identifier: Apache-2.0
// Declarations on their way through the spool: bounded, each once, and none trusted.
#include <doctest/doctest.h>

#include <fstream>

#include "intent/intents/derive.hpp"
#include "recorded.hpp"

using namespace recorded;
using tailrace::intent::Declared;
using tailrace::intent::Profile;

namespace {

void declare(vol::FileEntry* file, const std::string& text,
             spool::DeclaredBy by = spool::declared_on_list) {
    vol::recorder::declared(file, by, text.data(), text.size());
}

Profile recorded_of(const std::function<void(vol::FileEntry*)>& work) {
    const Folder folder;
    in_process(folder, "1", 0, [&] { work(open_file("/tmp/declared.h5")); });
    return folder.profile();
}

std::string word(const Declared& one, const char* key) {
    return std::get<std::string>(one.intents.at(key));
}

}  // namespace

TEST_CASE("what is declared of a file and a dataset is noted once, with where it was said") {
    const Profile profile = recorded_of([](vol::FileEntry* file) {
        for (int n = 0; n < 5; ++n) {
            declare(file, R"({"append":"no"})");
            declare(file, R"({"append":"no"})", spool::declared_in_context);
        }
        vol::DatasetEntry* data = create(file, "/d", {4});
        vol::recorder::declared(data, spool::declared_on_list, R"({"reuse":"once"})", 16);
    });
    const auto& file = profile.files.at(0);
    REQUIRE(file.declared.size() == 2);
    CHECK(file.declared[0].from == "property_list");
    CHECK(file.declared[1].from == "context_manager");
    CHECK(file.declared[0].processes.text() == "0");
    CHECK(word(file.datasets.at(0).declared.at(0), "reuse") == "once");
    CHECK(profile.origin.dropped.empty());
}

TEST_CASE("what finds no room, or is too long, is counted") {
    const Profile profile = recorded_of([](vol::FileEntry* file) {
        for (int n = 0; n < 20; ++n) declare(file, "{\"size_bytes\":" + std::to_string(n) + "}");
        vol::recorder::declared_too_long();
    });
    CHECK(profile.files.at(0).declared.size() == 16);
    CHECK(profile.origin.dropped.at("declarations") == 5);
}

TEST_CASE("a text that is no declaration is left out, and noted") {
    const Profile profile = recorded_of([](vol::FileEntry* file) {
        declare(file, "{\"reliability\":\"scratsh\"}");
        declare(file, "\x01\x02");
        declare(file, R"({"append":"yes"})");
    });
    CHECK(profile.files.at(0).declared.size() == 1);
    REQUIRE(profile.origin.notes.size() == 2);
    CHECK(profile.origin.notes[0].find("a declaration is left out: /tmp/declared.h5: ") == 0);
}

TEST_CASE("the environment declares of files by pattern, in the processes that have it") {
    const Folder folder;
    const auto open_both = [] {
        open_file("/tmp/one.h5");
        open_file("/tmp/two.nc");
    };
    in_process(folder, "1", 0, [&] {
        setenv("TAILRACE_INTENTS",
               R"(  {"files": {"*.h5": {"reliability": "scratch"}, "*.hdf": {}}})", 1);
        open_both();
    });
    in_process(folder, "1", 1, open_both);
    const Profile profile = folder.profile();
    const auto& one = profile.files.at(0);
    CHECK(one.declared.at(0).from == "environment");
    CHECK(one.declared[0].processes.text() == "0");
    CHECK(profile.files.at(1).declared.empty());
    REQUIRE(profile.origin.notes.size() == 1);
    CHECK(profile.origin.notes[0].find("\"*.hdf\", which no file matches") != std::string::npos);
}

TEST_CASE("a file that the environment names: its content counts, and problems name it") {
    const Folder place;
    const std::string name = place.path / "d.json";
    const auto run = [&](const std::string& text) {
        std::ofstream(name) << text;
        const Folder folder;
        in_process(folder, "1", 0, [&] {
            setenv("TAILRACE_INTENTS", name.c_str(), 1);
            open_file("/tmp/one.h5");
        });
        return folder.profile();
    };
    const Profile good = run(R"({"files": {"one.h5": {"order": "random"}}})");
    CHECK(good.files.at(0).declared.at(0).from == "file");
    CHECK(word(good.files[0].declared[0], "order") == "random");
    const Profile bad = run("{\"files\": 3}");
    CHECK(bad.files.at(0).declared.empty());
    CHECK(bad.origin.notes.at(0).find("a declaration is left out: " + name) == 0);
    const Profile large = run(std::string(70000, ' '));
    CHECK(large.origin.dropped.at("declarations") == 1);
    std::filesystem::remove(name);
    const Folder folder;
    in_process(folder, "1", 0, [&] {
        setenv("TAILRACE_INTENTS", name.c_str(), 1);
        open_file("/tmp/one.h5");
    });
    CHECK(folder.profile().origin.notes.at(0).find("nothing is declared: the text is empty") !=
          std::string::npos);
}
