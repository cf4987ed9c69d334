// SPDX-License-Identifier: Apache-2.0
// What the recorder makes of sequences of calls.
#include <doctest/doctest.h>

#include <fstream>

#include "recorded.hpp"

using namespace recorded;
using tailrace::intent::Dataset;
using tailrace::intent::Transfers;

namespace {

using Work = std::function<void(vol::DatasetEntry*)>;

/// The only dataset of a run of one process that does `work` with it.
Dataset dataset_of(const Numbers& dims, const std::function<void(vol::DatasetEntry*)>& work,
                   const Numbers& chunk = {}) {
    const Folder folder;
    in_process(folder, "1", 0,
               [&] { work(create(open_file("/tmp/no such.h5"), "/d", dims, chunk)); });
    auto profile = folder.profile();
    REQUIRE(profile.files.size() == 1);
    REQUIRE(profile.files[0].datasets.size() == 1);
    return profile.files[0].datasets[0];
}

}  // namespace

TEST_CASE("pieces one after the other are sequential and cover everything") {
    const Dataset found = dataset_of({12, 5}, [](auto* dataset) {
        for (std::uint64_t row = 0; row < 12; row += 3) write(dataset, {row, 0}, {3, 5});
    });
    REQUIRE(found.writes);
    const Transfers& writes = *found.writes;
    CHECK(writes.calls == 4);
    CHECK(writes.bytes == 480);
    CHECK(writes.order->sequential == 3);
    CHECK(writes.order->random == 0);
    CHECK(writes.coverage->full == true);
    CHECK(writes.coverage->elements_distinct == 60);
    REQUIRE(writes.coverage->boxes.size() == 1);
    CHECK(writes.coverage->boxes[0].count == Numbers{12, 5});
    REQUIRE(writes.shapes.size() == 1);
    CHECK(writes.shapes[0].length == Numbers{3, 5});
    CHECK(writes.shapes[0].calls == 4);
    CHECK(writes.shapes[0].call_bytes == 120);
    CHECK_FALSE(found.reads);
    CHECK(found.type->name == "f64le");
}

TEST_CASE("tiles in the order of rows follow each other") {
    const Dataset found = dataset_of({4, 6}, [](auto* dataset) {
        for (std::uint64_t row = 0; row < 4; row += 2) {
            for (std::uint64_t column = 0; column < 6; column += 3) {
                write(dataset, {row, column}, {2, 3});
            }
        }
    });
    CHECK(found.writes->order->sequential == 3);
    CHECK(found.writes->coverage->full == true);
    CHECK(found.writes->coverage->boxes.size() == 1);
}

TEST_CASE("a constant step is strided, others are random, the same place is repeated") {
    const Dataset found = dataset_of({100}, [](auto* dataset) {
        for (const std::uint64_t at : {0, 10, 20, 30, 31, 7, 90, 90}) write(dataset, {at}, {1});
    });
    CHECK(found.writes->order->strided == 3);
    CHECK(found.writes->order->step == std::vector<std::int64_t>{10});
    CHECK(found.writes->order->sequential == 1);
    CHECK(found.writes->order->random == 2);
    CHECK(found.writes->order->repeated == 1);
    CHECK(found.writes->coverage->full == false);
    CHECK(found.writes->coverage->elements_distinct == 7);
}

TEST_CASE("what overlaps counts once, and what has holes is not full") {
    const Dataset found = dataset_of({10, 10}, [](auto* dataset) {
        write(dataset, {0, 0}, {6, 6});
        write(dataset, {4, 4}, {6, 6});
        write(dataset, {0, 0}, {1, 1}, {5, 5}, {2, 2});
    });
    // 36 + 36 - 4, and of the 25 grid points (8,0) (8,2) (0,8) (2,8) (6..8,0..2) are new:
    // rows 0 2 4 6 8, columns likewise; counted by hand below.
    std::uint64_t expected = 0;
    for (int row = 0; row < 10; ++row) {
        for (int column = 0; column < 10; ++column) {
            const bool first = row < 6 && column < 6;
            const bool second = row >= 4 && column >= 4;
            expected += first || second || (row % 2 == 0 && column % 2 == 0) ? 1 : 0;
        }
    }
    CHECK(found.writes->coverage->elements_distinct == expected);
    CHECK(found.writes->coverage->full == false);
}

