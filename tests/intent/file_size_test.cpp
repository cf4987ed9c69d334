// SPDX-License-Identifier: Apache-2.0
// The size of a file, where not all places of calls are known.
#include <doctest/doctest.h>

#include "intent/intents/file_size.hpp"
#include "profiles.hpp"

namespace tailrace::intent {

namespace {

constexpr std::uint64_t mib = 1048576;

MpiioFile written(std::uint64_t bytes, Count highest_byte, Count not_placed) {
    MpiioFile made;
    made.writes = MpiioTransfers{};
    made.writes->bytes = bytes;
    made.writes->highest_byte = highest_byte;
    made.writes->not_placed = not_placed;
    return made;
}

PosixFile below(std::uint64_t bytes, std::uint64_t highest_byte) {
    PosixFile made;
    made.writes = PosixTransfers{};
    made.writes->bytes = bytes;
    made.writes->highest_byte = highest_byte;
    return made;
}

void check(const File& file, std::uint64_t bytes, Known at_least, const std::string& from) {
    const auto found = size_of(file, {});
    REQUIRE(found);
    CHECK(found->bytes == bytes);
    CHECK(found->at_least == at_least);
    CHECK(found->from == from);
}

Dataset dataset_of(const std::string& path, std::uint64_t bytes, const char* layout) {
    Dataset made = tests::dataset(path, bytes / 8, 1);
    made.layout = layout;
    made.writes = tests::transfers(1, bytes, 0, 1);
    return made;
}

}  // namespace

TEST_CASE("size: what is stored, whatever its datasets hold and the program touched") {
    File file = tests::file("/f", 0, 0);
    file.datasets.push_back(dataset_of("/virtual", 400 * mib, "virtual"));
    file.touched_bytes = 8192;
    file.stored_bytes = 6000;
    check(file, 6000, {}, "what the file system stores");
}

TEST_CASE("size: not what is stored, if the file system has not given all blocks yet") {
    File file = tests::file("/f", 0, 0);
    file.posix = below(100 * mib, 100 * mib - 1);
    file.stored_bytes = 512;
    check(file, 100 * mib, {}, "last byte touched");
    file.stored_bytes = 60 * mib;  // it packs by itself
    check(file, 60 * mib, {}, "what the file system stores");
    file.posix = below(4096, 100 * mib - 1);  // a hole
    file.stored_bytes = 8192;
    check(file, 8192, {}, "what the file system stores");
}

TEST_CASE("size: not what is stored, if elements that no filter packs would take more") {
    File file = tests::file("/f", 0, 0);
    file.datasets.push_back(dataset_of("/x", 100 * mib, "chunked"));
    file.datasets[0].writes->coverage = Coverage{};
    file.datasets[0].writes->coverage->elements_distinct = 100 * mib / 8;
    file.touched_bytes = 101 * mib;
    file.stored_bytes = 512;
    check(file, 101 * mib, {}, "last byte touched");
    file.datasets[0].filters.push_back({});
    check(file, 512, {}, "what the file system stores");
}

TEST_CASE("size: the last byte touched, where all places are known") {
    File file = tests::file("/f", 0, 0);
    CHECK(!size_of(file, {}));
    file.mpiio = written(100, 99, 0);
    check(file, 100, {}, "last byte touched");
    CHECK(size_of(tests::file("/f", 0, 0), {1, 30, 30, 30})->from == "sizes of its datasets");
}

TEST_CASE("size: where calls went elsewhere, what MPI told or no more than at least") {
    File file = tests::file("/f", 0, 0);
    file.mpiio = written(200, 99, 3);
    check(file, 100, true, "last byte touched whose place is known");
    file.mpiio->size_bytes = 192;
    check(file, 192, {}, "its size at the close");
    file.mpiio->size_bytes.reset();
    file.posix = below(200, 191);  // which moved all of it
    check(file, 192, {}, "last byte touched");
}

TEST_CASE("size: how far system calls went that are not kept") {
    File file = tests::file("/f", 0, 0);
    file.mpiio = written(200, 99, 3);
    file.mpiio->size_bytes = 150;  // before another open wrote more
    file.touched_bytes = 192;
    check(file, 192, {}, "last byte touched");
}

TEST_CASE("size: in a log, system calls that moved less than MPI-IO do not know the end") {
    File file = tests::file("/f", 0, 0);
    file.mpiio = written(192 * mib, {}, {});
    file.posix = below(128 * mib, 128 * mib - 1);
    check(file, 128 * mib, true, "last byte touched whose place is known");
    file.posix = below(192 * mib, 128 * mib - 1);  // some of it twice
    check(file, 128 * mib, {}, "last byte touched");
}

TEST_CASE("size: never less than what the datasets that were written take") {
    File file = tests::file("/f", 0, 0);
    file.mpiio = written(10 * mib, mib - 1, 5);
    file.datasets = {dataset_of("/a", 4 * mib, "contiguous"), dataset_of("/b", mib, "chunked")};
    check(file, 4 * mib, true, "sizes of the datasets written");
    file.datasets[1].writes->coverage = Coverage{};
    file.datasets[1].writes->coverage->elements_distinct = mib / 8;
    check(file, 5 * mib, true, "sizes of the datasets written");
    file.datasets[1].filters.push_back({1, "deflate", {}});  // it may have become smaller
    file.datasets[0].layout = "virtual";                     // its elements lie elsewhere
    check(file, mib, true, "last byte touched whose place is known");
}

TEST_CASE("size: bytes beyond an end that is not sure are no second writing") {
    Profile profile = tests::profile(2);
    File file = tests::file("/f", 0, 1);
    file.hdf5.reset();
    file.mpiio = written(200, 99, 3);
    profile.files.push_back(file);
    const auto reuse = [&] { return tests::intents(profile).files.at("/f").reuse.value; };
    CHECK(reuse() == "not known");
    profile.files[0].mpiio->writes->not_placed = 0;
    CHECK(reuse() == "rewritten");
    profile.files[0].mpiio->writes->not_placed = 3;
    CHECK(tests::intents(profile).files.at("/f").words.what == "at least 100 bytes");
}

}  // namespace tailrace::intent
