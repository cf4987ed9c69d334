// SPDX-License-Identifier: Apache-2.0
// What the recorder makes of several processes: what they did alike, and in which order.
#include <doctest/doctest.h>

#include "recorded.hpp"

using namespace recorded;
using tailrace::intent::Transfers;

TEST_CASE("two processes that take turns cover it together") {
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", rank, [rank] {
            auto* dataset = create(open_file("/tmp/no such.h5"), "/d", {64});
            for (std::uint64_t at = rank; at < 64; at += 2) write(dataset, {at}, {1});
        });
    }
    const auto profile = folder.profile();
    CHECK(profile.run.ranks == 2);
    CHECK(profile.run.processes.size() == 2);
    const auto& file = profile.files.at(0);
    CHECK(file.processes.text() == "0-1");
    CHECK(file.hdf5->same_order == true);
    CHECK(file.hdf5->same_transfer_order == true);
    const Transfers& writes = *file.datasets.at(0).writes;
    CHECK(writes.coverage->full == true);
    CHECK(writes.order->strided == 62);
    CHECK(writes.order->step == std::vector<std::int64_t>{2});
    REQUIRE(writes.by_process.size() == 2);
    CHECK(writes.by_process[1].first->start == Numbers{1});
    CHECK(writes.by_process[0].order_hash != writes.by_process[1].order_hash);
}

TEST_CASE("processes that make other calls do not agree") {
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", rank, [rank] {
            auto* file = open_file("/tmp/no such.h5");
            auto* dataset = create(file, "/d", {8});
            for (int n = 0; n <= rank; ++n) write(dataset, {0}, {8});
            if (rank == 1) {
                vol::recorder::operation(file, spool::on_group, spool::op_create, "/g", true,
                                         now());
            }
        });
    }
    const auto profile = folder.profile();
    const auto& hdf5 = *profile.files.at(0).hdf5;
    CHECK(hdf5.same_order == false);
    CHECK(hdf5.same_transfer_order == false);
    CHECK(hdf5.call_orders.size() == 2);
    CHECK(hdf5.metadata.at("group").create == 1);
}

TEST_CASE("of ranks that left no spool nothing is said of their order") {
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank)
        in_process(folder, "1", rank,
                   [] { write(create(open_file("/tmp/no such.h5", 3), "/d", {8}), {0}, {8}); });
    const auto profile = folder.profile();
    const auto& hdf5 = *profile.files.at(0).hdf5;
    CHECK(hdf5.communicator_size == 3);
    CHECK(hdf5.call_orders.size() == 1);
    CHECK_FALSE(hdf5.same_order);
    CHECK_FALSE(hdf5.same_transfer_order);
    CHECK_FALSE(hdf5.same_access_order);
}

TEST_CASE("what ranks open and ask has an order of its own") {
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        in_process(folder, "1", rank, [rank] {
            auto* file = open_file("/tmp/no such.h5", 2);
            for (const int n : {rank, 1 - rank})
                vol::recorder::operation(file, spool::on_dataset, spool::op_open,
                                         n == 0 ? "/a" : "/b", false, now());
        });
    }
    const auto profile = folder.profile();
    const auto& hdf5 = *profile.files.at(0).hdf5;
    CHECK(hdf5.same_order == true);
    CHECK(hdf5.same_access_order == false);
    CHECK(hdf5.access_orders.size() == 2);
}

TEST_CASE("of many processes it is known whether they did the same, not each one's share") {
    constexpr int many = 260;
    const Folder folder;
    for (int rank = 0; rank < many; ++rank) {
        in_process(folder, "1", rank, [rank] {
            auto* file = open_file("/tmp/no such.h5", many);
            write(create(file, "/even", {8}), {0}, {8});
            write(create(file, "/odd", {8}), {0}, {rank == many - 1 ? 7U : 8U});
        });
    }
    const auto profile = folder.profile();
    for (const auto& one : profile.files.at(0).datasets) {
        CAPTURE(one.path);
        CHECK(one.writes->by_process.size() == 256);
        CHECK(one.writes->processes == many);
        CHECK(one.writes->even == (one.path == "/even"));
    }
}