TEST_CASE("reads after writes are told apart from others") {
    const auto read_back = [](std::uint64_t from) {
        return dataset_of({20}, [from](auto* dataset) {
            write(dataset, {0}, {10});
            read(dataset, {from}, {5});
        });
    };
    CHECK(read_back(8).read_after_write->same_process == true);
    CHECK(read_back(8).read_after_write->any == true);
    CHECK(read_back(10).read_after_write->any == false);
    // Every other element is written: blocks 0, 2, ... 18 of the twenty.
    const auto between_stripes = [](std::uint64_t from, std::uint64_t count) {
        return dataset_of({20}, [from, count](auto* dataset) {
            write(dataset, {0}, {1}, {10}, {2});
            move(dataset, spool::reads, {from}, {1}, {count}, {2});
        });
    };
    CHECK(between_stripes(1, 1).read_after_write->same_process == false);
    CHECK(between_stripes(1, 10).read_after_write->same_process == false);
    CHECK(between_stripes(18, 1).read_after_write->same_process == true);
    CHECK(between_stripes(4, 5).read_after_write->same_process == true);
    const Dataset doubtful = dataset_of({1000000}, [](auto* dataset) {
        for (std::uint64_t n = 0; n < 500; ++n) write(dataset, {n * n * 3}, {1});
        read(dataset, {999999}, {1});
    });
    CHECK_FALSE(doubtful.read_after_write->same_process.has_value());

    const Folder folder;
    in_process(folder, "1", 0,
               [] { write(create(open_file("/tmp/no such.h5"), "/d", {20}), {0}, {10}); });
    in_process(folder, "1", 1,
               [] { read(create(open_file("/tmp/no such.h5"), "/d", {20}), {5}, {10}); });
    const auto between = *folder.profile().files.at(0).datasets.at(0).read_after_write;
    CHECK(between.other_processes == true);
    CHECK(between.same_process == false);
}

TEST_CASE("many shapes: the frequent ones are kept, whenever they come") {
    const Dataset found = dataset_of({100000}, [](auto* dataset) {
        for (std::uint64_t n = 1; n <= 400; ++n) write(dataset, {n}, {n});
        for (int n = 0; n < 500; ++n) write(dataset, {7}, {4096});
    });
    REQUIRE(found.writes->shapes.size() == 8);
    CHECK(found.writes->shapes[0].length == Numbers{4096});
    CHECK(found.writes->shapes[0].calls > 450);
    CHECK(found.writes->calls == 900);
}

TEST_CASE("too many places to keep: the coverage is not known, never wrong") {
    const Dataset found = dataset_of({1000000}, [](auto* dataset) {
        for (std::uint64_t n = 0; n < 500; ++n) write(dataset, {n * n * 3}, {1});
    });
    CHECK_FALSE(found.writes->coverage->full.has_value());
    CHECK_FALSE(found.writes->coverage->elements_distinct.has_value());
}

TEST_CASE("a file that is gone is the one that was there, however it is named") {
    const Folder folder;
    in_process(folder, "1", 0, [&folder] {
        if (chdir(folder.path.c_str()) != 0) _exit(1);
        std::ofstream("x.h5") << "there";
        open_file("x.h5");
        std::filesystem::remove("x.h5");
        vol::recorder::file_deleted("./x.h5");
    });
    const auto profile = folder.profile();
    REQUIRE(profile.files.size() == 1);
    CHECK(profile.files[0].hdf5->deletes == 1);
}

TEST_CASE("dimensions, places and sums beyond 32 bits are exact") {
    constexpr std::uint64_t row = (std::uint64_t{1} << 32U) + 5;
    const Folder folder;
    for (std::uint64_t rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", static_cast<int>(rank), [rank] {
            auto* dataset = create(open_file("/tmp/no such.h5"), "/d", {3, 2 * row});
            // Three wide pieces of each rank, then every other element of what is between them.
            for (std::uint64_t n = 0; n < 3; ++n) write(dataset, {n, rank * row}, {1, row});
            move(dataset, spool::reads, {0, rank * row + 1}, {1, 1}, {3, row / 2}, {1, 2});
            const Numbers grown = {3, 2 * row + rank};
            vol::recorder::dataset_extended(dataset, grown.data(), 2);
        });
    }
    const auto profile = folder.profile();
    const Dataset& found = profile.files.at(0).datasets.at(0);
    CHECK(found.dims == Numbers{3, 2 * row + 1});
    CHECK(found.max_dims.at(1) == 2 * row);
    CHECK(found.extensions->sequence.at(0).at(1) >= 2 * row);
    const Transfers& writes = *found.writes;
    CHECK(writes.calls == 6);
    CHECK(writes.elements == 6 * row);
    CHECK(writes.bytes == 48 * row);
    CHECK(writes.order->sequential == 4);
    CHECK(writes.coverage->elements_distinct == 6 * row);
    REQUIRE(writes.shapes.size() == 1);
    CHECK(writes.shapes[0].length == Numbers{1, row});
    CHECK(writes.shapes[0].call_bytes == 8 * row);
    REQUIRE(writes.by_process.size() == 2);
    CHECK(writes.by_process[1].first->start == Numbers{0, row});
    CHECK(writes.by_process[1].bytes == 24 * row);
    const Transfers& reads = *found.reads;
    CHECK(reads.elements == 6 * (row / 2));
    CHECK(reads.bytes == 48 * (row / 2));
    CHECK(reads.shapes.at(0).count == Numbers{3, row / 2});
    CHECK(reads.shapes.at(0).stride == Numbers{1, 2});
    CHECK(reads.coverage->full.value_or(false) == false);
    CHECK(found.read_after_write->same_process == true);
}

