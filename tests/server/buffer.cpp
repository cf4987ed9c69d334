// SPDX-License-Identifier: Apache-2.0
// Queues bounded in bytes; slabs in the layout of the file.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "server/buffer/byte_queue.hpp"
#include "server/buffer/slab.hpp"
#include "server/buffer/slots.hpp"

using namespace tailrace;
using namespace tailrace::server;
using core::Box;

namespace {

/// The text of the Error that `work` must end with.
std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.what();
    }
    FAIL("no error");
    return "";
}

std::vector<std::int32_t> numbers(std::uint64_t count) {
    std::vector<std::int32_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::span<const std::byte> bytes_of(const std::vector<std::int32_t>& all) {
    return std::as_bytes(std::span(all));
}

/// The elements of a box of a row-major array that holds its own indices.
std::vector<std::int32_t> packed(const Box& box, const core::Extents& dims) {
    std::vector<std::int32_t> all;
    core::for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t, std::uint64_t run) {
        for (std::uint64_t i = 0; i < run; ++i) all.push_back(static_cast<std::int32_t>(at + i));
    });
    return all;
}

bool holds_its_indices(const Slab& slab, std::uint64_t elements) {
    return std::memcmp(slab.data().data(), numbers(elements).data(), elements * 4) == 0;
}

}  // namespace

TEST_CASE("byte queue: younger items leave the reserve to the oldest") {
    ByteQueue queue(30, 10, "A");
    CHECK(queue.admit(5, 10));
    CHECK(queue.admit(6, 10));
    CHECK(queue.admit(7, 9));
    CHECK(!queue.admit(7, 2));
    CHECK(queue.used() == 29);
    CHECK(queue.admit(5, 1));  // the oldest, always
    queue.release(5);
    CHECK(queue.used() == 19);
    CHECK(queue.admit(6, 5));  // which now is the oldest
    CHECK(!queue.admit(8, 12));
    CHECK(queue.admit(8, 11));
    queue.release(99);
    CHECK(queue.used() == 35);
}

TEST_CASE("byte queue: an item that was opened before it has bytes is the oldest") {
    ByteQueue queue(10, 10, "A");
    queue.open(1);
    CHECK(!queue.admit(2, 1));
    CHECK(queue.admit(1, 10));
    queue.release(1);
    CHECK(queue.admit(2, 10));
}

TEST_CASE("byte queue: sizes near 64 bits do not wrap round") {
    const std::uint64_t most = ~std::uint64_t{0};
    ByteQueue queue(most, 0, "A");
    CHECK(queue.admit(1, 0));
    CHECK(queue.admit(2, most - 1));
    CHECK(!queue.admit(3, most));
    CHECK(queue.admit(3, 1));
}

TEST_CASE("byte queue: a limit under one step is refused by name") {
    CHECK(error_of([] { ByteQueue(9, 10, "hourly"); }) ==
          "collection hourly: the queue of 9 bytes cannot hold a step, which has 10 bytes\n"
          "       hint: give queue_bytes at least the bytes of one step, better of three");
}

TEST_CASE("pieces: cover the box in packed order, none over the slab") {
    std::mt19937 random(1);
    const auto below = [&random](std::uint64_t n) { return random() % n; };
    for (int turn = 0; turn < 300; ++turn) {
        Box box;
        for (std::uint64_t d = below(5); d > 0; --d) {
            box.offset.push_back(below(9));
            box.count.push_back(1 + below(6));
        }
        core::Extents dims;
        for (std::size_t d = 0; d < box.rank(); ++d)
            dims.push_back(box.offset[d] + box.count[d] + 1);
        const std::uint64_t most = 1 + below(60);
        std::vector<std::int32_t> all;
        for (const Box& piece : pieces_of(box, 4, most)) {
            CHECK((piece.volume() * 4 <= most || piece.volume() == 1));
            for (const std::int32_t number : packed(piece, dims)) all.push_back(number);
        }
        CHECK(all == packed(box, dims));
    }
    CHECK(pieces_of({{3}, {0}}, 4, 100).empty());
    CHECK(pieces_of({{0, 0}, {2, 8}}, 8, 64).size() == 2);  // not more than needed
    CHECK(pieces_of({{0, 0}, {3, 8}}, 8, 128).size() == 2);
    CHECK(pieces_of({}, 8, 64).size() == 1);  // a scalar
}

