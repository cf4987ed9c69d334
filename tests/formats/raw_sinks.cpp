// SPDX-License-Identifier: Apache-2.0
// Every element of every raw format, on any number of ranks, checked by a reader of its own.
#include <fcntl.h>
#include <unistd.h>

#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Box;
using core::Extents;
using core::Scalar;

namespace {

constexpr std::uint64_t seed = 7;

/// Counted by rank 0; all ranks learn the number.
template <class T>
std::uint64_t wrong_everywhere(const std::string& path, std::size_t object) {
    const comm::Comm comm = world();
    std::uint64_t wrong = 0;
    comm.barrier();
    if (rank() == 0) wrong = wrong_elements<T>(path, object, seed);
    return comm.broadcast_value(wrong);
}

/// This rank's share of boxes that cover an object, with their memory.
struct Share {
    std::vector<std::vector<std::uint64_t>> memory;
    std::vector<core::Write> pieces;
};

core::MemLayout ghost_cells(const Box& box, std::size_t number) {
    core::MemLayout layout;
    for (std::size_t d = 0; d < box.rank(); ++d) {
        layout.dims.push_back(box.count[d] + number % 4 + d % 2);
        layout.offset.push_back((number + d) % (layout.dims[d] - box.count[d] + 1));
    }
    return layout;
}

/// Box b belongs to rank owner(b).
template <class Owner>
Share share_of(const Extents& dims, const std::vector<Box>& boxes, bool ghosts, Owner&& owner) {
    Share share;
    share.memory.reserve(boxes.size());
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        if (owner(b) != rank()) continue;
        const core::MemLayout layout =
            ghosts && b % 3 != 0 ? ghost_cells(boxes[b], b) : core::MemLayout{};
        share.memory.push_back(filled<std::uint64_t>(boxes[b], dims, layout, seed));
        share.pieces.push_back(piece(0, boxes[b], share.memory.back(), Scalar::u64, layout));
    }
    return share;
}

core::FileReport write_all(const std::string& path, const Variant& variant, const Extents& dims,
                           const Share& share) {
    core::Phases phases;
    const auto sink = formats::open_sink(world(), {path}, variant.options, phases);
    REQUIRE(sink->define(schema_of(dense("/data", Scalar::u64, dims))) ==
            std::vector<core::ObjectId>{0});
    sink->write(share.pieces);
    sink->complete(0);
    return sink->close(core::Outcome::publish);
}

int round_robin(std::size_t box) {
    return static_cast<int>(box % static_cast<std::size_t>(size()));
}

}  // namespace

