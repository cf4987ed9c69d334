// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>

#include "intent/profile/unseen.hpp"
#include "intent/rules/from_intents.hpp"
#include "profiles.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::tests;

namespace {

Profile run(std::uint64_t ranks, const std::string& path, bool collective) {
    Profile made = profile(ranks);
    File one = file(path, 0, ranks - 1);
    Dataset data = dataset("/x", 100, ranks);
    data.writes = transfers(ranks, 800, 0, 1);
    data.requested_collective = collective;
    one.datasets = {data};
    made.files = {one};
    return made;
}

Profile reader(const std::string& path, const std::string& start) {
    Profile made = run(2, path, false);
    Dataset& data = made.files[0].datasets[0];
    data.reads = data.writes;
    data.writes.reset();
    made.origin.start = start;
    return made;
}

}  // namespace

TEST_CASE("runs of several sizes: statements that agree are one, those that do not are marked") {
    const Intents found =
        intents_of({{"a", run(4, "/j_1/out.h5", true)}, {"b", run(8, "/j_1/out.h5", true)}});
    const DatasetIntent& one = found.datasets.at("/j_1/out.h5:/x");
    CHECK_FALSE(one.collective.changes);
    CHECK(one.profiles == std::vector<std::uint64_t>{0, 1});
    CHECK(one.process_sharing.size() == 8);  // of the larger run
    CHECK(one.collective.evidence.size() == 2);
    CHECK(one.collective.evidence[1].profile == 1);

    const Intents differ =
        intents_of({{"a", run(4, "/j_1/out.h5", true)}, {"b", run(8, "/j_1/out.h5", false)}});
    const Statement& collective = differ.datasets.at("/j_1/out.h5:/x").collective;
    CHECK(collective.changes);
    CHECK(collective.value == "not_requested");
    REQUIRE(collective.by_profile.size() == 2);
    CHECK(collective.by_profile[0].value == "requested");
    CHECK(collective.by_profile[1].profile == 1);
}

TEST_CASE("the order in which profiles are given does not decide") {
    const Intents small_first =
        intents_of({{"a", run(4, "/o.h5", true)}, {"b", run(8, "/o.h5", false)}});
    const Intents large_first =
        intents_of({{"b", run(8, "/o.h5", false)}, {"a", run(4, "/o.h5", true)}});
    CHECK(small_first.datasets.at("/o.h5:/x").collective.value ==
          large_first.datasets.at("/o.h5:/x").collective.value);
    CHECK(small_first.workload.ranks == large_first.workload.ranks);
}

TEST_CASE("of as many ranks the run that moved more is the largest, in whichever order they come") {
    Profile small = run(2, "/job_1/s.h5", true), large = run(2, "/job_2/s.h5", false);
    small.files[0].datasets[0].writes->bytes = 8;
    small.files.push_back(run(2, "/only_here.h5", true).files[0]);
    small.files[1].datasets[0].writes->bytes = 24;
    const std::vector<Intents> both{intents_of({{"a", small}, {"b", large}}),
                                    intents_of({{"b", large}, {"a", small}})};
    for (const Intents& found : both) {
        const DatasetIntent& one = found.datasets.at("/job_2/s.h5:/x");
        CHECK(one.volume.bytes_written == Count(800));
        CHECK(one.collective.value == "not_requested");
        CHECK(one.collective.changes);
        CHECK(found.files.count("/job_1/s.h5") == 0);
        // The bytes are those of the files that are counted.
        CHECK(found.workload.files == 2);
        CHECK(found.workload.volume.bytes_written == Count(824));
        CHECK(found.workload.words.what == "2 files, 2 datasets, 824 bytes written");
        for (const PatternIntent& pattern : found.workload.patterns)
            CHECK(found.files.count(pattern.examples.front()) == 1);
    }
    CHECK(both[0].datasets.begin()->second.collective.by_profile[0].value == "requested");
    CHECK(both[1].datasets.begin()->second.collective.by_profile[0].value == "not_requested");
}

