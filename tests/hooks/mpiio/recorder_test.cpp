// SPDX-License-Identifier: Apache-2.0
// The recorder of MPI-IO without MPI: bounds, damage, and one process with two hooks.
#include "hooks/mpiio/recorder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>

#include "../vol/recorded.hpp"
#include "core/error.hpp"
#include "intent/profile/profile_json.hpp"

using recorded::Folder;
using recorded::in_process;
namespace mpiio = tailrace::hooks::mpiio;
namespace session = tailrace::hooks::session;
namespace spool = tailrace::intent::spool;

namespace {

tailrace::hooks::Took took() { return {session::now(), session::now()}; }

void open_file(mpiio::Handle handle, const std::string& name, std::uint32_t ranks = 4) {
    const mpiio::Hint hints[] = {{"cb_nodes", "2", false}, {"cb_nodes", "1", true}};
    mpiio::opened(handle, {name.c_str(), ranks, hints, 2, false, -1}, took());
}

void write(mpiio::Handle handle, std::uint64_t bytes, std::uint32_t how = mpiio::collective) {
    mpiio::moved(handle, {spool::writes, how, bytes, {}}, took());
}

/// In the process that records: a failure there is one of the test.
void must(bool holds) {
    if (!holds) _exit(3);
}

void write_at(std::uint64_t start, std::uint64_t end, std::uint64_t bytes) {
    mpiio::moved(1, {spool::writes, mpiio::independent, bytes, {true, start, end}}, took());
}

void do_everything() {
    open_file(1, "/tmp/no such file");
    write(1, 1000);
    mpiio::ended(1, spool::writes, took());
    mpiio::failed(1, spool::reads, took());
    mpiio::viewed(1, {64, 8, 64, 256, spool::filetype_vector, true}, took());
    mpiio::other(1, mpiio::Other::sync, took());
    mpiio::closed(1, took());
}

/// True: it was taken for a spool.
bool taken(const std::vector<std::byte>& bytes) {
    try {
        std::vector<spool::NamedSpool> one;
        one.push_back({"x", spool::decode(bytes, "x")});
        (void)tailrace::intent::to_json(spool::merge(std::move(one), ""));
        return true;
    } catch (const tailrace::core::Error& error) {
        CHECK(error.where() == "x");
        return false;
    }
}

}  // namespace

TEST_CASE("a spool of MPI-IO that is damaged at any byte is refused or read") {
    const Folder folder;
    in_process(folder, "1", 0, do_everything);
    const auto path = folder.spools().at(0);
    std::vector<std::byte> good(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(good.data()), static_cast<std::streamsize>(good.size()));
    const auto used = spool::decode(good, "x").header.used_bytes;
    good.resize(used);
    REQUIRE(taken(good));
    std::size_t refused = 0;
    for (std::size_t at = spool::header_bytes; at < used; ++at) {
        for (const auto change : {std::byte{0xff}, std::byte{0x01}}) {
            std::vector<std::byte> bad = good;
            bad[at] ^= change;
            if (!taken(bad)) ++refused;
        }
    }
    CHECK(refused > 50);  // kinds, sizes and references
}

TEST_CASE("what MPI-IO did finds its place, and handles are used again") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        do_everything();
        open_file(1, "/tmp/another file", 1);
        write(1, 5, mpiio::independent | mpiio::shared);
        write(2, 5);  // a file that nobody opened
    });
    const auto profile = folder.profile();
    REQUIRE(profile.files.size() == 2);
    const auto& other = *profile.files[0].mpiio;
    CHECK(*other.independent_opens == 1);
    CHECK(*other.writes->shared == 1);
    CHECK_FALSE(other.close);
    const auto& first = *profile.files[1].mpiio;
    CHECK_FALSE(profile.files[1].hdf5);
    CHECK(*first.communicator_size == 4);
    CHECK(*first.writes->collective == 1);
    CHECK(*first.writes->bytes == 1000);
    CHECK(*first.reads->failed == 1);
    CHECK(*first.syncs == 1);
    CHECK(first.hints_given.at("cb_nodes") == "2");
    CHECK(first.hints_in_force.at("cb_nodes") == "1");
    REQUIRE(first.view_kinds.size() == 1);
    CHECK(first.view_kinds[0].displacement_bytes == 64);
    CHECK(profile.origin.dropped.at("calls") == 1);
}

TEST_CASE("hints, views, sizes and files are bounded, and what is frequent stays") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        open_file(1, "/tmp/no such file");
        for (int n = 0; n < 100; ++n) {
            const std::string key = "key" + std::to_string(n);
            const mpiio::Hint hint{key.c_str(), "x", true};
            mpiio::hinted(1, &hint, 1, took());
            const auto extent = static_cast<std::uint64_t>(1000 + n);
            mpiio::viewed(1, {0, 1, 64, extent, spool::filetype_vector, true}, took());
            write(1, 4096);
            write(1, 10000 + static_cast<std::uint64_t>(n));
        }
        for (int n = 0; n < 5000; ++n) open_file(2, "/tmp/no such file " + std::to_string(n));
    });
    CHECK(std::filesystem::file_size(folder.spools().at(0)) <= (1U << 20U));
    const auto profile = folder.profile();
    const auto& file = *profile.files.at(0).mpiio;
    CHECK(file.hints_in_force.size() < 64);
    CHECK(file.view_kinds.size() == 8);
    CHECK(*file.views == 100);
    CHECK(file.writes->frequent.at(0).bytes == 4096);
    CHECK(file.writes->frequent.at(0).calls == 100);
    CHECK(*file.writes->collective == 200);
    CHECK(profile.origin.dropped.at("hints") > 0);
    CHECK(profile.origin.dropped.count("views") == 0);  // a list of some is whole
    CHECK(profile.origin.dropped.at("calls") > 1000);   // of files that found no room
    CHECK(profile.files.size() > 100);
}

