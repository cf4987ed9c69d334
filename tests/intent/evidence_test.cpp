// SPDX-License-Identifier: Apache-2.0
// Statements where the evidence is silent, in part, or of what failed.
#include <doctest/doctest.h>

#include "profiles.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::tests;

namespace {

/// The intents of a run with one file.
Intents of_file(const std::vector<Dataset>& datasets, std::uint64_t ranks) {
    Profile made = profile(ranks);
    File one = file("/a.h5", 0, ranks - 1);
    one.datasets = datasets;
    made.files = {one};
    return intents(made);
}

DatasetIntent of(const Dataset& dataset, std::uint64_t ranks = 1) {
    return of_file({dataset}, ranks).datasets.at("/a.h5:" + dataset.path);
}

Statement type_of_file(const std::vector<Dataset>& datasets) {
    return of_file(datasets, 1).files.at("/a.h5").type;
}

/// A dataset that is written and read.
Dataset both_ways(const std::string& path, Span writes, Span reads, Known read_after_write) {
    Dataset made = dataset(path, 100, 1);
    made.writes = transfers(4, 800, writes.start_s, writes.end_s);
    made.reads = transfers(4, 800, reads.start_s, reads.end_s);
    made.read_after_write = ReadAfterWrite{read_after_write, std::nullopt, std::nullopt};
    return made;
}

ProcessShare share(std::uint64_t process, std::uint64_t bytes) {
    ProcessShare made;
    made.process = process;
    made.calls = 1;
    made.bytes = bytes;
    if (bytes > 0) made.first = CoveredBox{{0}, {bytes / 8}};
    return made;
}

}  // namespace

TEST_CASE("type: that nothing written was read is no proof that all was read before") {
    const Statement other_parts = of(both_ways("/x", {0, 1}, {2, 3}, false)).type;
    CHECK(other_parts.value == "read_write");
    CHECK(other_parts.confidence == Confidence::medium);
    const Statement before = of(both_ways("/x", {2, 3}, {0, 1}, false)).type;
    CHECK(before.value == "read_before_write");
    CHECK(before.confidence == Confidence::high);
    Dataset untimed = both_ways("/x", {0, 1}, {2, 3}, false);
    untimed.reads->active.reset();
    CHECK(of(untimed).type.value == "read_write");
    CHECK(of(untimed).type.confidence == Confidence::low);
}

TEST_CASE("type: of a file one dataset in doubt leaves the times to decide") {
    const Dataset in_doubt = both_ways("/a", {0, 1}, {2, 3}, std::nullopt);
    const Dataset never = both_ways("/b", {0, 1}, {0, 1}, false);
    for (const auto& datasets :
         {std::vector<Dataset>{in_doubt, never}, std::vector<Dataset>{never, in_doubt}}) {
        CHECK(type_of_file(datasets).value == "read_write");
        CHECK(type_of_file(datasets).confidence == Confidence::medium);
    }
    const Statement later = type_of_file({in_doubt, both_ways("/b", {0, 1}, {2, 3}, false)});
    CHECK(later.value == "read_after_write");
    CHECK(later.confidence == Confidence::medium);
    const Dataset proven = both_ways("/c", {0, 1}, {2, 3}, true);
    CHECK(type_of_file({in_doubt, never, proven}).confidence == Confidence::high);
    CHECK(type_of_file({proven, in_doubt, never}).value == "read_after_write");
}

TEST_CASE("type: of what is only read nobody has to say that it was not read after a write") {
    Dataset input = dataset("/in", 100, 1);
    input.reads = transfers(4, 800, 0, 1);
    const Statement type = type_of_file({input, both_ways("/b", {2, 3}, {0, 1}, false)});
    CHECK(type.value == "read_before_write");
    CHECK(type.confidence == Confidence::high);
}