TEST_CASE("of three runs the largest that knows decides") {
    const auto value = [](std::vector<std::uint64_t> order) {
        std::vector<NamedProfile> runs;
        for (const std::uint64_t ranks : order) {
            runs.push_back({std::to_string(ranks), run(ranks, "/o.h5", ranks == 4)});
            if (ranks == 8) runs.back().profile.files[0].datasets[0].requested_collective.reset();
        }
        return intents_of(runs).datasets.at("/o.h5:/x").collective.value;
    };
    CHECK(value({2, 4, 8}) == "requested");
    CHECK(value({8, 2, 4}) == "requested");
    CHECK(value({4, 8, 2}) == "requested");
}

TEST_CASE("folders that differ in a number are one place") {
    const Intents found =
        intents_of({{"a", run(4, "/job_17/out.h5", true)}, {"b", run(8, "/job_99/out.h5", true)}});
    REQUIRE(found.files.size() == 1);
    CHECK(found.files.begin()->second.naming.pattern == "/job_{number}/out.h5");
    CHECK(found.files.begin()->second.profiles.size() == 2);
    CHECK(found.datasets.size() == 1);
    CHECK(found.workload.patterns[0].files == 2);
}

TEST_CASE("a file that one program writes and another reads") {
    Profile writer = run(4, "/out.h5", true);
    writer.origin.start = "2024-03-01T10:00:00Z";
    const Profile after = reader("/out.h5", "2024-03-01T11:00:00Z");
    const Intents found = intents_of({{"w", writer}, {"r", after}});
    const FileIntent& one = found.files.at("/out.h5");
    CHECK(one.producer_consumer.value == "yes");
    CHECK(one.type.value == "read_after_write");
    CHECK_FALSE(one.type.changes);
    CHECK(found.workload.producer_consumer.value == "yes");
    CHECK(one.words.why == "written by one program and read by another");

    const Intents many = intents_of({{"w", writer}, {"r", after}, {"s", after}});
    CHECK(many.files.at("/out.h5").type.value == "write_once_read_many");

    const Intents before =
        intents_of({{"w", writer}, {"r", reader("/out.h5", "2024-02-01T00:00:00Z")}});
    CHECK(before.files.at("/out.h5").producer_consumer.value == "no");
    const Intents alone = intents_of({{"w", writer}});
    CHECK(alone.files.at("/out.h5").producer_consumer.value == "not known");
}

TEST_CASE("a file that another program updates in place goes from one to the other too") {
    Profile writer = run(4, "/out.h5", true);
    writer.origin.start = "2024-03-01T10:00:00Z";
    Profile updater = reader("/out.h5", "2024-03-01T11:00:00Z");
    for (File& file : updater.files)
        for (Dataset& data : file.datasets) data.writes = transfers(1, 800, 5, 6);
    REQUIRE(intents_of({{"u", updater}}).files.at("/out.h5").type.value == "read_before_write");
    const Intents found = intents_of({{"w", writer}, {"u", updater}});
    CHECK(found.files.at("/out.h5").producer_consumer.value == "yes");
    CHECK(found.files.at("/out.h5").type.value == "read_after_write");
    // Nobody writes it once.
    const Intents twice = intents_of({{"u", updater}, {"v", updater}});
    CHECK(twice.files.at("/out.h5").type.value == "read_before_write");
}

TEST_CASE("where a run lost declarations the joined file counts as durable") {
    Profile one = run(4, "/out.h5", true);
    one.files[0].declared = {{"property_list", {}, {{"reliability", std::string("scratch")}}}};
    Profile lost = one;
    lost.origin.dropped["declarations"] = 1;
    for (const auto& both : {std::pair{one, lost}, std::pair{lost, one}}) {
        const Intents found = intents_of({{"a", both.first}, {"b", both.second}});
        CHECK(found.files.at("/out.h5").reliability.value == "durable");
    }
}

