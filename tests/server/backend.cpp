// SPDX-License-Identifier: Apache-2.0
// Clients and front ends as threads of one process: what a writer gets is what was put.
#include "server/client/backend.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "comm/threads.hpp"
#include "server/frontend/serve.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

constexpr std::uint64_t rows = 12, few = 5, many = 6000;

FileMetadata metadata(std::uint64_t columns = few) {
    FileMetadata all;
    all.add_dimension("time", 0);
    all.add_dimension("y", rows);
    all.add_dimension("x", columns);
    Variable one;
    one.name = "T";
    one.type = Element::int64;
    one.dimensions = {"time", "y", "x"};
    all.add(one);
    one.name = "u";
    one.type = Element::int16;
    all.add(one);
    return all;
}

Definition defined(const FileMetadata& about, std::uint64_t queue_bytes, WhenFull when_full) {
    FileSpec spec{about, {}};
    spec.options.queue_bytes = queue_bytes;
    spec.options.when_full = when_full;
    return definition_of(spec);
}

/// What is written, for all front ends: file, item, field -> elements as they lie.
struct Written {
    std::mutex mutex;
    std::map<std::tuple<std::string, Item, std::uint64_t>, std::vector<std::byte>> fields;
    std::uint64_t closed = 0;

    void take(Work& work) {
        const FileMetadata about = FileSpec::from_bytes(work.file->body).metadata;
        const std::lock_guard lock(mutex);
        if (work.item.kind == Ending::close_file) ++closed;
        for (const WholeField& one : work.fields) {
            CHECK(one.slab.extents() == about.record_extents(about.variables()[one.field]));
            const auto data = one.slab.data();
            const bool is_new = fields
                                    .try_emplace({work.file->file, work.item.item, one.field},
                                                 data.begin(), data.end())
                                    .second;
            CHECK(is_new);
        }
    }
};

template <class Number>
Number value(std::uint64_t step, std::uint64_t field, std::uint64_t index) {
    return static_cast<Number>(step * 1000 + field * 100 + index);
}

/// The rows of one rank, of ragged sizes, with a halo of one all round.
template <class Number>
void put_rows(Backend& remote, std::uint64_t collection, const std::string& file,
              std::uint64_t field, std::uint64_t step, std::uint64_t rank, std::uint64_t ranks,
              std::uint64_t columns = few) {
    const core::Box block = core::cut(std::array{rows, columns}, 0, ranks, rank);
    const core::Extents memory{block.count[0] + 2, columns + 2};
    std::vector<Number> array(memory[0] * memory[1], Number{-1});
    for (std::uint64_t y = 0; y < block.count[0]; ++y)
        for (std::uint64_t x = 0; x < columns; ++x)
            array[(y + 1) * memory[1] + x + 1] =
                value<Number>(step, field, (block.offset[0] + y) * columns + x);
    remote.put(collection, file, field, 0, block, reinterpret_cast<const std::byte*>(array.data()),
               {memory, {1, 1}});
}

struct Run {
    std::uint64_t clients, servers, slab_bytes;
    WhenFull when_full = WhenFull::block;
    std::uint64_t shared_bytes = 0;
    std::atomic<int>* slotted = nullptr;  // clients that left something in shared memory
};

/// The first ranks are clients, which do `model`; the others write with `write`.
void run(const Run& how, const std::function<void(Backend&, std::uint64_t)>& model,
         const WriteWork& write) {
    const auto ranks = static_cast<int>(how.clients + how.servers);
    comm::run_threads(ranks, [&](const comm::Comm& all) {
        comm::Channel channel = all.channel();
        const auto rank = static_cast<std::uint64_t>(all.rank());
        const std::uint64_t credit = 2 * how.slab_bytes;
        Neighbours neighbours;
        if (how.shared_bytes > 0)
            neighbours = Neighbours(
                all, {all.rank(), rank >= how.clients, rank < how.clients ? how.shared_bytes : 0});
        if (rank < how.clients) {
            Backend remote(channel,
                           {.client = rank,
                            .clients = how.clients,
                            .servers = how.servers,
                            .slab_bytes = how.slab_bytes,
                            .credit_bytes = credit},
                           neighbours);
            model(remote, rank);
            if (how.slotted != nullptr)
                *how.slotted += std::ranges::any_of(
                    neighbours.part(all.rank()), [](std::byte one) { return one != std::byte{0}; });
        } else {
            serve(channel,
                  {.server = rank - how.clients, .clients = how.clients, .credit_bytes = credit},
                  write, neighbours);
        }
        channel.close();
    });
}

