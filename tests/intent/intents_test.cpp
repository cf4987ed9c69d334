// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/error.hpp"
#include "intent/intents/intents_json.hpp"
#include "profiles.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::tests;

namespace {

/// The intents of one dataset in one file of a run of `ranks`.
DatasetIntent of(const Dataset& dataset, std::uint64_t ranks = 4) {
    Profile made = profile(ranks);
    File one = file("/d/a.h5", 0, ranks - 1);
    one.datasets = {dataset};
    made.files = {one};
    return intents(made).datasets.at("/d/a.h5:" + dataset.path);
}

Dataset written_and_read(std::optional<Span> writes, std::optional<Span> reads) {
    Dataset made = dataset("/x", 100, 4);
    if (writes) made.writes = transfers(4, 800, writes->start_s, writes->end_s);
    if (reads) made.reads = transfers(4, 800, reads->start_s, reads->end_s);
    return made;
}

FileIntent file_intent(File one, std::uint64_t ranks) {
    Profile made = profile(ranks);
    made.files = {one};
    return intents(made).files.at(one.path);
}

}  // namespace

TEST_CASE("type: from what happened and in which order") {
    CHECK(of(written_and_read(Span{0, 1}, {})).type.value == "write_only");
    CHECK(of(written_and_read({}, Span{0, 1})).type.value == "read_only");
    CHECK(of(written_and_read({}, {})).type.value == "no_data");
    const Statement after = of(written_and_read(Span{0, 1}, Span{1, 2})).type;
    CHECK(after.value == "read_after_write");
    CHECK(after.confidence == Confidence::medium);
    CHECK_FALSE(after.evidence.empty());
    CHECK(of(written_and_read(Span{2, 3}, Span{0, 1})).type.value == "read_before_write");
    CHECK(of(written_and_read(Span{0, 3}, Span{1, 2})).type.value == "read_write");
}

TEST_CASE("type: an HDF5 file without datasets moved nothing, where every call was seen") {
    Profile made = profile(1);
    made.files = {file("/groups.h5", 0, 0)};
    made.files[0].hdf5->creates = 1;
    const auto groups = [&made] { return intents(made).files.at("/groups.h5"); };
    CHECK(groups().type.value == "no_data");
    CHECK(groups().type.confidence == Confidence::high);
    CHECK(groups().mode.value == "none");
    CHECK(groups().volume.bytes_written == Count(0));
    CHECK(groups().words.what == "nothing moved");
    made.origin.dropped["datasets"] = 3;
    CHECK(groups().type.value == "not known");
    made.origin.dropped.clear();
    made.origin.kind = OriginKind::darshan;  // which may have been told to leave datasets out
    CHECK(groups().type.value == "not known");
}

TEST_CASE("what is said of a whole run of several ranks is less sure where records were lost") {
    Profile made = profile(4);
    File one = file("/a.h5", 0, 3);
    one.datasets = {dataset("/x", 100, 4)};
    one.datasets[0].writes = transfers(16, 800, 0, 1);
    made.files = {one};
    const auto workload = [&] { return intents(made).workload; };
    CHECK(workload().sharing_pattern.value == "shared");
    CHECK(workload().sharing_pattern.confidence == Confidence::high);
    made.origin.dropped["datasets"] = 3;
    CHECK(workload().sharing_pattern.value == "shared");
    CHECK(workload().sharing_pattern.confidence == Confidence::medium);
    CHECK(workload().type.confidence == Confidence::low);
}

TEST_CASE("append: a file of which some datasets grow does so partly") {
    Profile made = profile(1);
    File one = file("/a.h5", 0, 0);
    one.datasets = {dataset("/grows", 100, 1), dataset("/stays", 100, 1)};
    for (Dataset& dataset : one.datasets) dataset.writes = transfers(4, 800, 0, 1);
    one.datasets[0].extensions = Extensions{3, {}};
    one.datasets[1].extensions = Extensions{0, {}};
    made.files = {one};
    CHECK(intents(made).files.at("/a.h5").append.value == "partly");
}

TEST_CASE("type: what a hook saw wins over times") {
    Dataset seen = written_and_read(Span{0, 3}, Span{1, 2});
    seen.read_after_write = ReadAfterWrite{true, std::nullopt, std::nullopt};
    const Statement type = of(seen).type;
    CHECK(type.value == "read_after_write");
    CHECK(type.confidence == Confidence::high);
    seen.read_after_write->any = false;
    CHECK(of(seen).type.value == "read_write");  // not all was read before
}