TEST_CASE("two hooks of one process make one process and one file") {
    const Folder folder;
    in_process(folder, "1", 3, [] {
        auto* file = recorded::open_file("/tmp/no such file");
        recorded::write(recorded::create(file, "/d", {10}), {0}, {10});
        do_everything();
        if (fork() == 0) {  // the child writes on
            open_file(1, "/tmp/no such file");
            write(1, 7);
            _exit(0);
        }
        wait(nullptr);
    });
    CHECK(folder.spools().size() == 3);
    const auto profile = folder.profile();
    REQUIRE(profile.run.processes.size() == 2);
    CHECK(*profile.run.processes[0].rank == 3);
    REQUIRE(profile.files.size() == 1);
    const auto& file = profile.files[0];
    CHECK(file.processes.text() == "0-1");
    CHECK(*file.hdf5->creates == 1);
    CHECK(*file.mpiio->writes->collective == 2);
    CHECK(*file.mpiio->writes->bytes == 1007);
    CHECK(file.datasets.size() == 1);
}

TEST_CASE("places: order, ranges of the processes, pieces of views") {
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", rank, [rank] {
            open_file(1, "/tmp/no such file", 2);
            const auto mine = static_cast<std::uint64_t>(rank) * 100;
            for (std::uint64_t row = 0; row < 5; ++row)
                write_at(row * 200 + mine, row * 200 + mine + 100, 100);
            write(1, 7);  // through the shared pointer: who knows where
            write(1, 0);
            for (const auto type : {spool::filetype_vector, spool::filetype_indexed}) {
                mpiio::viewed(1, {1000, 10, 100, 200, type, true}, took());
                must(mpiio::window_of(1).gaps);
                must(mpiio::window_of(1).displacement == 1000);
                must(mpiio::window_of(1).etype_bytes == 10);
                write_at(1000, 1500, 300);
            }
            mpiio::viewed(1, {0, 4, 4, 4, spool::filetype_basic, false}, took());
            must(!mpiio::window_of(1).wanted);  // another representation: other bytes
        });
    }
    const auto profile = folder.profile();
    const auto& writes = *profile.files.at(0).mpiio->writes;
    CHECK(*writes.placed == 14);
    CHECK(*writes.not_placed == 2);
    CHECK(*writes.in_pieces == 4);
    CHECK(*writes.irregular_pieces == 2);
    CHECK(*writes.highest_byte == 1499);
    CHECK(*writes.order->strided == 9);  // by 200; of one rank to the view as well
    CHECK(*writes.order->repeated == 2);
    REQUIRE(writes.ranges.size() == 2);
    CHECK(writes.ranges[1].first_byte == 100);
    CHECK(writes.ranges[1].end_byte == 1500);
    CHECK(writes.ranges[1].bytes == 1100);
    CHECK(writes.ranges[1].calls == 7);
}

TEST_CASE("of an open file the places of few calls through views with gaps are looked for") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        open_file(1, "/tmp/no such file");
        mpiio::viewed(1, {0, 1, 64, 128, spool::filetype_vector, true}, took());
        unsigned asked = 0;
        for (std::uint64_t n = 0; n < 100; ++n) {
            if (!mpiio::window_of(1).wanted) continue;
            ++asked;
            write_at(n * 128, n * 128 + 64, 64);
        }
        must(asked == 64);
        mpiio::viewed(1, {0, 1, 64, 128, spool::filetype_vector, true}, took());
        must(!mpiio::window_of(1).wanted);
        mpiio::viewed(1, {0, 1, 1, 1, spool::filetype_basic, true}, took());
        must(mpiio::window_of(1).wanted);  // costs nothing
        mpiio::closed(1, took());
        must(!mpiio::window_of(1).wanted);
        open_file(1, "/tmp/no such file");
        must(mpiio::window_of(1).wanted);
        must(!mpiio::window_of(1).gaps);
    });
}

TEST_CASE("sizes, places and sums beyond 32 bits are exact") {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", rank, [] {
            open_file(1, "/tmp/no such file", 2);
            for (int n = 0; n < 3; ++n) write(1, 5 * gib + 1);
            mpiio::moved(1, {spool::reads, mpiio::independent, 6 * gib + 7, {}}, took());
            const auto before = static_cast<std::int64_t>(7 * gib);
            mpiio::viewed(1, {before, 6 * gib, 9 * gib, 11 * gib, spool::filetype_vector, true},
                          took());
        });
    }
    const auto profile = folder.profile();
    const auto& file = *profile.files.at(0).mpiio;
    CHECK(*file.writes->bytes == 6 * (5 * gib + 1));
    CHECK(*file.writes->largest_bytes == 5 * gib + 1);
    CHECK(file.writes->frequent.at(0).bytes == 5 * gib + 1);
    CHECK(file.writes->frequent.at(0).calls == 6);
    CHECK(*file.reads->bytes == 2 * (6 * gib + 7));
    CHECK(*file.reads->largest_bytes == 6 * gib + 7);
    REQUIRE(file.view_kinds.size() == 1);
    CHECK(file.view_kinds[0].displacement_bytes == 7 * gib);
    CHECK(*file.view_kinds[0].etype_bytes == 6 * gib);
    CHECK(*file.view_kinds[0].filetype_bytes == 9 * gib);
    CHECK(*file.view_kinds[0].filetype_extent_bytes == 11 * gib);
    const auto text = tailrace::intent::to_json(profile);
    CHECK(text.find("32212254726") != std::string::npos);  // six writes
    CHECK(text.find("12884901902") != std::string::npos);  // two reads
}