TEST_CASE("transfers that failed did not happen") {
    Dataset tried = dataset("/x", 100, 4);
    tried.reads = transfers(4, 800, 0, 1);
    tried.writes = transfers(1, 0, 2, 3);
    tried.writes->failed = 1;
    const DatasetIntent found = of(tried, 4);
    CHECK(found.type.value == "read_only");
    CHECK(found.type.confidence == Confidence::high);
    CHECK(found.mode.value == "read_only");
    CHECK(found.append.value == "no");
    CHECK(found.volume.write_calls == Count(0));
    CHECK_FALSE(found.session_io.write_timestamp.has_value());
    CHECK(of_file({tried}, 4).files.at("/a.h5").type.value == "read_only");
    tried.writes->calls = 2;  // at the second try
    tried.writes->bytes = 800;
    CHECK(of(tried, 4).type.value == "read_before_write");
    CHECK(of(tried, 4).volume.write_calls == Count(1));
    tried.writes->calls = 8;
    tried.writes->failed = 4;
    tried.reads.reset();
    CHECK(of(tried, 4).order.value == "one_transfer");
}

TEST_CASE("how shared: who only failed to write is none of the writers") {
    Dataset one = dataset("/x", 100, 2);
    one.writes = transfers(2, 800, 0, 1);
    one.writes->failed = 1;
    one.writes->whole = 1;
    one.writes->processes = 2;
    one.writes->by_process = {share(0, 800), share(1, 0)};
    CHECK(of(one, 2).how_shared.value == "not known");
    one.reads = transfers(1, 800, 2, 3);
    one.reads->whole = 1;
    one.reads->processes = 1;
    one.reads->by_process = {share(1, 800)};
    CHECK(of(one, 2).how_shared.value == "same_region");
    // The sums would say so of the two that called.
    one.reads.reset();
    one.writes->whole = 0;
    CHECK(of(one, 2).how_shared.value == "not known");
}

TEST_CASE("how shared: boxes of points that meet say nothing of the points") {
    Dataset one = dataset("/x", 100, 2);
    one.writes = transfers(2, 800, 0, 1);
    one.writes->processes = 2;
    one.writes->by_process = {share(0, 400), share(1, 400)};
    one.writes->by_process[0].first = CoveredBox{{0}, {99}};
    one.writes->by_process[1].first = CoveredBox{{1}, {99}};
    CHECK(of(one, 2).how_shared.value == "overlapping");
    one.writes->shapes.resize(1);
    for (const Selection sparse : {Selection::points, Selection::irregular}) {
        one.writes->shapes[0].selection = sparse;
        CHECK(of(one, 2).how_shared.value == "not known");
    }
    one.writes->by_process[1].first = CoveredBox{{0}, {99}};
    CHECK(of(one, 2).how_shared.value == "not known");
    one.writes->by_process[1].first = CoveredBox{{99}, {1}};
    CHECK(of(one, 2).how_shared.value == "disjoint_blocks");
}

TEST_CASE("coverage: where places were noted down and nothing is said of them, nothing is known") {
    Dataset anew = dataset("/x", 100, 1);  // made twice, and written as a whole the first time
    anew.writes = transfers(2, 1600, 0, 1);
    anew.writes->whole = 1;
    anew.writes->coverage = Coverage{};
    CHECK(of(anew).full_coverage.value == "not known");
    anew.writes->coverage.reset();  // as in a Darshan log
    CHECK(of(anew).full_coverage.value == "yes");
    anew.writes->failed = 2;
    CHECK(of(anew).full_coverage.value == "not known");
}

namespace {

const Order in_a_row{19, 0, 0, 0, {}, {}};
const Order anywhere{0, 0, 19, 0, {}, {}};

/// What is said of 20 writes after these calls of H5Dset_extent.
Statement append_after(std::uint64_t calls, const std::vector<Extents>& sequence,
                       const Order& order = in_a_row) {
    Dataset made = dataset("/x", 100, 1);
    made.writes = transfers(20, 800, 0, 1);
    made.writes->order = order;
    made.extensions = Extensions{calls, sequence};
    return of(made).append;
}

}  // namespace