namespace {

Transfers shaped(const Extents& length, std::uint64_t calls, const Order& order) {
    Transfers made = transfers(calls, calls * 800, 0, 1);
    Shape shape;
    shape.selection = Selection::hyperslab;
    shape.length = length;
    shape.calls = calls;
    shape.call_bytes = 800;
    made.shapes = {shape};
    made.order = order;
    made.elapsed_s = 2;
    return made;
}

/// One program writes rows, or reads columns.
Profile of_rows(bool reads, std::uint64_t ranks, const std::string& start) {
    Profile made = run(ranks, "/out.h5", false);
    made.origin.start = start;
    Dataset& data = made.files[0].datasets[0];
    data.dims = {100, 100};
    data.writes.reset();
    if (reads)
        data.reads = shaped({100, 1}, 100, Order{0, 99, 0, 0, {}, {}});
    else
        data.writes = shaped({1, 100}, 100, Order{99, 0, 0, 0, {}, {}});
    made.files[0].posix = PosixFile{};
    PosixTransfers calls;
    calls.calls = 7;
    calls.bytes = 70;
    (reads ? made.files[0].posix->reads : made.files[0].posix->writes) = calls;
    return made;
}

template <class T>
void check_both_sides(const T& one) {
    CHECK(one.volume.bytes_written == Count(80000));
    CHECK(one.volume.bytes_read == Count(80000));
    CHECK(one.volume.read_s == Seconds(2));
    CHECK(one.session_io.read_timestamp.has_value());
    CHECK(one.session_io.write_timestamp.has_value());
    REQUIRE(one.top_accessed_segments.size() == 2);
    for (const Segment& segment : one.top_accessed_segments) {
        REQUIRE(segment.direction);
        CHECK(segment.length == (*segment.direction == "read" ? Extents{100, 1} : Extents{1, 100}));
    }
    CHECK(one.transfer_size_dist.front().calls == 200);
    CHECK(one.order.value == "mixed");
    CHECK(one.order.by_profile.size() == 2);
}

}  // namespace

TEST_CASE("numbers of the consumer stand beside those of the producer, whichever run is larger") {
    for (const std::uint64_t readers : {1, 4}) {
        const Intents found = intents_of({{"w", of_rows(false, 2, "2024-03-01T10:00:00Z")},
                                          {"r", of_rows(true, readers, "2024-03-01T11:00:00Z")}});
        const FileIntent& one = found.files.at("/out.h5");
        check_both_sides(found.datasets.at("/out.h5:/x"));
        check_both_sides(one);
        CHECK(one.layers.at("posix").volume.bytes_read == Count(70));
        CHECK(one.layers.at("posix").volume.bytes_written == Count(70));
        CHECK(one.ap_distribution == Counts{{"read_after_write", 1}});
        CHECK(found.workload.volume.bytes_read == Count(80000));
        CHECK(found.workload.type.value == "read_after_write");
        CHECK(found.workload.type.confidence == one.type.confidence);
    }
}

TEST_CASE("of several consumers the largest one's numbers are taken, once") {
    const Profile reads = of_rows(true, 1, "2024-03-01T11:00:00Z");
    Profile more = reads;
    more.files[0].datasets[0].reads->bytes = 160000;
    const Intents found = intents_of({{"w", of_rows(false, 2, "2024-03-01T10:00:00Z")},
                                      {"r", reads},
                                      {"s", more},
                                      {"t", reads}});
    CHECK(found.datasets.at("/out.h5:/x").volume.bytes_read == Count(160000));
}