TEST_CASE("pack: any part of a block inside an array with halo") {
    const core::Extents dims{4, 5, 6};
    const auto array = numbers(4 * 5 * 6);
    const Box block{{1, 1, 2}, {2, 3, 3}};
    const auto whole = packed(block, dims);
    for (std::uint64_t first = 0; first < whole.size(); ++first)
        for (std::uint64_t count = 0; first + count <= whole.size(); ++count) {
            std::vector<std::int32_t> part(count);
            pack(block, {dims, block.offset}, 4, bytes_of(array).data(), first,
                 std::as_writable_bytes(std::span(part)));
            CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<long>(first)));
        }
    std::vector<std::int32_t> part(3);
    pack({{0}, {7}}, {}, 4, bytes_of(whole).data(), 2, std::as_writable_bytes(std::span(part)));
    CHECK(part == std::vector<std::int32_t>(whole.begin() + 2, whole.begin() + 5));
}

TEST_CASE("pack: long runs, from and to any address, and nothing beside them") {
    const std::uint64_t elements = 200'000;
    std::vector<std::byte> from(elements + 100), to(elements + 200);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
    for (const std::size_t source : {0, 1, 33})
        for (const std::size_t target : {0, 5, 63, 64}) {
            std::ranges::fill(to, std::byte{99});
            const std::span<std::byte> wanted = std::span(to).subspan(target, elements - source);
            pack({{0}, {elements}}, {}, 1, from.data(), source, wanted);
            CHECK(std::memcmp(wanted.data(), from.data() + source, wanted.size()) == 0);
            const auto rest = std::span(to).subspan(target + wanted.size());
            CHECK(std::ranges::count(rest, std::byte{99}) ==
                  static_cast<std::ptrdiff_t>(rest.size()));
            CHECK(std::ranges::count(std::span(to).first(target), std::byte{99}) ==
                  static_cast<std::ptrdiff_t>(target));
        }
}

TEST_CASE("slots: a gap, free again with the credit of their line, in order") {
    constexpr std::uint64_t some = 40'001, whole = 40'064;
    Slots slots(2 * whole);
    CHECK(!slots.room(Slots::least_bytes - 1));
    CHECK(!slots.room(2 * whole + 1));
    CHECK(!Slots(0).room(some));
    const Slots::Line first{0, 0}, second{1, 0};
    CHECK(slots.room(some) == 0);
    slots.take(first, some, 0);
    CHECK(slots.room(some) == whole);
    slots.take(second, some, whole);
    slots.take(first, 100, std::nullopt);
    slots.take(first, some, std::nullopt);
    CHECK(!slots.room(some));
    slots.free(first, some + 100);
    CHECK(slots.room(some) == 0);
    CHECK(!slots.room(some + 64));
    slots.free(second, some);
    CHECK(slots.room(2 * whole) == 0);
    slots.free(first, some);  // which was in no slot
    CHECK(slots.room(2 * whole) == 0);
}

TEST_CASE("slots: the smallest gap, so that small pieces leave room for large ones") {
    constexpr std::uint64_t small = Slots::least_bytes, large = 4 * small;
    Slots slots(std::uint64_t{1} << 30);
    std::uint64_t line = 0, end = 0;
    for (const std::uint64_t bytes : {large, small, large, small, large}) {
        CHECK(slots.room(bytes) == end);
        slots.take({line++, 0}, bytes, end);
        end += bytes;
    }
    slots.free({0, 0}, large);
    slots.free({3, 0}, small);
    CHECK(slots.room(small) == 2 * large + small);
    CHECK(slots.room(large) == 0);
    CHECK(slots.room(large + 64) == end);
}

TEST_CASE("buffers: what came back is used again, and given up before more is held than was used") {
    constexpr std::uint64_t kib = 1024;
    const Buffers buffers;
    auto one = buffers.take(1000 * kib);
    const std::byte* const place = one.get();
    auto copy = one;
    one.reset();
    CHECK(buffers.take(1000 * kib).get() != place);
    copy.reset();
    CHECK(buffers.take(900 * kib).get() == place);
    std::thread([last = buffers.take(800 * kib), &buffers] {
        CHECK(last.get() != nullptr);
    }).join();
    std::vector<Buffers::Memory> all;
    for (int i = 0; i < 3; ++i) all.push_back(buffers.take(500 * kib));
    CHECK(std::ranges::count(all, place, [](const auto& m) { return m.get(); }) == 1);
    Buffers::Memory longer;
    {
        const Buffers store;
        longer = store.take(100 * kib);
    }
    longer.reset();  // after its store
}