TEST_CASE("type: written once and read twice as much is written once, read many") {
    Dataset many = written_and_read(Span{0, 1}, Span{1, 2});
    many.reads->bytes = 1600;
    CHECK(of(many).type.value == "write_once_read_many");
    many.writes->bytes = 1600;  // written twice
    CHECK(of(many).type.value == "read_after_write");
}

TEST_CASE("a source that lost records makes no high confidence") {
    Profile made = profile(4);
    File one = file("/a.h5", 0, 3);
    one.datasets = {written_and_read(Span{0, 1}, {})};
    made.files = {one};
    CHECK(intents(made).files.at("/a.h5").type.confidence == Confidence::high);
    made.origin.sources = {{"x", "darshan", "", {"!H5D", "H5F"}}};
    CHECK(intents(made).files.at("/a.h5").type.confidence == Confidence::low);
}

TEST_CASE("append, coverage, re-use") {
    Dataset grown = written_and_read(Span{0, 1}, {});
    CHECK(of(grown).append.value == "not known");
    grown.extensions = Extensions{3, {}};
    CHECK(of(grown).append.value == "yes");
    grown.extensions->calls = 0;
    CHECK(of(grown).append.value == "no");
    Dataset fixed = written_and_read(Span{0, 1}, {});
    fixed.max_dims = {100};
    CHECK(of(fixed).append.value == "no");
    CHECK(of(fixed).full_coverage.value == "not known");  // sums prove nothing
    fixed.writes->bytes = 792;
    CHECK(of(fixed).full_coverage.value == "no");
    fixed.writes->bytes = 800;
    fixed.writes->coverage = Coverage{100, true, {}};
    CHECK(of(fixed).full_coverage.value == "yes");
    CHECK(of(fixed).reuse.value == "once");
    Dataset chunks = fixed;
    chunks.writes->coverage = Coverage{50, false, {}};
    CHECK(of(chunks).full_coverage.confidence == Confidence::high);
    chunks.direct_chunk_writes = DirectChunks{1, 400};
    CHECK(of(chunks).full_coverage.value == "no");
    CHECK(of(chunks).full_coverage.confidence == Confidence::medium);
    fixed.writes->bytes = 1608;
    CHECK(of(fixed).reuse.value == "rewritten");
    fixed.writes->bytes = 800;
    fixed.reads = transfers(4, 3200, 1, 2);
    CHECK(of(fixed).reuse.value == "re_read");
}

TEST_CASE("collective: asked for, done, or not") {
    Dataset one = written_and_read(Span{0, 1}, {});
    CHECK(of(one).collective.value == "not known");
    one.requested_collective = true;
    CHECK(of(one).collective.value == "requested");
    one.requested_collective = false;
    CHECK(of(one).collective.value == "not_requested");
    one.writes->requested_collective = 4;
    one.writes->requested_independent = 0;
    CHECK(of(one).collective.value == "requested");
    one.writes->actual = Actual{};
    one.writes->actual->collective = 4;
    CHECK(of(one).collective.value == "done");
    one.writes->actual->independent = 1;
    CHECK(of(one).collective.value == "partly");
    one.writes->actual->collective = 0;
    CHECK(of(one).collective.value == "not_done_though_requested");
}

TEST_CASE("order of a dataset and of system calls") {
    Dataset one = written_and_read(Span{0, 1}, {});
    CHECK(of(one).order.value == "one_transfer");
    one.writes->calls = 40;
    CHECK(of(one).order.value == "not known");
    one.writes->order = Order{36, 0, 0, 0, {}};
    CHECK(of(one).order.value == "sequential");
    one.writes->order = Order{3, 33, 0, 0, {10}};
    CHECK(of(one).order.value == "strided");
    one.writes->order = Order{18, 0, 18, 0, {}};
    CHECK(of(one).order.value == "mixed");

    File raw;
    raw.path = "/a.bin";
    raw.processes = ProcessSet(0, 0);
    raw.posix = PosixFile{};
    raw.posix->reads = PosixTransfers{};
    raw.posix->reads->calls = 101;
    raw.posix->reads->consecutive = 95;
    raw.posix->reads->sequential = 100;
    const auto order = [&] { return file_intent(raw, 1).layers.at("posix").order.value; };
    CHECK(order() == "sequential");
    raw.posix->reads->consecutive = 0;
    raw.posix->strides = {{4096, 90}};
    CHECK(order() == "strided");
    raw.posix->strides.clear();
    raw.posix->reads->sequential = 20;
    CHECK(order() == "random");
}

