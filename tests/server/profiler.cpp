// SPDX-License-Identifier: Apache-2.0
// Times of regions: of one thread, of several, of ranks; the table, JSON and the trace.
#include "server/profiler/profiler.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "comm/threads.hpp"
#include "core/json/document.hpp"
#include "server/profiler/report.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

/// A clock that a test sets.
struct Watch {
    double now = 100;
    [[nodiscard]] Profiler::Clock clock() {
        return [this] { return now; };
    }
};

/// name at depth: calls, inclusive, exclusive.
std::string text(const ProfileOfThread& profile) {
    std::string all;
    for (const RegionTimes& one : profile.regions)
        all += one.name + '@' + std::to_string(one.depth) + ':' + std::to_string(one.calls) + ' ' +
               std::to_string(one.inclusive_s).substr(0, 4) + ' ' +
               std::to_string(one.exclusive_s).substr(0, 4) + '\n';
    return all;
}

void stay(Profiler& profiler, Watch& watch, std::string_view name, double seconds) {
    const auto region = profiler.region(name);
    watch.now += seconds;
}

/// A rank of a server.
void as_front(Profiler& profiler, Watch& watch, double receive, double forward) {
    stay(profiler, watch, "wait_message", 0.047207);
    {
        const auto receiving = profiler.region("receive_data");
        watch.now += 0.000496;
        stay(profiler, watch, "history", receive);
    }
    if (forward > 0) stay(profiler, watch, "forward_data", forward);
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

const json::Kind profile_kind{profile_schema, "profile", ""};
const json::Kind trace_kind{"", "trace", ""};

}  // namespace

TEST_CASE("exclusive is inclusive without the regions within, also while regions are open") {
    Watch watch;
    Profiler profiler("server", watch.clock());
    for (int i = 0; i < 2; ++i) {
        const auto writing = profiler.region("write");
        watch.now += 1;
        stay(profiler, watch, "history", 2);
        stay(profiler, watch, "geo", 4);
        if (i == 1)
            CHECK(text(profiler.profile()) ==
                  "server@1:1 14.0 0.00\nwrite@2:2 14.0 2.00\n"
                  "history@3:2 4.00 4.00\ngeo@3:2 8.00 8.00\n");
    }
    stay(profiler, watch, "history", 0.5);  // another one than that within write
    watch.now += 3;
    CHECK(text(profiler.profile()) ==
          "server@1:1 17.5 3.00\nwrite@2:2 14.0 2.00\nhistory@3:2 4.00 4.00\ngeo@3:2 8.00 8.00\n"
          "history@2:1 0.50 0.50\n");
}

TEST_CASE("a region within one of the same name counts its time once") {
    Watch watch;
    Profiler profiler("server", watch.clock());
    {
        const auto outer = profiler.region("write");
        watch.now += 1;
        stay(profiler, watch, "write", 2);
    }
    CHECK(text(profiler.profile()) ==
          "server@1:1 3.00 0.00\nwrite@2:1 3.00 1.00\nwrite@3:1 2.00 2.00\n");
}

TEST_CASE("an exception ends its regions") {
    Watch watch;
    Profiler profiler("server", watch.clock());
    try {
        const auto writing = profiler.region("write");
        const auto of = profiler.region("history");
        watch.now += 1;
        throw std::runtime_error("disk full");
    } catch (const std::runtime_error&) {
    }
    stay(profiler, watch, "close", 2);
    CHECK(
        text(profiler.profile()) ==
        "server@1:1 3.00 0.00\nwrite@2:1 1.00 0.00\nhistory@3:1 1.00 1.00\nclose@2:1 2.00 2.00\n");
}

TEST_CASE("a profiler that is off keeps nothing") {
    Profiler profiler;
    { const auto region = profiler.region("write"); }
    Watch watch;
    Profiler other("writer", watch.clock());
    profiler.merge(other);
    CHECK_FALSE(profiler.on());
    CHECK(profiler.profile().regions.empty());
    CHECK(profiler.profile().events.kept.empty());
}