TEST_CASE("whole chunks that the program writes itself are covered, as far as they lie within") {
    const auto mixed = [](bool last) {
        return dataset_of({10, 7},
                          [last](auto* dataset) {
                              write(dataset, {0, 0}, {8, 7});
                              direct(dataset, spool::writes, {8, 0});
                              if (last) direct(dataset, spool::writes, {8, 4});
                              direct(dataset, spool::reads, {8, 0});
                          },
                          {4, 4});
    };
    const Dataset full = mixed(true);
    CHECK(full.writes->coverage->full == true);
    CHECK(full.writes->coverage->elements_distinct == 70);
    CHECK(full.direct_chunk_writes->calls == 2);
    CHECK(full.read_after_write->any == true);
    CHECK(mixed(false).writes->coverage->full == false);
    const auto only_chunks = [](std::uint64_t from) {
        return dataset_of({10},
                          [from](auto* dataset) {
                              direct(dataset, spool::writes, {4});
                              read(dataset, {from}, {2});
                          },
                          {4});
    };
    CHECK(only_chunks(7).read_after_write->any == true);
    CHECK(only_chunks(8).read_after_write->any == false);
    // One process writes chunks, the other one the rest.
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", rank, [rank] {
            auto* dataset = create(open_file("/tmp/no such.h5"), "/d", {8}, {4});
            if (rank == 0) write(dataset, {0}, {4});
            if (rank == 1) direct(dataset, spool::writes, {4});
        });
    }
    CHECK(folder.profile().files.at(0).datasets.at(0).writes->coverage->full == true);
}

TEST_CASE("a dataset that is made anew is covered where it was in each of its lives") {
    // Each life: the extent it is made with, and what is written.
    struct Life {
        std::uint64_t extent, from, count;
    };
    const auto full = [](const std::vector<std::vector<Life>>& processes) {
        const Folder folder;
        for (int rank = 0; rank < static_cast<int>(processes.size()); ++rank) {
            in_process(folder, "1", rank, [&] {
                for (const Life& life : processes[rank]) {
                    auto* dataset = create(open_file("/tmp/no such.h5"), "/d", {life.extent});
                    if (life.count > 0) write(dataset, {life.from}, {life.count});
                }
            });
        }
        return folder.profile().files.at(0).datasets.at(0).writes->coverage->full;
    };
    CHECK(full({{{10, 0, 5}, {10, 5, 5}}}) == false);
    CHECK(full({{{10, 0, 10}, {10, 0, 10}}}) == true);
    CHECK(full({{{5, 0, 5}, {10, 0, 10}, {20, 0, 20}}}) == true);
    CHECK(full({{{10, 0, 10}, {10, 0, 5}}}) == false);
    CHECK(full({{{10, 0, 5}, {10, 0, 10}}}) == false);
    CHECK_FALSE(full({{{10, 0, 5}, {10, 5, 5}, {10, 0, 10}}}) == true);
    CHECK_FALSE(full({{{20, 0, 10}, {10, 0, 10}}}) == true);
    CHECK_FALSE(full({{{10, 0, 0}, {10, 0, 10}}}) == true);
    // Ranks that make it together, each with its part.
    const std::vector<Life> low(3, {10, 0, 5});
    const std::vector<Life> high(3, {10, 5, 5});
    CHECK(full({low, high}) == true);
    CHECK(full({low, {{10, 5, 5}, {10, 5, 5}, {10, 5, 4}}}) == false);
    CHECK(full({low, {{10, 5, 4}, {10, 5, 4}, {10, 5, 5}}}) == false);
    CHECK_FALSE(full({low, {{10, 5, 5}, {10, 0, 5}, {10, 5, 5}}}).has_value());
    CHECK_FALSE(full({low, {{10, 5, 5}}}).has_value());
}