TEST_CASE("a file that is used by its descriptor and through a stream above it") {
    const auto moved = [](std::uint64_t bytes, Span active) {
        PosixTransfers made;
        made.calls = 2;
        made.bytes = bytes;
        made.active = active;
        return made;
    };
    File both;
    both.path = "/a.bin";
    both.processes = ProcessSet(0, 0);
    both.posix = PosixFile{};
    both.stdio = PosixFile{};
    both.stdio->writes = moved(100, {0, 1});
    CHECK(file_intent(both, 1).volume.bytes_written == 100);  // by descriptor it was only opened
    both.posix->writes = moved(20, {1, 2});
    both.posix->reads = moved(5, {3, 4});
    const FileIntent intent = file_intent(both, 1);
    CHECK(intent.volume.bytes_written == 120);
    CHECK(intent.volume.bytes_read == 5);
    CHECK(intent.volume.write_calls == 4);
    CHECK(intent.type.value == "read_after_write");
    CHECK(intent.session_io.write_timestamp->end_s == 2);
    both.mpiio = MpiioFile{};  // is above both
    CHECK_FALSE(file_intent(both, 1).volume.bytes_written);
}

TEST_CASE("sharing: file per process, one writer, shared, serial") {
    Profile fpp = profile(4);
    for (std::uint64_t rank = 0; rank < 4; ++rank)
        fpp.files.push_back(file("/o/part." + std::to_string(rank) + ".h5", rank, rank));
    Intents found = intents(fpp);
    CHECK(found.files.at("/o/part.2.h5").sharing_pattern.value == "file_per_process");
    CHECK(found.files.at("/o/part.2.h5").how_shared.value == "private");
    CHECK(found.workload.sharing_pattern.value == "file_per_process");
    REQUIRE(found.workload.patterns.size() == 1);
    CHECK(found.workload.patterns[0].naming.pattern == "/o/part.{rank}.h5");
    CHECK(found.workload.patterns[0].files == 4);
    CHECK(file_intent(file("/a.h5", 0, 0), 4).sharing_pattern.value == "one_writer");
    CHECK(file_intent(file("/a.h5", 0, 3), 4).sharing_pattern.value == "shared");
    CHECK(file_intent(file("/a.h5", 0, 0), 1).sharing_pattern.value == "independent");
}

TEST_CASE("how shared: boxes of the processes") {
    Dataset one = written_and_read(Span{0, 1}, {});
    const auto share = [](std::uint64_t process, std::uint64_t start, std::uint64_t count) {
        ProcessShare made;
        made.process = process;
        made.calls = 1;
        made.first = CoveredBox{{start}, {count}};
        return made;
    };
    one.writes->by_process = {share(0, 0, 50), share(1, 50, 50)};
    CHECK(of(one).how_shared.value == "disjoint_blocks");
    one.writes->by_process = {share(0, 0, 60), share(1, 50, 50)};
    CHECK(of(one).how_shared.value == "overlapping");
    one.writes->by_process = {share(0, 0, 100), share(1, 0, 100)};
    CHECK(of(one).how_shared.value == "same_region");
    one.writes->by_process = {share(0, 0, 97), share(1, 2, 97)};
    Shape strided;
    strided.selection = Selection::hyperslab;
    strided.length = {50};
    strided.stride = {4};
    strided.count = {25};
    strided.block = {2};
    strided.calls = 2;
    one.writes->shapes = {strided};
    CHECK(of(one).how_shared.value == "interleaved");
    one.writes->shapes[0].block = {4};  // stride == block: no gaps
    CHECK(of(one).how_shared.value == "overlapping");
}

TEST_CASE(
    "how shared: transfers that one process made alone are not shared among those that opened") {
    const auto by = [](std::uint64_t process, std::uint64_t start, std::uint64_t count) {
        Transfers made = transfers(1, 8 * count, 0, 1);
        made.whole = count == 100 ? 1 : 0;
        made.processes = 1;
        ProcessShare share;
        share.process = process;
        share.calls = 1;
        share.first = CoveredBox{{start}, {count}};
        made.by_process = {share};
        return made;
    };
    Dataset one = dataset("/x", 100, 2);
    one.writes = by(0, 0, 100);
    CHECK(of(one).how_shared.value == "not known");  // the other process only opened it
    one.reads = by(1, 0, 100);
    CHECK(of(one).how_shared.value == "same_region");
    CHECK(of(one).how_shared.confidence == Confidence::high);
    one.reads = by(1, 10, 20);
    CHECK(of(one).how_shared.value == "overlapping");
    one.writes = by(0, 50, 50);
    CHECK(of(one).how_shared.value == "disjoint_blocks");
    one.reads = by(0, 50, 50);  // by the writer itself
    CHECK(of(one).how_shared.value == "not known");
}