template <class Number>
bool holds(const std::vector<std::byte>& data, std::uint64_t step, std::uint64_t field,
           std::uint64_t columns = few) {
    std::vector<Number> wanted(rows * columns);
    for (std::uint64_t i = 0; i < wanted.size(); ++i) wanted[i] = value<Number>(step, field, i);
    return data.size() == wanted.size() * sizeof(Number) &&
           std::memcmp(data.data(), wanted.data(), data.size()) == 0;
}

}  // namespace

TEST_CASE("backend: every element comes to its place, over files, front ends and slabs") {
    for (const Run& how : {Run{1, 1, 1 << 20}, Run{3, 1, 16}, Run{5, 2, 48}, Run{14, 3, 64}}) {
        Written written;
        run(
            how,
            [&](Backend& remote, std::uint64_t rank) {
                const FileMetadata about = metadata();
                for (const char* name : {"A", "B"})
                    remote.add_collection(name, defined(about, 1400, how.when_full));
                for (std::uint64_t step = 0; step < 6; ++step)
                    for (std::uint64_t c = 0; c < 2; ++c) {
                        const std::string file =
                            std::string(c == 0 ? "a" : "b") + std::to_string(step / 3);
                        put_rows<std::int64_t>(remote, c, file, 0, step, rank, how.clients);
                        put_rows<std::int16_t>(remote, c, file, 1, step, rank, how.clients);
                        for (const Status& status : remote.end_step(c)) CHECK(!status.error);
                    }
                for (std::uint64_t c = 0; c < 2; ++c)
                    for (const Status& status : remote.close_file(c)) CHECK(!status.error);
                CHECK(remote.finalize().empty());
            },
            [&](Work& work) { written.take(work); });
        CHECK(written.fields.size() == 6 * 2 * 2);
        CHECK(written.closed == 4);
        for (const auto& [key, data] : written.fields) {
            const auto& [file, item, field] = key;
            INFO("clients ", how.clients, ", item ", item, ", field ", field, ", file ", file);
            const std::uint64_t step = item - (file.back() == '1' ? 1 : 0);  // a close between
            CHECK((field == 0 ? holds<std::int64_t>(data, step, field)
                              : holds<std::int16_t>(data, step, field)));
        }
    }
}

TEST_CASE("backend: what a front end counted comes with the end of each file") {
    using namespace std::chrono_literals;
    std::atomic<std::uint64_t> sent = 0, received = 0;
    run(
        {3, 1, 1 << 20},
        [&](Backend& remote, std::uint64_t rank) {
            remote.add_collection("A", defined(metadata(), 5000, WhenFull::block));
            for (const char* file : {"a", "b"}) {
                for (std::uint64_t step = 0; step < 2; ++step) {
                    put_rows<std::int64_t>(remote, 0, file, 0, step, rank, 3);
                    for (const Status& status : remote.end_step(0)) CHECK(!status.figures);
                }
                const std::vector<Status> all = remote.close_file(0);
                const std::optional<Figures>& told = all.back().figures;
                REQUIRE(told.has_value());
                CHECK(told->server == 0);
                CHECK(told->file_s.value_or(0) >= 0.02);  // as the writer takes
                CHECK(told->file_s.value_or(0) < 10);
                CHECK(told->queue_bytes >= rows * few * 8);
                CHECK(told->queue_bytes <= 2 * rows * few * 8);
                CHECK(told->queue_items >= 1);
                CHECK(told->cpu_s > 0);
                if (rank == 0) sent += told->sent, received += told->received;
            }
            const Traffic mine = remote.traffic();
            CHECK(mine.received > 0);
            CHECK(mine.sent >= 1 + 2 * (1 + 2 * 3));  // HELLO; META; per step DATA, END and CALL
            CHECK(remote.finalize().empty());
        },
        [&](const Work& work) {
            if (work.item.kind == Ending::step) std::this_thread::sleep_for(10ms);
        });
    CHECK(received >= 3 * (1 + 2 * (1 + 2 * 3)));
    CHECK(sent >= 3 * 2 * 2);  // a verdict for each step and client, and more
}