TEST_CASE("threads are merged beside each other, those of one name to one") {
    Watch watch;
    Profiler server("server", watch.clock());
    Profiler one("writer", watch.clock()), two("writer", watch.clock());
    stay(server, watch, "receive", 1);
    stay(one, watch, "history", 2);
    stay(two, watch, "geo", 4);
    server.merge(one);
    server.merge(two);
    const ProfileOfThread profile = server.profile();
    CHECK(text(profile) ==
          "server@1:1 7.00 6.00\nreceive@2:1 1.00 1.00\n"
          "writer@1:2 14.0 8.00\nhistory@2:1 2.00 2.00\ngeo@2:1 4.00 4.00\n");
    std::set<std::pair<std::string, std::uint64_t>> events;
    for (const RegionEvent& event : profile.events.kept)
        events.emplace(profile.regions[event.region].name, event.thread);
    CHECK(events == std::set<std::pair<std::string, std::uint64_t>>{{"server", 0},
                                                                    {"receive", 0},
                                                                    {"writer", 1},
                                                                    {"history", 1},
                                                                    {"writer", 2},
                                                                    {"geo", 2}});
}

TEST_CASE("of too many events the longest stay, and the others are counted") {
    Watch watch;
    Profiler profiler("server", watch.clock(), 8);
    for (int i = 0; i < 1000; ++i) stay(profiler, watch, "write", i == 500 ? 9 : 0.001 * i);
    const RegionEvents events = profiler.profile().events;
    CHECK(events.kept.size() <= 8);
    CHECK(events.left_out + events.kept.size() == 1001);
    std::set<double> seconds;
    for (const RegionEvent& event : events.kept) {
        seconds.insert(event.elapsed_s);
        CHECK(event.elapsed_s >= events.longest_left_out_s);
    }
    CHECK(*seconds.rbegin() > 9);  // the server itself
    CHECK(*std::prev(seconds.end(), 2) == doctest::Approx(9));
    CHECK(profiler.profile().regions.at(1).calls == 1000);
}

TEST_CASE("the table has means of all ranks, and the extremes of those that were there") {
    comm::run_threads(3, [](const comm::Comm& comm) {
        Watch watch;
        Profiler profiler("o_server_front", watch.clock());
        constexpr double receive[] = {0.421234, 0.113870, 0.2}, forward[] = {0, 0.051281, 0.02};
        const auto rank = static_cast<std::size_t>(comm.rank());
        as_front(profiler, watch, receive[rank], forward[rank]);
        const auto profile = gather(comm, profiler, watch.clock());
        REQUIRE(profile.has_value() == (comm.rank() == 0));
        if (!profile) return;
        // Rank 0 was never in forward_data: it counts in the mean, and is neither Max nor Min PE.
        CHECK(table(*profile, "Final profile") ==
              "Final profile\n"
              "=============\n"
              "Name                 Inclusive % Incl Exclusive % Excl Max Excl  Min Excl  Max PE "
              "Min PE\n"
              "o_server_front        0.316498 100.00  0.000000   0.00  0.000000  0.000000  0000   "
              "0000\n"
              "--wait_message        0.047207  14.92  0.047207  14.92  0.047207  0.047207  0000   "
              "0000\n"
              "--receive_data        0.245531  77.58  0.000496   0.16  0.000496  0.000496  0000   "
              "0000\n"
              "----history           0.245035  77.42  0.245035  77.42  0.421234  0.113870  0000   "
              "0001\n"
              "--forward_data        0.023760   7.51  0.023760   7.51  0.051281  0.020000  0001   "
              "0002\n");
    });
}