TEST_CASE("buffers: a small one does not cost a large one") {
    constexpr std::uint64_t kib = 1024;
    const Buffers buffers;
    auto large = buffers.take(20000 * kib);
    large[0] = std::byte{7};  // fresh memory is 0
    auto middle = buffers.take(300 * kib);
    auto least = buffers.take(100 * kib);
    large.reset();
    middle.reset();
    least.reset();
    const auto other = buffers.take(220 * kib);  // the middle one
    const auto more = buffers.take(80 * kib);    // the least
    const auto header = buffers.take(200);
    const auto next = buffers.take(70 * kib);
    CHECK(buffers.take(20000 * kib)[0] == std::byte{7});
    const auto beyond = buffers.take(10000 * kib);
    CHECK(buffers.take(20000 * kib)[0] == std::byte{0});
}

/// Pages of this process that are in memory, in bytes.
static std::uint64_t resident() {
    std::ifstream about("/proc/self/statm");
    std::uint64_t size = 0, pages = 0;
    about >> size >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("buffers: large ones go back to the system with their store") {
    constexpr std::uint64_t bytes = std::uint64_t{20} << 20;
    const std::uint64_t before = resident();
    std::vector<std::unique_ptr<std::byte[]>> later;  // above it, if it is in the heap
    for (int turn = 0; turn < 3; ++turn) {
        const Buffers store;
        const auto memory = store.take(bytes);
        std::fill_n(memory.get(), bytes, std::byte{1});
        later.push_back(std::make_unique<std::byte[]>(1000));
    }
    CHECK(resident() < before + bytes / 2);
}

TEST_CASE("slab: ragged blocks come to their place in any order") {
    const core::Extents dims{5, 7};
    std::vector<Box> blocks{{{0, 0}, {2, 3}}, {{0, 3}, {2, 4}}, {{2, 0}, {3, 1}},
                            {{2, 1}, {1, 6}}, {{3, 1}, {2, 6}}, {{5, 7}, {0, 0}}};
    std::mt19937 random(2);
    for (int turn = 0; turn < 20; ++turn) {
        std::shuffle(blocks.begin(), blocks.end(), random);
        Slab slab(dims, 4, "T");
        for (const Box& block : blocks) slab.place(block, bytes_of(packed(block, dims)));
        CHECK(slab.fill(std::as_bytes(std::span("abc"))) == 0);
        CHECK(holds_its_indices(slab, 35));
    }
    Slab scalar({}, 4, "t");
    scalar.place({}, bytes_of({0}));
    CHECK(holds_its_indices(scalar, 1));
}

TEST_CASE("slab: elements that nobody sent get the fill value") {
    Slab slab({2, 3}, 4, "T");
    slab.place({{0, 1}, {2, 1}}, bytes_of({7, 8}));
    const std::int32_t fill = -1;
    CHECK(slab.fill(std::as_bytes(std::span(&fill, 1))) == 4);
    const std::vector<std::int32_t> wanted{-1, 7, -1, -1, 8, -1};
    CHECK(std::memcmp(slab.data().data(), wanted.data(), 24) == 0);
}

TEST_CASE("slab: blocks outside, of other bytes, or over each other are errors that name it") {
    Slab slab({2, 3}, 4, "T");
    CHECK(error_of([&] {
              slab.place({{0, 2}, {2, 2}}, bytes_of(numbers(4)));
          }).find("T: the block [0:2, 2:4] lies outside of [0:2, 0:3]") == 0);
    CHECK(error_of([&] {
              slab.place({{0}, {2}}, bytes_of(numbers(2)));
          }).find("T: the block") == 0);
    CHECK(error_of([&] {
              slab.place({{0, 0}, {1, 3}}, bytes_of(numbers(2)));
          }).find("T: the block [0:1, 0:3] has 8 bytes instead of 12") == 0);
    slab.place({{0, 0}, {2, 2}}, bytes_of(numbers(4)));
    CHECK(error_of([&] {
              slab.place({{0, 1}, {2, 2}}, bytes_of(numbers(4)));
          }).find("T: blocks overlap: with [0:2, 1:3]") == 0);
    CHECK(error_of([] { Slab({~std::uint64_t{0}, 2}, 4, "huge"); }).find("huge: ") == 0);
}