TEST_CASE("backend: slots of shared memory, ample, short or none, hold what messages hold") {
    for (const std::uint64_t shared :
         {std::uint64_t{2} << 20, std::uint64_t{100'000}, std::uint64_t{1} << 60, std::uint64_t{0}})
        for (Run how : {Run{1, 1, 90'000}, Run{3, 1, 70'000}, Run{4, 2, 50'000}, Run{5, 1, 1000}}) {
            Written written;
            std::atomic<int> slotted = 0;
            how.shared_bytes = shared;
            how.slotted = &slotted;
            run(
                how,
                [&](Backend& remote, std::uint64_t rank) {
                    const FileMetadata about = metadata(many);
                    for (const char* name : {"a", "b"})
                        remote.add_collection(name, defined(about, 1 << 21, how.when_full));
                    for (std::uint64_t step = 0; step < 5; ++step)
                        for (std::uint64_t c = 0; c < 2; ++c) {
                            const std::string file(1, static_cast<char>('a' + c));
                            put_rows<std::int64_t>(remote, c, file, 0, step, rank, how.clients,
                                                   many);
                            put_rows<std::int16_t>(remote, c, file, 1, step, rank, how.clients,
                                                   many);
                            for (const Status& status : remote.end_step(c)) CHECK(!status.error);
                        }
                    for (const Status& status : remote.finalize()) CHECK(!status.error);
                },
                [&](Work& work) { written.take(work); });
            INFO("clients ", how.clients, ", shared ", shared, ", slab ", how.slab_bytes);
            const bool none = shared == 0 || shared >> 60 != 0 || how.slab_bytes == 1000;
            CHECK(slotted == (none ? 0 : static_cast<int>(how.clients)));
            CHECK(written.fields.size() == 5 * 2 * 2);
            for (const auto& [key, data] : written.fields) {
                const auto& [file, item, field] = key;
                CHECK((field == 0 ? holds<std::int64_t>(data, item, field, many)
                                  : holds<std::int16_t>(data, item, field, many)));
            }
        }
}

TEST_CASE("backend: a writer's error is the final status of its step, on all clients") {
    std::atomic<int> heard = 0;
    run(
        {4, 1, 64},
        [&](Backend& remote, std::uint64_t rank) {
            remote.add_collection("A", defined(metadata(), 5000, WhenFull::block));
            for (std::uint64_t step = 0; step < 5; ++step) {
                put_rows<std::int64_t>(remote, 0, "a", 0, step, rank, 4);
                for (const Status& status : remote.end_step(0)) {
                    CHECK(status.item == step - 2);
                    CHECK(status.error.has_value() == (status.item == 1));
                    if (status.error) heard += status.error->message() == "the disk is full";
                }
            }
            CHECK(remote.finalize().size() == 2);
        },
        [](const Work& work) {
            if (work.item.item == 1)
                throw core::Error(core::Code::no_space, "the disk is full", work.file->file);
        });
    CHECK(heard == 4);
}

TEST_CASE("backend: a model that computes does not wait for a slow writer") {
    using namespace std::chrono_literals;
    std::atomic<int> writing = 0, ended = 0;
    run(
        {2, 1, 4096},
        [&](Backend& remote, std::uint64_t rank) {
            remote.add_collection("A", defined(metadata(), 5000, WhenFull::block));
            for (std::uint64_t step = 0; step < 2; ++step) {
                put_rows<std::int64_t>(remote, 0, "a", 0, step, rank, 2);
                CHECK(remote.end_step(0).empty());
            }
            ++ended;  // the writer still waits for this
            CHECK(remote.finalize().size() == 2);
        },
        [&](const Work&) {
            if (writing++ > 0) return;
            for (int i = 0; i < 5000 && ended < 2; ++i) std::this_thread::sleep_for(1ms);
            CHECK(ended == 2);
        });
    CHECK(writing == 2);
}

TEST_CASE("backend: overlapping blocks are an error that names rank and variable") {
    std::atomic<int> heard = 0;
    run(
        {2, 1, 4096},
        [&](Backend& remote, std::uint64_t) {
            remote.add_collection("A", defined(metadata(), 5000, WhenFull::block));
            const std::vector<std::int16_t> all(rows * few);
            remote.put(0, "a", 1, 0, {{0, 0}, {rows, few}},
                       reinterpret_cast<const std::byte*>(all.data()));
            CHECK(remote.end_step(0).empty());
            const auto statuses = remote.finalize();
            REQUIRE(statuses.size() == 1);
            REQUIRE(statuses[0].error.has_value());
            const std::string text = statuses[0].error->what();
            INFO(text);
            CHECK(text.find("a, variable u, record 1: blocks overlap") == 0);
            ++heard;
        },
        [](const Work& work) { CHECK_MESSAGE(work.lost, "it was written"); });
    CHECK(heard == 2);
}

TEST_CASE("backend: different calls are one error on all ranks, and all go home") {
    std::atomic<int> heard = 0;
    run(
        {3, 2, 16},
        [&](Backend& remote, std::uint64_t rank) {
            for (const char* name : {"A", "B"})
                remote.add_collection(name, defined(metadata(), 600, WhenFull::block));
            for (std::uint64_t step = 0; step < 4; ++step)
                for (std::uint64_t c = 0; c < 2; ++c) {
                    if (rank == 2 && step == 1 && c == 0) continue;
                    put_rows<std::int64_t>(remote, c, "f" + std::to_string(c), 0, step, rank, 3);
                    remote.end_step(c);
                }
            try {
                remote.finalize();
            } catch (const core::Error& error) {
                INFO(error.what());
                CHECK(error.message().find("rank 2 ends a step of collection \"B\", rank 0 ends") !=
                      std::string::npos);
                ++heard;
            }
        },
        [](const Work&) {});
    CHECK(heard == 3);
}

TEST_CASE("backend: a client that throws fails the others' next steps, and ends no one else") {
    std::atomic<int> heard = 0;
    const auto thrown = comm::Comm::caught([&] {
        run(
            {3, 1, 64},
            [&](Backend& remote, std::uint64_t rank) {
                remote.add_collection("A", defined(metadata(), 5000, WhenFull::block));
                for (std::uint64_t step = 0; step < 4; ++step) {
                    if (rank == 1 && step == 1) throw core::Error(core::Code::io, "a model error");
                    put_rows<std::int64_t>(remote, 0, "a", 0, step, rank, 3);
                    static_cast<void>(remote.end_step(0));
                }
                const auto statuses = remote.finalize();
                REQUIRE(statuses.size() == 2);
                REQUIRE(statuses[1].error.has_value());
                CHECK(std::string(statuses[1].error->what())
                          .find("rank 1 of the model left before this item") != std::string::npos);
                ++heard;
            },
            [](const Work&) {});
    });
    CHECK(heard == 2);
    REQUIRE(thrown.has_value());
    CHECK(thrown->message() == "a model error");
}

TEST_CASE("backend, no servers: with its credit a rank has its shared memory again, each step") {
    constexpr std::uint64_t part = 300'000;  // a step of a rank is 288,000 bytes
    Written written;
    std::atomic<int> slotted = 0;
    comm::run_threads(2, [&](const comm::Comm& all) {
        comm::Channel channel = all.channel();
        const auto rank = static_cast<std::uint64_t>(all.rank());
        const Neighbours neighbours(all, {all.rank(), rank == 0, part});
        Backend server(
            channel, {.client = rank, .clients = 2, .slab_bytes = 100'000, .credit_bytes = 200'000},
            neighbours, [&](Work& work) { written.take(work); });
        server.add_collection("A", defined(metadata(many), 0, WhenFull::block));
        for (std::uint64_t step = 0; step < 4; ++step) {
            std::ranges::fill(neighbours.part(all.rank()), std::byte{0});
            put_rows<std::int64_t>(server, 0, "a", 0, step, rank, 2, many);
            for (const Status& status : server.end_step(0)) CHECK(!status.error);
            slotted += std::ranges::any_of(neighbours.part(all.rank()),
                                           [](std::byte one) { return one != std::byte{0}; });
        }
        server.finalize();
    });
    CHECK(slotted == 2 * 4);
    for (std::uint64_t step = 0; step < 4; ++step)
        CHECK(holds<std::int64_t>(written.fields.at({"a", step, 0}), step, 0, many));
}

TEST_CASE("backend, no servers: a put does not wait for rank 0, which may wait for this rank") {
    Written written;
    comm::run_threads(2, [&](const comm::Comm& all) {
        comm::Channel channel = all.channel();
        const auto rank = static_cast<std::uint64_t>(all.rank());
        Backend server(channel,
                       {.client = rank, .clients = 2, .slab_bytes = 64, .credit_bytes = 128}, {},
                       [&](Work& work) { written.take(work); });
        server.add_collection("A", defined(metadata(many), 0, WhenFull::block));
        if (rank == 0) all.barrier();  // behind the put of rank 1, of 288,000 bytes
        put_rows<std::int64_t>(server, 0, "a", 0, 0, rank, 2, many);
        if (rank == 1) all.barrier();
        for (const Status& status : server.end_step(0)) CHECK(!status.error);
        server.finalize();
    });
    const auto& bytes = written.fields.at({"a", 0, 0});
    std::vector<std::int64_t> elements(bytes.size() / sizeof(std::int64_t));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    REQUIRE(elements.size() == rows * many);
    for (std::uint64_t i = 0; i < elements.size(); ++i)
        REQUIRE(elements[i] == value<std::int64_t>(0, 0, i));
}