TEST_CASE("how shared: reads tell where writes do not; one whole transfer is no share of each") {
    Dataset one = dataset("/x", 100, 4);
    one.writes = transfers(1, 800, 0, 1);
    one.writes->whole = 1;
    CHECK(of(one).how_shared.value == "not known");
    one.reads = transfers(4, 3200, 1, 2);
    one.reads->whole = 4;
    CHECK(of(one).how_shared.value == "same_region");
    one.writes->whole = 0;
    one.writes->calls = 4;
    CHECK(of(one).how_shared.value == "disjoint_blocks");
}

TEST_CASE("reliability: flushes that netCDF-C makes by itself are not the program's wish") {
    File one = file("/fast/a.nc", 0, 0);
    Profile made = profile(1);
    made.run.file_systems = {{"/fast", "tmpfs", std::nullopt}};
    const auto reliability = [&] {
        made.files = {one};
        return intents(made).files.at(one.path).reliability;
    };
    one.hdf5->creates = 1;
    one.hdf5->flushes = 2;
    one.mpiio = MpiioFile{};
    one.mpiio->syncs = 2;
    one.posix = PosixFile{};
    one.posix->syncs = 2;
    CHECK(reliability().value == "scratch");
    one.mpiio.reset();  // without MPI-IO no library makes these
    CHECK(reliability().value == "durable");
    one.posix.reset();
    one.hdf5->flushes = 3;  // it called nc_sync
    CHECK(reliability().value == "durable");
    CHECK(reliability().confidence == Confidence::high);
    one.hdf5->flushes = 2;
    one.hdf5->read_only_opens = 1;  // netCDF flushes nothing then
    CHECK(reliability().value == "durable");
    one.hdf5->read_only_opens = 0;
    one.path = "/fast/a.h5";
    CHECK(reliability().value == "durable");
    CHECK(reliability().confidence == Confidence::high);
    Dataset dimension = dataset("/time", 100, 1);
    dimension.type = ElementType{"float", 4, "f32be"};
    dimension.attributes = Attributes{4, 116};
    one.datasets = {dimension};
    CHECK(reliability().value == "scratch");
}

TEST_CASE("reliability: a file that the run deletes at last is scratch") {
    File one = file("/project/a.h5", 0, 0);
    one.hdf5->deletes = 1;
    one.hdf5->creates = 1;
    CHECK(file_intent(one, 1).reliability.value == "durable");  // maybe it was an old one
    one.hdf5->deletes = 2;
    const Statement reliability = file_intent(one, 1).reliability;
    CHECK(reliability.value == "scratch");
    REQUIRE_FALSE(reliability.evidence.empty());
    CHECK(reliability.evidence.back().name == "deletes");
}

TEST_CASE("reliability: durable unless there is reason to think otherwise") {
    File one = file("/scratch/a.h5", 0, 3);
    CHECK(file_intent(one, 4).reliability.value == "durable");
    CHECK(file_intent(one, 4).reliability.confidence == Confidence::low);
    one.hdf5->flushes = 2;
    CHECK(file_intent(one, 4).reliability.confidence == Confidence::high);
    one.path = "/dev/shm/a.h5";
    CHECK(file_intent(one, 4).reliability.value == "durable");  // flushed: the program cares
    one.hdf5->flushes = 0;
    CHECK(file_intent(one, 4).reliability.value == "scratch");
    one.path = "/tmp/a.h5";
    CHECK(file_intent(one, 4).reliability.value == "durable");
    one.datasets = {written_and_read(Span{0, 1}, Span{2, 3})};
    CHECK(file_intent(one, 4).reliability.value == "recomputable");
    one.path = "/tmpfiles/a.h5";
    CHECK(file_intent(one, 4).reliability.value == "durable");
    Profile mounted = profile(4);
    mounted.run.file_systems = {{"/", "ext4", std::nullopt}, {"/fast", "tmpfs", std::nullopt}};
    mounted.files = {file("/fast/x.h5", 0, 3), file("/faster/x.h5", 0, 3)};
    const Intents found = intents(mounted);
    CHECK(found.files.at("/fast/x.h5").reliability.value == "scratch");
    CHECK(found.files.at("/faster/x.h5").reliability.value == "durable");
}