TEST_CASE("append: one extent grows again and again, and not at random") {
    const Statement appends = append_after(3, {Extents{4}, Extents{8}, Extents{12}});
    CHECK(appends.value == "yes");
    CHECK(appends.confidence == Confidence::high);
    CHECK(append_after(3, {Extents{9, 1}, Extents{9, 2}, Extents{9, 3}}).value == "yes");
    // The first call may have made it larger too.
    CHECK(append_after(2, {Extents{4}, Extents{8}}).value == "yes");
    CHECK(append_after(2, {Extents{4}, Extents{8}}).confidence == Confidence::medium);
    const Statement tiles = append_after(3, {Extents{4}, Extents{8}, Extents{12}}, anywhere);
    CHECK(tiles.value == "no");
    CHECK(tiles.confidence == Confidence::medium);
}

TEST_CASE("append: other calls of H5Dset_extent are none") {
    for (const Order& order : {in_a_row, anywhere}) {
        const Statement once = append_after(1, {Extents{100, 100}}, order);
        CHECK(once.value == "no");
        CHECK(once.confidence == Confidence::high);
    }
    CHECK(append_after(3, {Extents{100}, Extents{50}, Extents{20}}).value == "no");
    CHECK(append_after(2, {Extents{100}, Extents{100}}).value == "no");
    CHECK(append_after(2, {Extents{100}, Extents{100}}).confidence == Confidence::high);
    CHECK(append_after(5, {Extents{9}, Extents{5}, Extents{9}, Extents{5}, Extents{9}}).value ==
          "no");
    // All four ranks made the one call.
    CHECK(append_after(4, {Extents{100}}).value == "no");
    CHECK(append_after(4, {Extents{100}}).confidence == Confidence::medium);
}

TEST_CASE("append: where no extents are shown the number of calls is a hint") {
    CHECK(append_after(3, {}).value == "yes");
    CHECK(append_after(3, {}).confidence == Confidence::medium);
    CHECK(append_after(1, {}).value == "no");
}

TEST_CASE("how shared: what one process has alone is private, and says why") {
    Profile made = profile(4);
    made.files = {file("/a.h5", 2, 2)};
    const Statement found = intents(made).files.at("/a.h5").how_shared;
    CHECK(found.value == "private");
    CHECK(found.confidence == Confidence::high);
    REQUIRE(found.evidence.size() == 1);
    CHECK(found.evidence[0].name == "processes");
    CHECK(std::get<std::uint64_t>(found.evidence[0].value) == 1);
}

TEST_CASE("reuse: the same places again after others are known by the places alone") {
    Dataset rows = dataset("/x", 1000, 1);
    CHECK(of(rows).reuse.value == "not known");  // nothing was moved
    rows.reads = transfers(20, 1600, 0, 1);
    rows.reads->elements = 200;
    rows.reads->order = Order{0, 19, 0, 0, {}};
    CHECK(of(rows).reuse.value == "once");
    CHECK(of(rows).reuse.confidence == Confidence::medium);  // no two in a row are the same
    rows.reads->coverage = Coverage{200, std::nullopt, {}};
    CHECK(of(rows).reuse.value == "once");
    CHECK(of(rows).reuse.confidence == Confidence::high);
    rows.reads->coverage = Coverage{20, std::nullopt, {}};  // two rows in turns
    CHECK(of(rows).reuse.value == "re_read");
    CHECK(of(rows).reuse.confidence == Confidence::high);
    Dataset written = rows;
    written.path = "/y";
    std::swap(written.reads, written.writes);
    CHECK(of_file({rows, written}, 1).files.at("/a.h5").reuse.value == "re_read_and_rewritten");
    rows.reads->coverage = Coverage{200, std::nullopt, {}};
    rows.direct_chunk_reads = DirectChunks{3, 240};
    CHECK(of(rows).reuse.confidence == Confidence::medium);
}