TEST_CASE("what was written in an earlier life is not read back") {
    const auto read_back = [](const Work& between) {
        return *dataset_of({10}, [&between](auto* dataset) {
                    write(dataset, {0}, {10});
                    between(dataset);
                    read(dataset, {5}, {5});
                }).read_after_write;
    };
    const auto anew = [](auto*) { create(open_file("/tmp/no such.h5"), "/d", {10}); };
    const auto grown_again = [](auto* dataset) {
        for (const std::uint64_t extent : {5, 10})
            vol::recorder::dataset_extended(dataset, &extent, 1);
    };
    CHECK(read_back([](auto*) {}).same_process == true);
    CHECK(read_back(anew).same_process == false);
    CHECK(read_back(grown_again).same_process == false);
}

TEST_CASE("what a dataset loses as it shrinks is not covered") {
    const auto after = [](
                           const std::vector<Numbers>& extents, const Work& first,
                           const Work& then = [](auto*) {}) {
        const auto found = dataset_of({10, 10}, [&](auto* dataset) {
            first(dataset);
            for (const Numbers& extent : extents)
                vol::recorder::dataset_extended(dataset, extent.data(), 2);
            then(dataset);
        });
        return *found.writes->coverage;
    };
    const auto all = [](auto* dataset) { write(dataset, {0, 0}, {10, 10}); };
    const auto half = [](auto* dataset) { write(dataset, {5, 0}, {5, 10}); };
    const auto stripes = [](auto* dataset) { write(dataset, {0, 0}, {1, 2}, {10, 3}, {1, 4}); };
    CHECK(after({{5, 10}, {10, 10}}, all).elements_distinct == 50);
    CHECK(after({{5, 10}, {10, 10}}, all, half).full == true);
    CHECK(after({{5, 10}}, half).elements_distinct == 0);
    CHECK(after({{10, 6}}, stripes).elements_distinct == 40);
    CHECK(after({{10, 2}, {10, 10}}, stripes).elements_distinct == 20);
    CHECK_FALSE(after({{10, 5}, {10, 10}}, stripes).elements_distinct.has_value());
}

TEST_CASE("a chunk of a dataset without chunks makes nothing certain") {
    const Dataset found = dataset_of({10}, [](auto* dataset) {
        write(dataset, {0}, {4});
        direct(dataset, spool::writes, {4});
        direct(dataset, spool::reads, {4});
    });
    CHECK_FALSE(found.writes->coverage->full.has_value());
    CHECK_FALSE(found.read_after_write->any.has_value());
}

TEST_CASE("extents: the first and the last ones, in their order") {
    const Dataset found = dataset_of({0}, [](auto* dataset) {
        for (std::uint64_t n = 1; n <= 20; ++n) vol::recorder::dataset_extended(dataset, &n, 1);
    });
    CHECK(found.extensions->calls == 20);
    CHECK(found.dims == Numbers{20});
    const std::vector<Numbers> expected = {{1}, {2}, {3}, {4}, {17}, {18}, {19}, {20}};
    CHECK(found.extensions->sequence == expected);
}

TEST_CASE("a file that others change is looked at anew, once") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        const unsigned char token[16] = {48};
        vol::FileFacts facts;
        facts.before = {true, 1, 2, 100, 5, 5};
        const auto open = [&](std::uint32_t rank) {
            auto* file = vol::recorder::file_opened("/tmp/no such.h5", facts, now());
            bool known = false;
            auto* dataset = vol::recorder::dataset(file, "/d", token, false, &known);
            vol::DatasetFacts of;
            of.rank = rank;
            for (std::uint32_t d = 0; d < rank; ++d) of.dims[d] = of.largest[d] = 4;
            if (!known) dataset = vol::recorder::describe(dataset, of);
            vol::recorder::file_closed(file, now());
            std::uint64_t dims[vol::most_dimensions];
            if (vol::recorder::extent(dataset, dims) != rank) _exit(1);
            return known;
        };
        if (open(1)) _exit(2);
        if (!open(1)) _exit(3);
        facts.before.modified_ns = 6;
        if (open(2)) _exit(4);  // it has another rank now, and the same token
        if (!open(2) || !open(2)) _exit(5);
        facts.before.inode = 3;
        if (open(2)) _exit(6);
        if (!open(2)) _exit(7);
    });
}