TEST_CASE("a workload is not surer than its files") {
    Profile made = run(2, "/big.h5", true);
    made.files.push_back(run(2, "/small.h5", true).files[0]);
    Dataset& data = made.files[0].datasets[0];
    data.reads = data.writes;  // at the same time: medium
    made.files[1].datasets[0] = data;
    made.files[1].path = "/small.h5";
    CHECK(intents(made).workload.type.value == "read_write");
    CHECK(intents(made).workload.type.confidence == Confidence::medium);
    CHECK(intents(run(2, "/big.h5", true)).workload.type.confidence == Confidence::high);
    // Hardly any bytes are no reason for doubt: a file of 16 whose type is a guess.
    data.writes->bytes = 1000000;
    data.reads.reset();
    Dataset& little = made.files[1].datasets[0];
    little.writes->bytes = little.reads->bytes = 8;
    little.writes->active.reset();
    CHECK(intents(made).files.at("/small.h5").type.confidence == Confidence::low);
    CHECK(intents(made).workload.type.value == "write_only");
    CHECK(intents(made).workload.type.confidence == Confidence::medium);
}

namespace {

/// A run whose ranks have a folder each; rank 0 writes in a row, the others anywhere.
Profile ranks_in_folders(const std::string& job) {
    Profile made = profile(2);
    for (std::uint64_t rank = 0; rank < 2; ++rank) {
        File one = file(job + "/rank_" + std::to_string(rank) + "/out.h5", rank, rank);
        Dataset data = dataset("/x", 100, 1);
        data.processes = ProcessSet(rank, rank);
        data.writes = transfers(10, 800, 0, 1);
        data.writes->order = rank == 0 ? Order{9, 0, 0, 0, {}, {}} : Order{0, 0, 9, 0, {}, {}};
        one.datasets = {data};
        made.files.push_back(one);
    }
    return made;
}

}  // namespace

TEST_CASE("each file of another job is joined with its like, not with the first of its pattern") {
    const Intents found =
        intents_of({{"a", ranks_in_folders("/job_17")}, {"b", ranks_in_folders("/job_99")}});
    REQUIRE(found.files.size() == 2);
    for (const auto& [path, one] : found.files) CHECK(one.profiles.size() == 2);
    const DatasetIntent& in_a_row = found.datasets.at("/job_17/rank_0/out.h5:/x");
    const DatasetIntent& anywhere = found.datasets.at("/job_17/rank_1/out.h5:/x");
    CHECK(in_a_row.order.value == "sequential");
    CHECK_FALSE(in_a_row.order.changes);
    CHECK(anywhere.order.value == "random");
    CHECK_FALSE(anywhere.order.changes);
}

TEST_CASE("a number of a folder that tells the files of one run apart is kept; the job's is not") {
    const auto cases = [](const std::string& job) {
        Profile made = run(2, job + "/case_1/out.h5", true);
        made.files.push_back(run(2, job + "/case_2/out.h5", true).files[0]);
        return made;
    };
    const Intents found = intents_of({{"a", cases("/job_17")}, {"b", cases("/job_99")}});
    CHECK(found.files.size() == 2);
    CHECK(found.files.at("/job_17/case_2/out.h5").profiles.size() == 2);
    // Of one run alone it is a rank's folder all the same.
    const Intents ranks = intents_of({{"a", run(1, "/job_17/rank_0/out.h5", true)},
                                      {"b", run(1, "/job_99/rank_1/out.h5", true)}});
    CHECK(ranks.files.size() == 2);
}