TEST_CASE("the table of PFIO's guide (IM=360, 5 back ends), byte for byte") {
    const auto line = [](std::vector<std::string> path, std::array<double, 6> figures,
                         std::uint64_t max_rank, std::uint64_t min_rank) {
        path.insert(path.begin(), "o_server_front");
        const auto [incl, incl_percent, excl, excl_percent, max, min] = figures;
        return RegionOfRanks{path,         23,  23,  incl,     excl,    incl_percent,
                             excl_percent, max, min, max_rank, min_rank};
    };
    ProfileOfRanks profile;
    profile.regions = {
        line({}, {0.357244, 100.00, 0.053738, 15.04, 0.881602, 0.013470}, 0, 2),
        line({"wait_message"}, {0.047207, 13.21, 0.047207, 13.21, 0.052244, 0.040038}, 11, 13),
        line({"add_Histcollection"}, {0.003346, 0.94, 0.003346, 0.94, 0.005641, 0.000294}, 2, 7),
        line({"receive_data"}, {0.194778, 54.52, 0.000496, 0.14, 0.000696, 0.000367}, 13, 19),
        line({"receive_data", "collection_1"},
             {0.194282, 54.38, 0.194282, 54.38, 0.421234, 0.113870}, 13, 21),
        line({"forward_data"}, {0.057849, 16.19, 0.017939, 5.02, 0.051281, 0.000058}, 20, 18),
        line({"forward_data", "collection_1"},
             {0.039910, 11.17, 0.039910, 11.17, 0.048129, 0.030721}, 18, 19),
        line({"clean up"}, {0.000325, 0.09, 0.000325, 0.09, 0.000529, 0.000244}, 9, 17)};
    // clang-format off
    CHECK(table(profile, "Final profile") == R"(Final profile
=============
Name                 Inclusive % Incl Exclusive % Excl Max Excl  Min Excl  Max PE Min PE
o_server_front        0.357244 100.00  0.053738  15.04  0.881602  0.013470  0000   0002
--wait_message        0.047207  13.21  0.047207  13.21  0.052244  0.040038  0011   0013
--add_Histcollection  0.003346   0.94  0.003346   0.94  0.005641  0.000294  0002   0007
--receive_data        0.194778  54.52  0.000496   0.14  0.000696  0.000367  0013   0019
----collection_1      0.194282  54.38  0.194282  54.38  0.421234  0.113870  0013   0021
--forward_data        0.057849  16.19  0.017939   5.02  0.051281  0.000058  0020   0018
----collection_1      0.039910  11.17  0.039910  11.17  0.048129  0.030721  0018   0019
--clean up            0.000325   0.09  0.000325   0.09  0.000529  0.000244  0009   0017
)");
    // clang-format on
}

TEST_CASE("columns grow with names, hours and ranks") {
    const std::string name = "a collection with a long name";
    ProfileOfRanks profile;
    profile.ranks = 20000;
    profile.regions.push_back(
        {{"server", name}, 20000, 1, 86400.5, 86400.5, 100, 100, 86400.5, 86400.5, 12345, 7});
    CHECK(table(profile, "Stall") ==
          "Stall\n=====\n"
          "Name                            Inclusive    % Incl Exclusive    % Excl Max Excl     "
          "Min Excl     Max PE Min PE\n"
          "--a collection with a long name 86400.500000 100.00 86400.500000 100.00 86400.500000 "
          "86400.500000 12345   0007\n");
}

TEST_CASE("ranks may be in other regions, in another order, or off") {
    comm::run_threads(4, [](const comm::Comm& comm) {
        Watch watch;
        Profiler on(comm.rank() == 3 ? "model" : "server", watch.clock());
        const Profiler off;
        if (comm.rank() == 0) stay(on, watch, "geo", 1);
        if (comm.rank() == 1) {
            stay(on, watch, "history", 2);
            stay(on, watch, "geo", 3);
        }
        if (comm.rank() == 3) stay(on, watch, "history", 5);
        const auto profile = gather(comm, comm.rank() == 2 ? off : on, watch.clock());
        if (!profile) return;
        CHECK(profile->ranks == 4);
        std::string all;
        for (const RegionOfRanks& one : profile->regions)
            all += one.path.front() + '/' + one.path.back() + ' ' + std::to_string(one.ranks) +
                   ' ' + std::to_string(one.calls) + ' ' + std::to_string(one.inclusive_s) + ' ' +
                   std::to_string(one.min_rank) + '\n';
        CHECK(all ==
              "server/server 2 2 3.000000 0\nserver/geo 2 2 2.000000 0\n"
              "server/history 1 1 1.000000 1\nmodel/model 1 1 5.000000 3\n"
              "model/history 1 1 5.000000 3\n");
    });
}

