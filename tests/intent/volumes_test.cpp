// SPDX-License-Identifier: Apache-2.0
// Volumes of layers, what is hardly done, and whether a file is about structure or data.
#include <doctest/doctest.h>

#include "profiles.hpp"

using namespace tailrace::intent;

namespace {

constexpr std::uint64_t kib = 1024, gib = 1ULL << 30U;

PosixFile plain(std::uint64_t written, std::uint64_t read) {
    PosixFile made;
    made.opens = 1;
    const auto side = [](std::uint64_t bytes, double start_s) {
        PosixTransfers one;
        one.calls = bytes > 0 ? 10 : 0;
        one.bytes = bytes;
        if (bytes > 0) one.highest_byte = bytes - 1;
        if (bytes > 0) one.active = Span{start_s, start_s + 1};
        return one;
    };
    made.writes = side(written, 1);
    made.reads = side(read, 3);
    return made;
}

File plain_file(const std::string& path, std::uint64_t written, std::uint64_t read) {
    File made;
    made.path = path;
    made.processes = ProcessSet(0, 0);
    made.posix = plain(written, read);
    return made;
}

MpiioFile through_mpiio(std::uint64_t bytes, double elapsed_s) {
    MpiioFile made;
    made.writes = MpiioTransfers{};
    made.writes->independent = 100;
    made.writes->bytes = bytes;
    made.writes->elapsed_s = elapsed_s;
    return made;
}

Profile run_of(std::vector<File> files) {
    Profile made = tests::profile(4);
    made.files = std::move(files);
    return made;
}

}  // namespace

TEST_CASE("volumes: one for each layer, named where they are not the same") {
    File file = tests::file("/f.h5", 0, 3);
    file.datasets.push_back(tests::dataset("/d", 15 * gib, 4));
    file.datasets[0].writes = tests::transfers(4, 120 * gib, 0, 1);
    file.mpiio = through_mpiio(248 * gib, 1);
    Intents found = tests::intents(run_of({file}));
    CHECK(found.files.at("/f.h5").volume.layers == std::vector<std::string>{"hdf5"});
    CHECK(found.workload.layers.at("hdf5").bytes_written == 120 * gib);
    CHECK(found.workload.layers.at("mpiio").bytes_written == 248 * gib);
    CHECK(found.workload.words.what ==
          "1 file, 1 dataset, 120 GiB written (hdf5 120 GiB, mpiio 248 GiB)");
    file.mpiio->writes->bytes = 120 * gib + kib;  // with some metadata
    found = tests::intents(run_of({file}));
    CHECK(found.workload.words.what == "1 file, 1 dataset, 120 GiB written");
    found = tests::intents(run_of({file, plain_file("/log", gib * 30, 0)}));
    CHECK(found.workload.volume.layers == std::vector<std::string>{"hdf5", "posix"});
    CHECK(found.workload.words.what.ends_with(
        "150 GiB written (hdf5 120 GiB, mpiio 120 GiB, posix 30 GiB)"));
}

TEST_CASE("what is hardly read is not said to be not read") {
    Profile run = run_of({plain_file("/out", gib, 0), plain_file("/in", 0, 7987)});
    Intents found = tests::intents(run);
    CHECK(found.workload.type.value == "write_only");
    CHECK(found.workload.words.why == "output: written, and hardly read by this run");
    CHECK(found.files.at("/out").words.why == "output: written, not read by this run");
    run.files.pop_back();
    CHECK(tests::intents(run).workload.words.why == "output: written, not read by this run");
}

TEST_CASE("written once and read many times, by one program or by another") {
    const auto type = [](const Intents& found) { return found.files.at("/f").type.value; };
    Intents found = tests::intents(run_of({plain_file("/f", gib, 5 * gib)}));
    CHECK(type(found) == "read_after_write");  // read behind what was written: how large is it?
    File alone = plain_file("/f", gib, 5 * gib);
    alone.posix->reads->highest_byte = gib - 1;
    found = tests::intents(run_of({alone}));
    CHECK(type(found) == "write_once_read_many");
    CHECK(found.workload.type.value == "write_once_read_many");

    File reader = plain_file("/f", 0, 40 * gib);
    reader.posix->reads->highest_byte = gib - 1;
    Profile first = run_of({plain_file("/f", gib, 0)}), second = run_of({reader});
    first.origin.start = "2024-01-01T00:00:00Z";
    second.origin.start = "2024-01-02T00:00:00Z";
    found = intents_of({{"a", first}, {"b", second}});
    CHECK(type(found) == "write_once_read_many");
    CHECK(found.workload.type.value == "write_once_read_many");
    second.files[0].posix->reads->bytes = gib;
    found = intents_of({{"a", first}, {"b", second}});
    CHECK(type(found) == "read_after_write");
}

TEST_CASE("structure or data: the layer that took the time is weighed, and the bytes are") {
    File file = plain_file("/f", 40 * gib, 0);
    file.posix->opens = 1000;
    file.posix->metadata_s = 100;
    file.posix->writes->elapsed_s = 1;  // little of it passes by the system calls
    file.posix->writes->bytes = 1000;
    const auto said = [&] {
        return tests::intents(run_of({file})).files.at("/f").metadata_dominated;
    };
    CHECK(said().value == "yes");
    file.mpiio = through_mpiio(40 * gib, 49303119);
    CHECK(said().value == "no");
    CHECK(said().evidence.front().from == "mpiio");
    file.mpiio.reset();
    file.posix->writes->bytes = 40 * gib;
    CHECK(said().value == "no");  // 40 MiB for each open
}
