// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fnmatch.h>

#include <random>
#include <set>

#include "intent/intents/path_parts.hpp"
#include "intent/intents/patterns.hpp"

using namespace tailrace::intent;

namespace {

std::vector<PathUse> uses(const std::vector<std::string>& paths) {
    std::vector<PathUse> made;
    for (const std::string& path : paths) made.push_back({path, {}, std::nullopt, 0});
    return made;
}

std::string only_pattern(const std::vector<std::string>& paths) {
    const auto patterns = patterns_of(uses(paths));
    return patterns.size() == 1 ? patterns[0].pattern : std::to_string(patterns.size());
}

bool matches(const PathPattern& pattern, const std::string& path) {
    return fnmatch(pattern.glob.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

}  // namespace

TEST_CASE("patterns: digits of words and extensions stay") {
    CHECK(only_pattern({"/data/run_a/field.h5"}) == "/data/run_a/field.h5");
    CHECK(only_pattern({"/p/x3d/mesh2.nc4"}) == "/p/x3d/mesh2.nc4");
    CHECK(only_pattern({"/p/write-1d-x/test.h5"}) == "/p/write-1d-x/test.h5");
    CHECK(only_pattern({"/p/{x}.h5"}) == "/p/{{x}}.h5");
}

TEST_CASE("patterns: a word before the number says what it is, also of one file") {
    CHECK(only_pattern({"/out/plt00010.h5"}) == "/out/plt{step}.h5");
    CHECK(only_pattern({"/out/rank_7.h5"}) == "/out/rank_{rank}.h5");
    CHECK(only_pattern({"/Timestep_3px"}) == "/Timestep_{step}px");
    CHECK(only_pattern({"/job.1234/a.h5"}) == "/job.{number}/a.h5");
    CHECK(only_pattern({"/a/field.0007.nc"}) == "/a/field.{number}.nc");
    CHECK(only_pattern({"/a/version_2.nc"}) == "/a/version_2.nc");
    CHECK(only_pattern({"/t2m"}) == "/t2m");
    CHECK(only_pattern({"/t_2m"}) == "/t_2m");  // one letter is no word, unless the number varies
    CHECK(only_pattern({"/t_2m", "/t_10m"}) == "/t_{step}m");
    CHECK(only_pattern({"/t0002m"}) == "/t{step}m");
    CHECK(only_pattern({"/t2m", "/t10m"}) == "/t{step}m");
}

TEST_CASE("patterns: dates and identifiers") {
    CHECK(only_pattern({"/r/2024-03-01/a_20240301T120000.nc"}) == "/r/{date}/a_{date}.nc");
    CHECK(only_pattern({"/r/20240301.nc"}) == "/r/{date}.nc");
    CHECK(only_pattern({"/r/a_20241399.nc"}) == "/r/a_20241399.nc");  // no such month
    CHECK(only_pattern({"/r/67f1e8ee/x.h5"}) == "/r/{id}/x.h5");
    CHECK(only_pattern({"/r/123e4567-e89b-12d3-a456-426614174000.h5"}) == "/r/{id}.h5");
    CHECK(only_pattern({"/r/deadbeef/x.h5"}) == "/r/deadbeef/x.h5");  // a word, for all we know
}

TEST_CASE("patterns: dates as files of weather and climate have them") {
    const auto check = [](const std::string& path, const std::string& pattern,
                          const std::string& next) {
        const PathPattern found = patterns_of(uses({path}))[0];
        INFO(found.glob, " against ", next);
        CHECK(found.pattern == pattern);
        CHECK(matches(found, path));
        CHECK(matches(found, next));
    };
    check("/w/era5_2024030112.nc", "/w/era5_{date}.nc", "/w/era5_2024040100.nc");
    check("/w/x_202403011230.nc", "/w/x_{date}.nc", "/w/x_202404010000.nc");
    check("/w/x_2024030100-2024033123.nc", "/w/x_{date}-{date}.nc",
          "/w/x_2024040100-2024043023.nc");
    check("/w/x_20240301T12.nc", "/w/x_{date}.nc", "/w/x_20240401T00.nc");
    check("/w/x_20240301T1230.nc", "/w/x_{date}.nc", "/w/x_20240401T0000.nc");
    check("/w/ua_202403.nc", "/w/ua_{date}.nc", "/w/ua_202404.nc");
    check("/w/tas_185001-185012.nc", "/w/tas_{date}-{date}.nc", "/w/tas_185101-185112.nc");
    check("/w/tas_18500101.nc", "/w/tas_{date}.nc", "/w/tas_18500201.nc");
    check("/w/x_2024-03.nc", "/w/x_{date}.nc", "/w/x_2024-04.nc");
    check("/w/2024-03/x.nc", "/w/{date}/x.nc", "/w/2024-04/x.nc");
    check("/w/2024/03/x.nc", "/w/{date}/{date}/x.nc", "/w/2024/04/x.nc");
    check("/w/2024/03/01/x.nc", "/w/{date}/{date}/{date}/x.nc", "/w/2024/04/30/x.nc");
}

TEST_CASE("patterns: other numbers of as many digits are no dates") {
    for (const char* name :
         {"/w/x_100000.h5", "/w/x_202413.h5", "/w/x_179912.h5", "/w/x202403.h5",
          "/w/x_2024030125.h5", "/w/x_202403011260.h5", "/w/x_2024-13.h5", "/w/x_2024-121.h5",
          "/w/x2024-03.h5", "/w/2024/13/x.h5", "/w/2024/x.h5", "/w/2024/03.h5", "/w/2024/3/x.h5"})
        CHECK(only_pattern({name}) == name);
    CHECK(only_pattern({"/w/x_000123.h5"}) == "/w/x_{number}.h5");
    CHECK(only_pattern({"/w/dump_200010.h5"}) == "/w/dump_{step}.h5");
    // Steps of which some look like months stay together.
    CHECK(only_pattern({"/w/x_200000.h5", "/w/x_200010.h5"}) == "/w/x_{number}.h5");
    CHECK(only_pattern({"/w/2024/03/x.h5", "/w/2024/13/x.h5"}) == "/w/2024/{number}/x.h5");
}

TEST_CASE("patterns: a number that goes with the process is a rank") {
    std::vector<PathUse> files;
    for (std::uint64_t rank = 0; rank < 4; ++rank)
        files.push_back({"/o/part." + std::to_string(rank + 1) + ".h5", ProcessSet(rank, rank),
                         Seconds(0.1), 0});
    CHECK(patterns_of(files)[0].pattern == "/o/part.{rank}.h5");
    files[2].processes = ProcessSet(3, 3);
    CHECK(patterns_of(files)[0].pattern != "/o/part.{rank}.h5");
}

TEST_CASE("patterns: a number that rises with time is a step, others are numbers") {
    std::vector<PathUse> files;
    for (int i = 0; i < 4; ++i)
        files.push_back({"/o/x" + std::to_string(10 * i) + ".h5", {}, Seconds(1.0 * i), 0});
    CHECK(patterns_of(files)[0].pattern == "/o/x{step}.h5");
    files[1].first_s = 9;
    CHECK(patterns_of(files)[0].pattern == "/o/x{number}.h5");
}

TEST_CASE("patterns: few values of a number that says nothing are part of the name") {
    const std::vector<std::string> names{"/Timestep_0id_1", "/Timestep_0id_2", "/Timestep_1id_1",
                                         "/Timestep_1id_2"};
    const auto patterns = patterns_of(uses(names), 3);
    REQUIRE(patterns.size() == 2);
    CHECK(patterns[0].pattern == "/Timestep_{step}id_1");
    CHECK(patterns[1].pattern == "/Timestep_{step}id_2");
    CHECK(patterns_of(uses(names)).size() == 1);
}

TEST_CASE("patterns: every path is a member of exactly one and matches its glob") {
    std::mt19937_64 random(20240301);
    const std::string letters = "ab/_.-[]*?\\{}0123456789Txrank20240301";
    for (int round = 0; round < 300; ++round) {
        std::set<std::string> paths;
        for (std::size_t n = 1 + random() % 12; n > 0; --n) {
            std::string path = "/";
            for (std::size_t k = random() % 24; k > 0; --k)
                path += letters[random() % letters.size()];
            paths.insert(path);
        }
        std::vector<PathUse> given = uses({paths.begin(), paths.end()});
        for (PathUse& use : given) {
            const std::uint64_t process = random() % 4;
            use.processes = ProcessSet(process, process + random() % 2);
            if (random() % 2 == 0) use.first_s = static_cast<double>(random() % 10);
        }
        std::multiset<std::size_t> members;
        for (const PathPattern& pattern : patterns_of(given, 1 + random() % 4))
            for (const std::size_t member : pattern.members) {
                members.insert(member);
                INFO(given[member].path, " against ", pattern.glob);
                CHECK(matches(pattern, given[member].path));
            }
        CHECK(members.size() == given.size());
        CHECK(std::set<std::size_t>(members.begin(), members.end()).size() == given.size());
    }
}

TEST_CASE("patterns: what never changed and is not said to count is part of the name") {
    CHECK(only_pattern({"/T250_p850.bin", "/T250_p500.bin"}) == "/T250_p{number}.bin");
    CHECK(only_pattern({"/restart_1e-5.bin"}) == "/restart_1e-5.bin");
    CHECK(only_pattern({"/restart_1.bin"}) == "/restart_{step}.bin");
}

TEST_CASE("patterns: the next run's files match, other files do not") {
    const auto pattern = patterns_of(uses({"/job_12/plt00010.h5"}))[0];
    CHECK(matches(pattern, "/job_977/plt00500.h5"));
    CHECK_FALSE(matches(pattern, "/job_977/chk00500.h5"));
    CHECK_FALSE(matches(pattern, "/job_x/plt00500.h5"));
    CHECK(pattern.name_glob == "plt[0-9][0-9][0-9][0-9][0-9].h5");
}

TEST_CASE("patterns: a glob is as narrow as the form of a number allows") {
    const auto glob = [](const std::vector<std::string>& paths) {
        return patterns_of(uses(paths))[0];
    };
    const PathPattern filled_up = glob({"/dump.01000", "/dump.10000"});
    CHECK(matches(filled_up, "/dump.20000"));
    CHECK_FALSE(matches(filled_up, "/dump.01000.bak"));
    CHECK(glob({"/dump.1000"}).glob == "/dump.[0-9]*");  // how many digits the next has is open
    CHECK(glob({"/part.007"}).glob == "/part.[0-9]*");   // more than 999 will be
    const PathPattern dated = glob({"/a_2024-03-01.nc"});
    CHECK(matches(dated, "/a_2025-12-31.nc"));
    CHECK_FALSE(matches(dated, "/a_2024-03-01.old.nc"));
    CHECK(glob({"/a_20240301.nc", "/a_2024-03-01.nc"}).glob == "/a_[0-9]*.nc");
    const PathPattern id = glob({"/123e4567-e89b-12d3-a456-426614174000.h5"});
    CHECK(matches(id, "/550e8400-e29b-41d4-a716-446655440000.h5"));
    CHECK_FALSE(matches(id, "/anything.h5"));
}