TEST_CASE("nobody has a profiler") {
    const auto profile = gather(comm::Comm::self(), Profiler());
    REQUIRE(profile);
    CHECK(profile->regions.empty());
    CHECK(json::parse_object(trace_text(*profile), "trace", trace_kind)["traceEvents"].empty());
}

TEST_CASE("JSON and the trace are whole files that readers understand") {
    const std::filesystem::path base = "profiler_test/run.v1";
    std::filesystem::remove_all(base.parent_path());
    std::filesystem::create_directory(base.parent_path());
    comm::run_threads(2, [&](const comm::Comm& comm) {
        Watch watch;
        watch.now += comm.rank();  // the first event is that of rank 0
        Profiler profiler("server", watch.clock());
        const std::string damaged = "his\"tory\xff";
        {
            const auto writing = profiler.region("write");
            stay(profiler, watch, damaged, 2);
        }
        watch.now = 200;
        auto profile = gather(comm, profiler, watch.clock());
        write_files(comm, profile, base);
        profile = gather(comm, profiler, watch.clock(), 2);
        write_files(comm, profile, "profiler_test/short");
    });
    const auto profile = json::parse(content("profiler_test/run.v1.json"), "run", profile_kind);
    CHECK(profile["ranks"] == 2);
    REQUIRE(profile["regions"].size() == 3);
    CHECK(profile["regions"][2].dump() ==
          "{\"path\":[\"server\",\"write\",\"his\\\"tory\xef\xbf\xbd\"],\"ranks\":2,\"calls\":2,"
          "\"inclusive_s\":2.0,\"inclusive_percent\":2.0100502512562812,\"exclusive_s\":2.0,"
          "\"exclusive_percent\":2.0100502512562812,\"max_exclusive_s\":2.0,"
          "\"min_exclusive_s\":2.0,\"max_rank\":0,\"min_rank\":0}");

    const auto trace =
        json::parse_object(content("profiler_test/run.v1.trace.json"), "trace", trace_kind);
    CHECK(trace["otherData"]["events_left_out"] == 0);
    std::set<std::string> events;
    for (const auto& event : trace["traceEvents"]) events.insert(event.dump());
    CHECK(events.size() == 6);
    for (const char* event :
         {R"({"name":"server","ph":"X","pid":0,"tid":0,"ts":0.0,"dur":100000000.0})",
          R"({"name":"server","ph":"X","pid":1,"tid":0,"ts":1000000.0,"dur":99000000.0})",
          R"({"name":"write","ph":"X","pid":1,"tid":0,"ts":1000000.0,"dur":2000000.0})"})
        CHECK(events.contains(event));

    const auto few =
        json::parse_object(content("profiler_test/short.trace.json"), "trace", trace_kind);
    CHECK(few["traceEvents"].size() == 2);  // of each rank the longest
    CHECK(few["otherData"].dump() == R"({"events_left_out":4,"longest_left_out_us":2000000.0})");
    CHECK(std::distance(std::filesystem::directory_iterator("profiler_test"), {}) == 6);
    std::filesystem::remove_all(base.parent_path());
}

TEST_CASE("all ranks hear that a file cannot be written") {
    comm::run_threads(2, [](const comm::Comm& comm) {
        const Profiler profiler("server");
        const auto profile = gather(comm, profiler);
        std::string where;
        try {
            write_files(comm, profile, "no_such_folder/run");
        } catch (const core::Error& error) {
            where = error.where();
        }
        CHECK(where.find("no_such_folder/run.txt") != std::string::npos);
    });
}
