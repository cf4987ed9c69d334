// SPDX-License-Identifier: Apache-2.0
#include "core/record.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "core/results_file.hpp"
#include "record_samples.hpp"

using namespace tailrace::core;
using Json = nlohmann::json;

namespace {

std::filesystem::path fresh_path(const std::string& name) {
    auto path = std::filesystem::temp_directory_path() /
                ("tailrace-record-" + std::to_string(::getpid()) + name);
    std::filesystem::remove(path);
    return path;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

std::string times_text(const std::map<std::string, std::vector<double>>& entries) {
    std::map<std::string, PhaseTime> times;
    for (const auto& [name, each] : entries) {
        PhaseTime& time = times[name];
        time.entries = each.size();
        for (double seconds : each) time.elapsed_s += seconds;
    }
    return phases_to_text(times);
}

}  // namespace

TEST_CASE("a record is one line and says what happened") {
    const std::string line = to_json_line(tailrace::test::full_record());
    CHECK(line.find('\n') == std::string::npos);
    const Json json = Json::parse(line);
    CHECK(json["schema"] == "tailrace-record/1");
    CHECK(json["status"] == "ok");
    CHECK(json["error"].is_null());
    CHECK(json["configuration"]["processor"] == Json({2, 1, 1}));
    CHECK(json["configuration"]["chunk"].is_null());
    CHECK(json["configuration"]["hint"]["romio_cb_write"] == "enable");
    CHECK(json["bytes"]["stored"] == 1200);
    CHECK(json["rates"]["durable_bytes_per_s"] == 2000.0);
    CHECK(json["rates"]["write_bytes_per_s"] == 5000.0);
    CHECK(json["transfers"]["collective_actual"] == true);
    CHECK(json["transfers"]["metadata_collective_actual"] == false);
    CHECK(json["context"]["mpi_io"] == "ROMIO");
    CHECK(json["context"]["striping"]["stripe_count"] == "4");
    CHECK(json["writers"]["ranks_that_wrote"] == 1);
    CHECK(json["writers"]["list"][0]["by_size"] == Json({{"256", 2}}));
    CHECK(json["writers"]["list"][0]["by_phase"].size() == 1);
    CHECK(json["writers"]["list"][1]["calls"] == 0);
    CHECK(json["steps"][0].contains("sync_s"));
    CHECK_FALSE(json["steps"][1].contains("sync_s"));
    CHECK_FALSE(json["steps"][0].contains("steps"));
    CHECK(json["steps"][1]["steps"] == 3);
    CHECK(json["verification"]["status"] == "failed");
    CHECK(json["verification"]["first"][0]["found"].is_null());
    CHECK(json["read_back"]["rate_bytes_per_s"] == 100000.0);
    CHECK(json["file"]["durable"] == true);
    const Json& first = json["time_lines"]["list"][0];
    CHECK(first["stretches"] == Json::parse("[[0,0.0,0.1],[1,0.25,0.5,3]]"));
    CHECK(json["time_lines"]["list"][1]["stretches"][0][2] == 0.333333333);
    CHECK(json["time_lines"]["clock"] == "barrier");
}

TEST_CASE("what was not measured is null, never a guess") {
    const Json json = Json::parse(to_json_line(Record{}));
    CHECK(json["transfers"]["collective_actual"].is_null());
    CHECK(json["transfers"]["metadata_collective_actual"].is_null());
    CHECK(json["writers"]["measured"] == false);
    CHECK(json["writers"]["ranks_that_wrote"].is_null());
    CHECK(json["rates"]["durable_bytes_per_s"].is_null());
    CHECK(json["read_back"].is_null());
    CHECK(json["verification"]["status"] == "not_run");
    CHECK(json["verification"]["elements"].is_null());
    CHECK(json["bytes"]["stored"].is_null());
    CHECK(json["elapsed"]["durable_s"].is_null());
    CHECK(json["memory"]["peak_bytes_max"].is_null());
    CHECK(json["reservation"]["reserved"].is_null());
    CHECK_FALSE(json["file"].contains("content_hashes"));
    CHECK(json["time_lines"].is_null());
}

TEST_CASE("of a file that failed the path and the writers are known, and no sizes") {
    FileReport report;
    report.path = "/data/f.h5";
    report.parts = {"/data/f.h5.part"};
    report.writers = {WriterReport{}};
    report.writers_measured = true;
    Record record;
    take_failed(record, report);
    const Json json = Json::parse(to_json_line(record));
    CHECK(json["file"]["path"] == "/data/f.h5");
    CHECK(json["file"]["parts"].empty());
    CHECK(json["writers"]["list"].size() == 1);
    CHECK(json["bytes"]["logical"].is_null());
}

TEST_CASE("a failed repetition has its error and no rates") {
    Record record = tailrace::test::full_record();
    record.error =
        Error(Code::data_lost, "3 bytes are missing", "f.h5", "use another disk").seen_by(1, 2, 4);
    const Json json = Json::parse(to_json_line(record));
    CHECK(json["status"] == "failed");
    CHECK(json["error"]["code"] == "data_lost");
    CHECK(json["error"]["exit_code"] == 1);
    CHECK(json["error"]["rank"] == 1);
    CHECK(json["error"]["failed_ranks"] == 2);
    CHECK(json["rates"]["durable_bytes_per_s"].is_null());
}

TEST_CASE("names that are not UTF-8 do not break the line") {
    Record record;
    record.file.path = "/data/\xff.h5";
    CHECK(Json::parse(to_json_line(record)).is_object());
}

TEST_CASE("phases are gathered by name, a rank without one counts as 0") {
    const std::vector<std::string> texts{
        times_text({{"write", {0.25, 0.5}}, {"create", {1}}}),
        times_text({{"write", {0.125, 0.125}}}),
    };
    const auto phases = phases_of(texts);
    CHECK(phases.at("write").elapsed_s.min == 0.25);
    CHECK(phases.at("write").elapsed_s.mean == 0.5);
    CHECK(phases.at("write").elapsed_s.max == 0.75);
    CHECK(phases.at("write").entries == 2);
    CHECK(phases.at("create").elapsed_s.min == 0);
    CHECK(phases.at("create").elapsed_s.max == 1);
    CHECK(!phases.at("write").path_s);
    CHECK(phases_of({}).empty());
}

TEST_CASE("the path is that of the rank for which the others waited") {
    const std::vector<std::string> texts{
        times_text({{"write", {1}}, {"agree", {9}}}),
        times_text({{"write", {1}}, {"sync", {8.5}}, {"agree", {0.5}}}),
    };
    const auto phases = phases_of(texts, texts);
    CHECK(phases.at("sync").path_s == 8.5);
    CHECK(phases.at("agree").path_s == 0.5);
    CHECK(phases.at("sync").elapsed_s.mean == 4.25);
}

TEST_CASE("times keep their value to the last bit on the way") {
    const double third = 1.0 / 3;
    const auto phases = phases_of(std::vector<std::string>{times_text({{"write", {third}}})});
    CHECK(phases.at("write").elapsed_s.max == third);
}

TEST_CASE("a damaged text is an error") {
    for (const char* text : {"write", "write\tx\t1\n", "write\t1\t2x\n", "write\t1\n", "\n"})
        CHECK_THROWS_AS((void)phases_of(std::vector<std::string>{text}), Error);
}

TEST_CASE("lines are appended, also after one that was cut short") {
    const auto path = fresh_path("append");
    append_line(path, "{\"a\":1}");
    append_line(path, "{\"a\":2}");
    std::ofstream(path, std::ios::app) << "{\"killed";
    append_line(path, "{\"a\":3}");
    CHECK(lines_of(path) ==
          std::vector<std::string>{"{\"a\":1}", "{\"a\":2}", "{\"killed", "{\"a\":3}"});
    std::filesystem::remove(path);
}

TEST_CASE("several writers at once leave whole lines") {
    const auto path = fresh_path("many");
    std::vector<std::thread> writers;
    for (int who = 0; who < 4; ++who)
        writers.emplace_back([&, who] {
            for (int k = 0; k < 10; ++k)
                append_line(path, std::string(5000, static_cast<char>('a' + who)));
        });
    for (std::thread& writer : writers) writer.join();
    const auto lines = lines_of(path);
    CHECK(lines.size() == 40);
    for (const std::string& line : lines) {
        CHECK(line.size() == 5000);
        CHECK(line.find_first_not_of(line[0]) == std::string::npos);
    }
    std::filesystem::remove(path);
}

TEST_CASE("a lock that another one holds is waited for, but not for ever") {
    const auto path = fresh_path("locked");
    const int other = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
    REQUIRE(::flock(other, LOCK_EX) == 0);
    CHECK_THROWS_WITH_AS(append_line(path, "{}", 0.1), doctest::Contains("lock"), Error);
    std::thread ends([&] {
        ::usleep(100000);
        ::flock(other, LOCK_UN);
    });
    append_line(path, "{}", 10);
    ends.join();
    ::close(other);
    CHECK(lines_of(path) == std::vector<std::string>{"{}"});
    std::filesystem::remove(path);
}

TEST_CASE("a results file is looked at without being made") {
    const auto path = fresh_path("looked-at");
    check_results_file(path);
    CHECK_FALSE(std::filesystem::exists(path));
    try_results_file(path);
    CHECK_FALSE(std::filesystem::exists(path));
    for (const char* wrong : {"/no/such/folder/r", "/tmp"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH_AS(check_results_file(wrong), doctest::Contains(wrong), Error);
    }
    CHECK_THROWS_WITH_AS(try_results_file("/proc/r"), doctest::Contains("/proc/r"), Error);
}

TEST_CASE("a results file that cannot be written is an error that names it") {
    CHECK_THROWS_WITH_AS(append_line("/no/such/folder/results.jsonl", "{}"),
                         doctest::Contains("/no/such/folder/results.jsonl"), Error);
    CHECK_THROWS_WITH_AS(append_line("/dev/full", "{}"), doctest::Contains("/dev/full"), Error);
}

TEST_CASE("run names differ") {
    std::set<std::string> names;
    for (int k = 0; k < 100; ++k) names.insert(new_run_id());
    CHECK(names.size() == 100);
}