TEST_CASE("metadata: many operations with little data dominate, big data does not") {
    File one = file("/a.h5", 0, 0);
    one.hdf5->metadata["attribute"].create = 5000;
    one.hdf5->metadata["attribute"].write = 5000;
    Dataset small = dataset("/x", 10, 1);
    small.writes = transfers(10, 80, 0, 1);
    one.datasets = {small};
    CHECK(file_intent(one, 1).metadata_dominated.value == "yes");
    one.datasets[0].writes = transfers(10000, std::uint64_t{1} << 36, 0, 1);
    CHECK(file_intent(one, 1).metadata_dominated.value == "no");
}

TEST_CASE("metadata: neither queries dominate nor datasets that a rank writes one piece of") {
    File one = file("/a.h5", 0, 0);
    one.hdf5->metadata["dataset"].other = 5000;  // of extents and types, for each transfer
    Dataset pieces = dataset("/x", 10, 1);
    pieces.writes = transfers(100, 25600, 0, 1);
    one.datasets = {pieces};
    CHECK(file_intent(one, 1).metadata_dominated.value == "no");
    one.hdf5->metadata["dataset"].create = 250;
    CHECK(file_intent(one, 1).metadata_dominated.value == "yes");
    one.datasets[0].writes = transfers(100, std::uint64_t{100} << 20, 0, 1);
    CHECK(file_intent(one, 1).metadata_dominated.value == "no");
}

TEST_CASE("rhythm: bursts at regular times") {
    Profile made = profile(1);
    made.run.elapsed_s = 100;
    made.run.timelines = {{"posix", 1.0, {}, std::vector<std::uint64_t>(100, 0)}};
    for (std::size_t i = 5; i < 100; i += 20) made.run.timelines[0].written_bytes[i] = 1000;
    made.files = {file("/a.h5", 0, 0)};
    const Intents found = intents(made);
    CHECK(found.workload.rhythm.value == "regular_bursts");
    CHECK(found.workload.bursts.size() == 5);
    CHECK(found.workload.words.how.find("in 5 bursts") != std::string::npos);
    made.run.elapsed_s = 400;  // and more of them than are kept
    made.run.timelines[0].written_bytes.assign(400, 0);
    for (std::size_t i = 5; i < 400; i += 4) made.run.timelines[0].written_bytes[i] = 1000;
    const std::string how = intents(made).workload.words.how;
    CHECK(how.find("in at least 64 bursts") != std::string::npos);
    made.run.elapsed_s = 100;
    made.run.timelines[0].written_bytes.assign(100, 7);
    CHECK(intents(made).workload.rhythm.value == "continuous");
}

TEST_CASE("intents come back from their JSON; no profile is an error") {
    Profile made = profile(4);
    File one = file("/a.h5", 0, 3);
    one.datasets = {written_and_read(Span{0, 1}, Span{2, 3})};
    made.files = {one};
    const std::string text = to_json(intents(made));
    CHECK(to_json(intents_from_json(text, "i.json")) == text);
    CHECK_THROWS_WITH_AS((void)intents_of({}), doctest::Contains("there is no profile"),
                         tailrace::core::Error);
    CHECK_THROWS_WITH_AS((void)intents(profile(1)), doctest::Contains("holds no file"),
                         tailrace::core::Error);
}

TEST_CASE("a file that could not be opened has no intents") {
    Profile made = profile(1);
    File wanted;
    wanted.path = "/absent.conf";
    wanted.processes = ProcessSet(0, 0);
    wanted.stdio = PosixFile{};
    wanted.stdio->failed_opens = 1;
    made.files = {wanted};
    CHECK_THROWS_WITH_AS((void)intents(made), doctest::Contains("no file that was opened"),
                         tailrace::core::Error);
    made.files.insert(made.files.begin(), file("/a.h5", 0, 0));
    const Intents found = intents(made);
    CHECK(found.files.size() == 1);
    CHECK(found.files.count("/a.h5") == 1);
    made.files[1].stdio->opens = 1;  // at the second try
    CHECK(intents(made).files.size() == 2);
}