TEST_SUITE("raw_sinks") {
    TAILRACE_MPI_TEST("random boxes write each element once") {
        const std::string folder = shared_folder();
        for (const Variant& plain : variants()) {
            for (std::uint64_t round = 0; round < 6; ++round) {
                Variant variant = plain;
                Dice dice(round * 31 + 5);
                Extents dims(dice.between(1, 4));
                for (std::uint64_t& n : dims) n = dice.between(1, 13);
                const auto boxes = random_tiling(dims, dice.between(1, 20), dice);
                Extents chunk;
                for (std::uint64_t n : dims) chunk.push_back(dice.between(1, n));
                if (round % 2 == 1 && has_chunks(variant)) set_chunk(variant, "/data", chunk);
                const std::string path =
                    folder + "/" + variant.name + "." + std::to_string(round) + ".raw";
                CAPTURE(path);
                const auto report =
                    write_all(path, variant, dims, share_of(dims, boxes, round >= 3, round_robin));
                CHECK(wrong_everywhere<std::uint64_t>(path, 0) == 0);
                CHECK(report.durable);
                CHECK(report.path == path);
                CHECK(report.bytes_logical == Box{{}, dims}.volume() * 8);
                CHECK(report.bytes_stored >= report.bytes_logical);
            }
        }
    }

    TAILRACE_MPI_TEST("one rank holds everything, the others nothing") {
        const std::string folder = shared_folder();
        const Extents dims{3, 5, 7};
        Dice dice(3);
        const auto boxes = random_tiling(dims, 9, dice);
        for (const Variant& variant : variants())
            for (int holder : {0, size() - 1}) {
                const std::string path =
                    folder + "/" + variant.name + "." + std::to_string(holder) + ".raw";
                CAPTURE(path);
                write_all(path, variant, dims,
                          share_of(dims, boxes, true, [&](std::size_t) { return holder; }));
                CHECK(wrong_everywhere<std::uint64_t>(path, 0) == 0);
            }
    }

    TAILRACE_MPI_TEST("steps, empty boxes and two objects of different types") {
        const std::string folder = shared_folder();
        const std::uint64_t steps = 4;
        const std::uint64_t ranks = static_cast<std::uint64_t>(size());
        const Extents slices{steps, 6 * ranks, 5};
        const Extents line{13 * ranks};
        for (Variant variant : variants()) {
            if (has_chunks(variant)) set_chunk(variant, "/group/slices", {1, 4, 5});
            const std::string path = folder + "/" + variant.name;
            CAPTURE(path);
            core::Phases phases;
            const auto sink = formats::open_sink(world(), {path}, variant.options, phases);
            core::Schema schema;
            schema.objects = {dense("/group/slices", Scalar::f32, slices),
                              dense("/bytes", Scalar::u8, line)};
            sink->define(schema);
            const std::uint64_t r = static_cast<std::uint64_t>(rank());
            for (std::uint64_t step = 0; step < steps; ++step) {
                const Box box{{step, 6 * r, 0}, {1, 6, 5}};
                const auto data = filled<float>(box, slices, {}, seed);
                const std::vector<core::Write> pieces{
                    piece(0, Box{{step, 0, 0}, {0, 6, 5}}, std::vector<float>{}, Scalar::f32),
                    piece(0, box, data, Scalar::f32)};
                sink->write(pieces);
                sink->complete(step);
            }
            const Box mine{{13 * r}, {13}};
            const auto bytes = filled<std::uint8_t>(mine, line, {}, seed);
            const std::vector<core::Write> last{piece(1, mine, bytes, Scalar::u8)};
            sink->write(last);
            sink->close(core::Outcome::publish);  // completes what is pending
            CHECK(wrong_everywhere<float>(path, 0) == 0);
            CHECK(wrong_everywhere<std::uint8_t>(path, 1) == 0);
        }
    }

    // Short runs of memory are packed before they are written, long ones go out as a vector; both
    // more than fit into one call.
    TAILRACE_MPI_TEST("large blocks out of memory with ghost cells") {
        const std::string folder = shared_folder();
        const std::uint64_t ranks = static_cast<std::uint64_t>(size());
        const std::uint64_t r = static_cast<std::uint64_t>(rank());
        for (const std::uint64_t row : {40, 520})
            for (Variant variant : variants()) {
                const Extents block{1, row == 40 ? 4500u : 1100u, row};
                const Extents dims{ranks, block[1], row};
                if (has_chunks(variant)) set_chunk(variant, "/data", block);
                const std::string path = folder + "/" + variant.name + std::to_string(row);
                CAPTURE(path);
                const Box mine{{r, 0, 0}, block};
                const core::MemLayout ghosts{{1, block[1] + 2, row + 3}, {0, 1, 2}};
                Share share;
                share.memory.push_back(filled<std::uint64_t>(mine, dims, ghosts, seed));
                share.pieces.push_back(piece(0, mine, share.memory[0], Scalar::u64, ghosts));
                write_all(path, variant, dims, share);
                core::Phases phases;
                const auto source = formats::open_source(world(), path, variant.options, phases);
                // Read by another rank, and without ghost cells.
                const Box other{{(r + 1) % ranks, 0, 0}, block};
                std::vector<std::uint64_t> back(block[1] * row);
                std::vector<core::Read> reads{
                    {0, other, reinterpret_cast<std::byte*>(back.data()), Scalar::u64, {}}};
                source->read(reads);
                CHECK(back == filled<std::uint64_t>(other, dims, {}, seed));
            }
    }

    TAILRACE_MPI_TEST("what nobody wrote reads as zero") {
        const std::string folder = shared_folder();
        for (const Variant& variant : variants()) {
            const std::string path = folder + "/" + variant.name;
            CAPTURE(path);
            const Extents dims{4, 4};
            const Share share =
                share_of(dims, {Box{{1, 1}, {2, 2}}}, false, [](std::size_t) { return 0; });
            write_all(path, variant, dims, share);
            if (rank() == 0) {
                const auto all = read_object<std::uint64_t>(path, 0);
                for (std::uint64_t k = 0; k < all.size(); ++k) {
                    const bool written = k / 4 >= 1 && k / 4 < 3 && k % 4 >= 1 && k % 4 < 3;
                    CHECK(all[k] == (written ? value_at(k, seed) : 0));
                }
            }
        }
    }

    TAILRACE_MPI_TEST("a reader on other boxes gets back what was written") {
        const std::string folder = shared_folder();
        const Extents dims{5, 9, 11};
        Dice dice(11);
        const auto boxes = random_tiling(dims, 10, dice);
        const auto others = random_tiling(dims, 14, dice);
        for (Variant variant : variants()) {
            if (has_chunks(variant)) set_chunk(variant, "/data", {2, 3, 11});
            const std::string path = folder + "/" + variant.name;
            CAPTURE(path);
            write_all(path, variant, dims, share_of(dims, boxes, false, round_robin));
            core::Phases phases;
            const auto source = formats::open_source(world(), path, variant.options, phases);
            REQUIRE(source->schema().objects.size() == 1);
            CHECK(source->schema().objects[0] == dense("/data", Scalar::u64, dims));
            Share share = share_of(dims, others, true, round_robin);
            auto expected = share.memory;
            std::vector<core::Read> reads;
            for (std::size_t p = 0; p < share.pieces.size(); ++p) {
                const core::Write& piece = share.pieces[p];
                // All but the box keeps its poison, and so must it after the read.
                auto& memory = share.memory[p];
                for (std::uint64_t& value : memory)
                    if (value != 0xdeadbeefdeadbeefULL) value = 1;
                reads.push_back({piece.object, piece.place,
                                 reinterpret_cast<std::byte*>(memory.data()), piece.type,
                                 piece.memory});
            }
            source->read(reads);
            CHECK(share.memory == expected);
        }
    }

    TAILRACE_MPI_TEST("the checker sees one changed byte") {
        const std::string folder = shared_folder();
        const Extents dims{6, 8};
        Dice dice(2);
        const auto boxes = random_tiling(dims, 5, dice);
        for (const Variant& variant : variants()) {
            const std::string path = folder + "/" + variant.name;
            CAPTURE(path);
            write_all(path, variant, dims, share_of(dims, boxes, false, round_robin));
            CHECK(wrong_everywhere<std::uint64_t>(path, 0) == 0);
            if (rank() == 0) {
                const std::string data = has_chunks(variant) ? path : path + ".00000";
                const int fd = ::open(data.c_str(), O_RDWR);
                unsigned char byte = 0;
                REQUIRE(::pread(fd, &byte, 1, 8 + 3) == 1);
                byte ^= 0x10;
                REQUIRE(::pwrite(fd, &byte, 1, 8 + 3) == 1);
                ::close(fd);
            }
            CHECK(wrong_everywhere<std::uint64_t>(path, 0) == 1);
        }
    }

    // ROMIO takes what stands before a colon for a file system.
    TAILRACE_MPI_TEST("names with a colon, a blank and letters beyond ASCII") {
        const std::string folder = shared_folder();
        for (const Variant& variant : variants())
            for (const std::string name : {"2026-11-20T10:43", "ufs:data", "a b", "Höhe", "-n"}) {
                const std::string path = folder + "/" + variant.name + "." + name;
                CAPTURE(path);
                const Extents dims{7};
                write_all(path, variant, dims,
                          share_of(dims, {Box{{0}, {3}}, Box{{3}, {4}}}, false, round_robin));
                CHECK(wrong_everywhere<std::uint64_t>(path, 0) == 0);
            }
    }

    TAILRACE_MPI_TEST("attributes of all kinds are in the description") {
        const std::string folder = shared_folder();
        for (const Variant& variant : variants()) {
            const std::string path = folder + "/" + variant.name;
            CAPTURE(path);
            core::Phases phases;
            const auto sink = formats::open_sink(world(), {path}, variant.options, phases);
            core::Schema schema = schema_of(dense("/data", Scalar::u64, {2}));
            schema.attributes = {
                {"/", "name", core::AttributeScalar(std::string("seism"))},
                {"/", "grid", core::AttributeArray(std::vector<std::uint64_t>{2, 2, 2})},
                {"/data", "scale", core::AttributeScalar(0.5)},
                {"/", "all", core::Compound{"/type", 16, {{"n", 0, core::AttributeScalar(3u)}}}}};
            sink->define(schema);
            core::Schema more;  // a later value takes the place of the first
            more.attributes = {{"/", "name", core::AttributeScalar(std::string("other"))}};
            sink->define(more);
            sink->close(core::Outcome::publish);
            if (rank() == 0) {
                const auto json = has_chunks(variant) ? RawFile(path).description()
                                                      : nlohmann::json::parse(slurp(path));
                const auto expected = nlohmann::json::parse(
                    R"([{"object": "/", "name": "name", "value": "other"},
                        {"object": "/", "name": "grid", "value": [2, 2, 2]},
                        {"object": "/data", "name": "scale", "value": 0.5},
                        {"object": "/", "name": "all", "value": {"n": 3}}])");
                CHECK(json.at("attributes") == expected);
            }
        }
    }

    // Offsets over 2^32 bytes and indices over 2^31 elements, in sparse files.
    TAILRACE_MPI_TEST("offsets beyond 2^31 elements and 2^32 bytes") {
        const std::string folder = shared_folder();
        const Extents dims{(std::uint64_t{1} << 31) + 4096};
        const std::uint64_t r = static_cast<std::uint64_t>(rank());
        for (Variant variant : variants())
            for (const bool chunked : {false, true}) {
                if (chunked && !has_chunks(variant)) continue;
                if (chunked) set_chunk(variant, "/data", {4096});
                const std::string path = folder + "/" + variant.name + (chunked ? ".chunked" : "");
                CAPTURE(path);
                core::Phases phases;
                const auto sink = formats::open_sink(world(), {path}, variant.options, phases);
                sink->define(schema_of(dense("/data", Scalar::u64, dims)));
                // Each rank writes at the end and across the 2^31st element.
                const std::vector<Box> boxes{{{(std::uint64_t{1} << 31) - 8 + 16 * r}, {16}},
                                             {{dims[0] - 16 * (r + 1)}, {16}}};
                const auto a = filled<std::uint64_t>(boxes[0], dims, {}, seed);
                const auto b = filled<std::uint64_t>(boxes[1], dims, {}, seed);
                const std::vector<core::Write> pieces{piece(0, boxes[0], a, Scalar::u64),
                                                      piece(0, boxes[1], b, Scalar::u64)};
                sink->write(pieces);
                sink->complete(0);
                const auto report = sink->close(core::Outcome::publish);
                CHECK(report.bytes_allocated < 64u << 20);
                core::Phases reading;
                const auto source = formats::open_source(world(), path, variant.options, reading);
                std::vector<std::uint64_t> back(32);
                std::vector<core::Read> reads{
                    {0, boxes[0], reinterpret_cast<std::byte*>(back.data()), Scalar::u64, {}},
                    {0, boxes[1], reinterpret_cast<std::byte*>(back.data() + 16), Scalar::u64, {}}};
                source->read(reads);
                CHECK(std::equal(a.begin(), a.end(), back.begin()));
                CHECK(std::equal(b.begin(), b.end(), back.begin() + 16));
                if (!has_chunks(variant)) continue;
                const RawFile file(path);
                CHECK(file.size() >= dims[0] * 8);
                const auto object = file.description().at("objects").at(0);
                for (const Box& box : boxes)
                    for (std::uint64_t k = 0; k < 16; ++k)
                        CHECK(file.u64(byte_of(object, {box.offset[0] + k}, 8)) ==
                              value_at(box.offset[0] + k, seed));
            }
    }
}