TEST_CASE("reuse: a piece in the middle of a file that is read again and again") {
    Profile made = profile(1);
    File one;
    one.path = "/a.bin";
    one.processes = ProcessSet(0, 0);
    one.posix = PosixFile{};
    one.posix->reads = PosixTransfers{};
    one.posix->reads->calls = 1000;
    one.posix->reads->bytes = 4096000;
    one.posix->reads->highest_byte = 20975615;
    one.posix->reads->order = Order{0, 0, 0, 999, {}};
    made.files = {one};
    const auto reuse = [&made] { return intents(made).files.at("/a.bin").reuse; };
    CHECK(reuse().value == "re_read");
    CHECK(reuse().confidence == Confidence::high);
    made.files[0].posix->reads->order = Order{999, 0, 0, 0, {}};
    CHECK(reuse().value == "once");
    CHECK(reuse().confidence == Confidence::medium);
}

TEST_CASE("a file that is used through streams has their sizes, and evidence from them") {
    Profile made = profile(1);
    File one;
    one.path = "/a.bin";
    one.processes = ProcessSet(0, 0);
    one.stdio = PosixFile{};
    one.stdio->writes = PosixTransfers{};
    one.stdio->writes->calls = 8;
    one.stdio->writes->bytes = 800;
    one.stdio->writes->frequent = {{100, 8}};
    one.stdio->writes->order = Order{7, 0, 0, 0, {}};
    made.files = {one};
    const FileIntent streams = intents(made).files.at("/a.bin");
    REQUIRE(streams.transfer_size_dist.size() == 1);
    CHECK(streams.transfer_size_dist[0].bytes == 100);
    CHECK(streams.order.value == "sequential");
    CHECK(streams.order.evidence.front().from == "stdio");
    made.files[0].posix = made.files[0].stdio;  // and by its descriptor
    made.files[0].posix->writes->frequent = {{4096, 2}, {100, 1}};
    const FileIntent both = intents(made).files.at("/a.bin");
    REQUIRE(both.transfer_size_dist.size() == 2);
    CHECK(both.transfer_size_dist[0].calls == 9);
}

TEST_CASE("a stream of data is not about structure, whatever its close takes") {
    Profile made = profile(1);
    File one;
    one.path = "/a.log";
    one.processes = ProcessSet(0, 0);
    one.stdio = PosixFile{};
    one.stdio->opens = 200;
    one.stdio->metadata_s = 2;
    const auto structure = [&] {
        made.files = {one};
        return intents(made).files.at("/a.log").metadata_dominated.value;
    };
    CHECK(structure() == "yes");
    one.stdio->writes = PosixTransfers{};
    one.stdio->writes->calls = 100;
    one.stdio->writes->bytes = 4000000;
    one.stdio->writes->elapsed_s = 1;
    CHECK(structure() == "no");
    one.posix = PosixFile{};  // it was opened by number, and then made a stream
    one.posix->opens = 200;
    one.posix->metadata_s = 1;
    CHECK(structure() == "no");
}

TEST_CASE("append: a last byte that gives a mapped file its size is none") {
    Profile made = profile(1);
    File one;
    one.path = "/a.bin";
    one.processes = ProcessSet(0, 0);
    one.posix = PosixFile{};
    one.posix->opens = 1;
    one.posix->writes = PosixTransfers{};
    one.posix->writes->calls = 1;
    one.posix->writes->bytes = 1;
    one.posix->writes->consecutive = 0;
    one.posix->writes->highest_byte = 7999;
    made.files = {one};
    const auto append = [&made] { return intents(made).files.at("/a.bin").append.value; };
    CHECK(append() == "yes");
    made.files[0].posix->maps = 1;
    CHECK(append() == "not known");
}
