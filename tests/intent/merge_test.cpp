// SPDX-License-Identifier: Apache-2.0
// Whose file it is, out of the spools of several processes.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "intent/spool/merge.hpp"
#include "intent/spool/readable.hpp"
#include "profiles.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::tests;

namespace {

spool::PosixRecord got_it() {
    spool::PosixRecord made{};
    made.opens = made.closes = 1;
    made.transfers[spool::writes].calls = 1;
    made.transfers[spool::writes].bytes = 8;
    return made;
}

spool::PosixRecord came_too_late() {
    spool::PosixRecord made{};
    made.failed_opens = 1;
    return made;
}

/// A fork whose parent has opened the file.
spool::PosixRecord inherited_it() {
    spool::PosixRecord made{};
    made.transfers[spool::reads].calls = 1;
    made.transfers[spool::reads].bytes = 8;
    return made;
}

/// Whoever started the run has opened the file.
spool::PosixRecord prints_to_it() {
    spool::PosixRecord made = got_it();
    made.opens = 0;
    return made;
}

/// The profile of as many processes, each with what it did to one file.
Profile of_processes(const std::vector<spool::PosixRecord>& records,
                     const std::string& path = "/d/first", std::uint64_t inode = 0) {
    std::vector<spool::NamedSpool> spools;
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
        spool::DecodedFile file;
        file.path = path;
        file.record.inode = inode;
        file.posix = records[rank];
        spool::Spool made;
        made.header.hooks = spool::hook_posix;
        made.header.pid = static_cast<std::uint32_t>(100 + rank);
        made.header.rank = static_cast<std::int32_t>(rank);
        made.header.ranks = static_cast<std::int32_t>(records.size());
        made.host = "node";
        made.files[spool::header_bytes] = file;
        spools.push_back({"spool " + std::to_string(rank), made});
    }
    return spool::merge(spools, "command");
}

}  // namespace

TEST_CASE("processes of a file: of several that create it exclusively the one that does") {
    const Profile run = of_processes({came_too_late(), came_too_late(), got_it(), came_too_late()});
    REQUIRE(run.files.size() == 1);
    CHECK(run.files[0].processes.text() == "2");
    CHECK(run.files[0].posix->failed_opens == Count(3));
    const FileIntent found = intents(run).files.at("/d/first");
    CHECK(found.sharing_pattern.value == "one_writer");
    CHECK(found.how_shared.value == "private");
}

TEST_CASE("processes of a file: forks that use it, and all where nobody got it") {
    CHECK(of_processes({got_it(), inherited_it(), came_too_late()}).files.at(0).processes.text() ==
          "0-1");
    CHECK(of_processes({came_too_late(), came_too_late()}).files.at(0).processes.text() == "0-1");
}

TEST_CASE("files: one that is only printed to is none of the program's") {
    CHECK(of_processes({prints_to_it()}).files.empty());
    CHECK(of_processes({prints_to_it(), got_it()}).files.size() == 1);
    CHECK(of_processes({inherited_it()}).files.size() == 1);
}

TEST_CASE("dropped: names that are not found are no matter of room") {
    spool::Spool made;
    made.header.dropped[spool::kind_unnamed] = 5;
    made.header.dropped[spool::kind_unnamed_of_ranks] = 6;
    const Profile run = spool::merge({{"spool", made}}, "command");
    CHECK(run.origin.dropped.at("unnamed") == 5);
    CHECK(run.origin.dropped.at("unnamed_of_ranks") == 6);
    REQUIRE(run.origin.notes.size() == 2);
    CHECK(run.origin.notes[0].starts_with("5 datasets that were opened without a name"));
    CHECK(run.origin.notes[0].find("took too long") != std::string::npos);
    CHECK(run.origin.notes[1].starts_with("6 datasets that were opened without a name"));
    CHECK(run.origin.notes[1].find("H5Pset_all_coll_metadata_ops") != std::string::npos);
    for (const std::string& note : run.origin.notes)
        CHECK(note.find("TAILRACE_PROFILE_MIB") == std::string::npos);
}

TEST_CASE("files: what is stored of one, if it is still that which was opened") {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("stored" + std::to_string(::getpid()));
    std::ofstream(path) << std::string(6000, 'x');
    const auto stored = [&](std::uint64_t inode) {
        return of_processes({got_it()}, path.string(), inode).files.at(0).stored_bytes;
    };
    CHECK(stored(0) == Count(6000));
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK(stored(status.st_ino) == Count(6000));
    CHECK(!stored(status.st_ino + 1));
    REQUIRE(::truncate(path.c_str(), 1 << 30) == 0);  // a hole
    CHECK(stored(0).value_or(1 << 30) < 1 << 20);
    std::filesystem::remove(path);
    CHECK(!stored(0));
}

TEST_CASE("processes of a file: names that are no UTF-8 stay two") {
    CHECK(spool::readable("h\xff.h5") == "h\\xff.h5");
    CHECK(spool::readable("h\xfe.h5") == "h\\xfe.h5");
    // Overlong, a surrogate, beyond the last character, cut short.
    CHECK(spool::readable("\xc0\xaf") == "\\xc0\\xaf");
    CHECK(spool::readable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    CHECK(spool::readable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(spool::readable("\xe2\x82") == "\\xe2\\x82");
    for (const std::string text : {"", "plain", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
        CHECK(spool::readable(text) == text);
}
