// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "core/time_lines.hpp"

using namespace tailrace::core;

namespace {

/// A line of `steps` steps of 1 s: 0.7 s "write" with 0.2 s "agree" in between, and 0.1 s nothing.
TimeLine many_steps(int steps) {
    TimeLine line;
    line.begin(100);
    for (int step = 0; step < steps; ++step) {
        const double at = 100.0 + step;
        line.turn("write", at);
        line.turn("agree", at + 0.4);
        line.turn("write", at + 0.6);
        line.turn("", at + 0.9);
    }
    return line;
}

std::map<std::string, double> sums_s(const TimeLine& line) {
    std::map<std::string, double> sums;
    for (const Stretch& one : line.stretches())
        sums[line.names().at(one.phase)] += one.end_s - one.start_s;
    return sums;
}

void check_in_order(const TimeLine& line) {
    double before_s = 0;
    for (const Stretch& one : line.stretches()) {
        CHECK(one.start_s >= before_s - 1e-9);
        CHECK(one.end_s > one.start_s);
        before_s = one.end_s;
    }
}

WriterReport writer(int rank, std::uint64_t bytes) {
    WriterReport report;
    report.rank = rank;
    report.total.write.bytes_done = bytes;
    return report;
}

}  // namespace

TEST_CASE("a time line keeps each stretch, from its start on") {
    TimeLine line;
    line.turn("before", 1);
    line.turn("", 2);
    CHECK(line.stretches().empty());
    line.begin(10);
    line.turn("write", 10.5);
    line.turn("agree", 11);
    line.turn("write", 11);  // nothing lasted
    line.turn("", 12);
    line.turn("close", 15);
    line.turn("", 16);
    REQUIRE(line.stretches().size() == 3);
    CHECK(line.names() == std::vector<std::string>{"write", "agree", "close"});
    const Stretch& last = line.stretches().back();
    CHECK(line.stretches()[1].start_s == 1);
    CHECK(last.phase == 2);
    CHECK(last.start_s == 5);
    CHECK(last.end_s == 6);
    CHECK(line.resolution_s() == 0);
}

TEST_CASE("phases write their time line, nested ones in between") {
    Phases phases;
    phases.begin_line(now_s());
    {
        const auto outer = phases.enter("write");
        {
            const auto inner = phases.enter("agree");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(phases.line().names() == std::vector<std::string>{"write", "agree"});
    const auto sums = sums_s(phases.line());
    for (const auto& [name, sum_s] : sums) {
        CHECK(sum_s >= 0.001);
        CHECK(std::abs(sum_s - phases.seconds(name)) < 1e-8);
    }
    check_in_order(phases.line());
}

TEST_CASE("too many stretches are joined: same sums, in order, near to where they were") {
    const int steps = 5000;
    TimeLine line = many_steps(steps);  // 15000 stretches
    CHECK(line.stretches().size() <= TimeLine::most_kept);
    CHECK(line.stretches().size() > TimeLine::most_kept / 8);
    line.coarsen(64);
    CHECK(line.stretches().size() <= 64);
    CHECK(line.stretches().size() > 8);
    check_in_order(line);
    CHECK(sums_s(line).at("write") == doctest::Approx(0.7 * steps));
    CHECK(sums_s(line).at("agree") == doctest::Approx(0.2 * steps));
    std::uint64_t joined = 0;
    for (const Stretch& one : line.stretches()) joined += one.joined;
    CHECK(joined == 3 * steps);
    CHECK(line.resolution_s() > 1);
    CHECK(line.resolution_s() < steps / 2.0);
    CHECK(line.stretches().back().end_s <= steps);
    line.coarsen(1);  // there are two phases
    CHECK(line.stretches().size() == 2);
}

TEST_CASE("in a long run, too, the resolution is a small part of it, and it holds") {
    const int steps = 100000;
    const TimeLine line = many_steps(steps);
    CHECK(line.resolution_s() < steps / 100.0);
    double written_s = 0, furthest_s = 0;
    for (const Stretch& one : line.stretches()) {
        if (line.names().at(one.phase) != "write") continue;
        written_s += one.end_s - one.start_s;
        furthest_s = std::max(furthest_s, std::abs(written_s / 0.7 - one.end_s));
    }
    CHECK(furthest_s > 1);
    CHECK(furthest_s <= line.resolution_s() + 1);  // a step is 1 s
}

TEST_CASE("a long stretch stays where it was when short ones are joined") {
    TimeLine line = many_steps(100);
    line.turn("sync", 200);
    line.turn("", 300);
    line.coarsen(50);
    CHECK(line.stretches().size() <= 50);
    CHECK(line.names().at(line.stretches().back().phase) == "sync");
    CHECK(line.stretches().back().start_s == 100);
    CHECK(line.stretches().back().end_s == 200);
    CHECK(line.stretches().back().joined == 1);
}

TEST_CASE("all ranks are shown, or the slowest, the fastest, writers and others") {
    std::vector<double> busy_s(64, 1.0);
    std::vector<WriterReport> writers;
    CHECK(ranks_to_show(busy_s, writers).size() == 64);
    busy_s.assign(1000, 1.0);
    busy_s[333] = 5;
    busy_s[777] = 0.1;
    for (int rank = 0; rank < 1000; ++rank)
        writers.push_back(writer(rank, rank % 100 == 7 ? 10 : 0));
    const std::vector<int> shown = ranks_to_show(busy_s, writers);
    CHECK(shown.size() == 64);
    CHECK(std::is_sorted(shown.begin(), shown.end()));
    for (const int rank : {0, 7, 107, 333, 777, 907, 999})
        CHECK_MESSAGE(std::find(shown.begin(), shown.end(), rank) != shown.end(), rank);
    // Where all write they do not push the others out.
    for (WriterReport& one : writers) one.total.write.bytes_done = 1;
    CHECK(ranks_to_show(busy_s, writers, 8).size() == 8);
    CHECK(ranks_to_show({}, {}).empty());
}

TEST_CASE("the Record stays small: fewer stretches for each of more ranks") {
    CHECK(most_stretches(1) == 512);
    CHECK(most_stretches(64) == 64);
    CHECK(64 * most_stretches(64) <= 4096);
}

TEST_CASE("work is neither waiting nor off the clock") {
    CHECK(busy_s({{"write", {2, 1}},
                  {"sync", {1, 1}},
                  {"agree", {9, 1}},
                  {"compute", {9, 1}},
                  {"verify", {9, 1}}}) == 3);
}

TEST_CASE("lines of ranks with other phases get one list of names") {
    const TimeLinesRecord record =
        joined({{{0, 0, {{0, 0, 1, 1}, {1, 2, 3, 1}}}, {"create", "write"}},
                {{3, 0, {{0, 0.5, 2, 1}}}, {"wait"}},
                {{5, 0, {}}, {}}});
    CHECK(record.phases == std::vector<std::string>{"create", "wait", "write"});
    REQUIRE(record.lines.size() == 3);
    CHECK(record.lines[0].stretches[1].phase == 2);
    CHECK(record.lines[1].rank == 3);
    CHECK(record.lines[1].stretches[0].phase == 1);
    CHECK(record.lines[2].stretches.empty());
}