TEST_CASE("joining many files takes no longer for each of them than joining a few") {
    const auto many = [](const std::string& folder, std::size_t count) {
        Profile made = profile(1);
        for (std::size_t i = 0; i < count; ++i) {
            std::string name = "/x";
            for (std::size_t rest = i + 1; rest > 0; rest /= 26)
                name += static_cast<char>('a' + rest % 26);
            made.files.push_back(file(folder + name, 0, 0));
        }
        return made;
    };
    const auto seconds = [&](std::size_t count) {
        const std::vector<NamedProfile> profiles{{"a", many("/a", count)},
                                                 {"b", many("/b", count)}};
        const std::clock_t begin = std::clock();
        const Intents found = intents_of(profiles);
        CHECK(found.files.size() == 2 * count);
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    const double few = std::max(seconds(1000), 0.001);
    CHECK(seconds(16000) < 64 * few);  // 16 where it is linear, 256 where it is quadratic
}

TEST_CASE("what the layers of two runs say is joined too, and marked where it differs") {
    const auto with_posix = [](std::uint64_t not_aligned) {
        Profile made = run(2, "/o.h5", true);
        made.files[0].posix = PosixFile{};
        made.files[0].posix->not_aligned_in_file = not_aligned;
        made.files[0].posix->writes = PosixTransfers{};
        made.files[0].posix->writes->calls = 100;
        return made;
    };
    const Intents found = intents_of({{"a", with_posix(0)}, {"b", with_posix(100)}});
    const LayerIntent& posix = found.files.at("/o.h5").layers.at("posix");
    CHECK(posix.alignment.changes);
    REQUIRE(posix.alignment.by_profile.size() == 2);
    CHECK(posix.alignment.by_profile[0].value == "aligned");
    CHECK(posix.alignment.by_profile[1].value == "not_aligned");
    CHECK_FALSE(posix.type.changes);
    CHECK(posix.type.evidence.back().profile == 1);
    // A layer that only one of them has.
    const Intents alone = intents_of({{"a", run(2, "/o.h5", true)}, {"b", with_posix(0)}});
    CHECK(alone.files.at("/o.h5").layers.at("posix").alignment.value == "aligned");
}

TEST_CASE("a layer that only the consumer has is counted once") {
    Profile writer = of_rows(false, 2, "2024-03-01T10:00:00Z");
    writer.files[0].posix.reset();
    const Intents found =
        intents_of({{"w", writer}, {"r", of_rows(true, 1, "2024-03-01T11:00:00Z")}});
    CHECK(found.files.at("/out.h5").layers.at("posix").volume.bytes_read == Count(70));
}

TEST_CASE("of three runs the one that says nothing is not said to say something") {
    const auto with_posix = [](std::uint64_t ranks, Count not_aligned) {
        Profile made = run(ranks, "/o.h5", ranks == 8);
        made.files[0].posix = PosixFile{};
        made.files[0].posix->not_aligned_in_file = not_aligned;
        made.files[0].posix->writes = PosixTransfers{};
        made.files[0].posix->writes->calls = 100;
        return made;
    };
    const auto who = [](const Statement& statement) {
        std::vector<std::uint64_t> all;
        for (const Variant& one : statement.by_profile) all.push_back(one.profile);
        return all;
    };
    std::vector<NamedProfile> runs{
        {"a", with_posix(8, 0)}, {"b", with_posix(4, std::nullopt)}, {"c", with_posix(2, 100)}};
    runs[1].profile.files[0].datasets[0].requested_collective.reset();
    const std::vector<std::uint64_t> first_and_last{0, 2};
    Intents found = intents_of(runs);
    CHECK(who(found.datasets.at("/o.h5:/x").collective) == first_and_last);
    CHECK(who(found.files.at("/o.h5").layers.at("posix").alignment) == first_and_last);
    runs[1].profile.files[0].posix.reset();
    found = intents_of(runs);
    CHECK(who(found.files.at("/o.h5").layers.at("posix").alignment) == first_and_last);
    std::swap(runs[0].profile.files[0].posix, runs[1].profile.files[0].posix);
    runs[1].profile.files[0].posix = with_posix(4, 0).files[0].posix;
    found = intents_of(runs);
    CHECK(who(found.files.at("/o.h5").layers.at("posix").alignment) ==
          std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("intents say whether their profile lost something") {
    Intents read;
    read.profiles = {{}, {}};
    CHECK_FALSE(incomplete(rules::profile_of(read).origin));
    read.profiles[1].complete = true;
    CHECK_FALSE(incomplete(rules::profile_of(read).origin));
    read.profiles[1].complete = false;
    CHECK(incomplete(rules::profile_of(read).origin));
}
