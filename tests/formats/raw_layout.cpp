// SPDX-License-Identifier: Apache-2.0
// Where elements lie, runs, and the texts of the raw container: no MPI.
#include "formats/raw/layout.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "core/error.hpp"
#include "formats/raw/description.hpp"

using namespace tailrace;
using core::Box;
using core::Code;
using core::Extents;
using core::Scalar;
using namespace formats::raw;

namespace {

core::Object object(const std::string& path, Scalar type, const Extents& dims) {
    core::Object object;
    object.path = path;
    object.type = type;
    for (std::uint64_t n : dims) object.dims.push_back({n, false});
    return object;
}

Placed placed(const Extents& dims, const Extents& chunk, std::uint64_t alignment = 1) {
    formats::Chunks chunks;
    if (!chunk.empty()) chunks["/x"] = chunk;
    Layout layout(chunks, alignment);
    const core::Object one = object("/x", Scalar::u16, dims);
    layout.add(std::span(&one, 1));
    return layout.objects()[0];
}

/// By the rule of the specification, element by element.
std::uint64_t byte_by_the_book(const Placed& object, const Extents& at) {
    std::uint64_t number = 0, inside = 0, volume = 1;
    for (std::size_t d = 0; d < at.size(); ++d) {
        const std::uint64_t extent = object.chunk.empty() ? object.dims[d] : object.chunk[d];
        number = number * ((object.dims[d] + extent - 1) / extent) + at[d] / extent;
        inside = inside * extent + at[d] % extent;
        volume *= extent;
    }
    return object.offset + (number * volume + inside) * 2;
}

template <class Work>
Code code_of(Work&& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.code();
    }
    return Code::internal;  // nothing was thrown
}

}  // namespace

TEST_SUITE("layout") {
    TEST_CASE("runs cover each element of a box once, in the right place") {
        std::mt19937_64 engine(4);
        const auto between = [&](std::uint64_t low, std::uint64_t high) {
            return std::uniform_int_distribution<std::uint64_t>(low, high)(engine);
        };
        for (int round = 0; round < 300; ++round) {
            const std::size_t rank = between(0, 4);
            Extents dims(rank), chunk(rank);
            Box box{Extents(rank), Extents(rank)};
            core::MemLayout memory;
            for (std::size_t d = 0; d < rank; ++d) {
                dims[d] = between(1, 7);
                chunk[d] = between(1, dims[d]);
                box.count[d] = between(1, dims[d]);
                box.offset[d] = between(0, dims[d] - box.count[d]);
                memory.dims.push_back(box.count[d] + between(0, 2));
                memory.offset.push_back(between(0, memory.dims[d] - box.count[d]));
            }
            if (round % 3 == 0) memory = {};
            const Placed where = placed(dims, round % 2 ? chunk : Extents{});
            const MemoryArray array(box, memory);
            std::map<std::uint64_t, std::uint64_t> found;  // byte in memory -> byte in the file
            std::uint64_t last_end = 0;
            for_each_piece_run(where, box, memory,
                               [&](std::uint64_t file, std::uint64_t mem, std::uint64_t bytes) {
                                   REQUIRE(bytes % 2 == 0);
                                   CHECK(file >= last_end);  // ascending
                                   last_end = file + bytes;
                                   for (std::uint64_t b = 0; b < bytes; b += 2)
                                       CHECK(found.emplace(mem + b, file + b).second);
                               });
            CHECK(found.size() == box.volume());
            Extents at(rank), place(rank);
            for (std::uint64_t k = 0; k < box.volume(); ++k) {
                const Extents step = core::grid_position(k, box.count);
                for (std::size_t d = 0; d < rank; ++d) {
                    at[d] = box.offset[d] + step[d];
                    place[d] = array.offset[d] + step[d];
                }
                const std::uint64_t mem = core::linear_index(place, array.dims) * 2;
                REQUIRE(found.contains(mem));
                CHECK(found[mem] == byte_by_the_book(where, at));
            }
            std::uint64_t blocks = 0;
            for_each_block(where, box, [&](const Block&) { ++blocks; });
            CHECK(blocks == count_blocks(where, box));
        }
    }

    TEST_CASE("a whole chunk and a whole contiguous object are one run") {
        for (const Extents& chunk : {Extents{}, Extents{2, 3, 4}}) {
            const Placed where = placed({4, 3, 4}, chunk);
            int runs = 0;
            for_each_piece_run(where, Box{{2, 0, 0}, {2, 3, 4}}, {},
                               [&](std::uint64_t file, std::uint64_t mem, std::uint64_t bytes) {
                                   ++runs;
                                   CHECK(file == 48);
                                   CHECK(mem == 0);
                                   CHECK(bytes == 48);
                               });
            CHECK(runs == 1);
        }
    }

    TEST_CASE("objects are aligned and chunks padded") {
        formats::Chunks chunks{{"/b", {4}}};
        Layout layout(chunks, 4096);
        const std::vector<core::Object> objects{object("/a", Scalar::u8, {1}),
                                                object("/b", Scalar::f64, {5}),
                                                object("/c", Scalar::f32, {0, 3})};
        CHECK(layout.add(objects) == std::vector<core::ObjectId>{0, 1, 2});
        CHECK(layout.objects()[0].bytes == 1);
        CHECK(layout.objects()[1].offset == 4096);
        CHECK(layout.objects()[1].bytes == 64);  // two chunks of four
        CHECK(layout.objects()[2].offset == 8192);
        CHECK(layout.objects()[2].bytes == 0);
        CHECK(layout.data_end() == 8192);
        const core::Object more = object("/d", Scalar::u8, {7});
        CHECK(layout.add(std::span(&more, 1)) == std::vector<core::ObjectId>{3});
        CHECK(layout.objects()[3].offset == 8192);
    }

    TEST_CASE("what cannot be placed changes nothing") {
        formats::Chunks chunks{{"/b", {0}}, {"/c", {1, 1}}, {"/d", {9}}};
        Layout layout(chunks, 1);
        const auto add = [&](core::Object one) {
            return code_of([&] { layout.add(std::span(&one, 1)); });
        };
        CHECK(add(object("/b", Scalar::u8, {4})) == Code::bad_input);
        CHECK(add(object("/c", Scalar::u8, {4})) == Code::bad_input);
        CHECK(add(object("/d", Scalar::u8, {8})) == Code::bad_input);
        CHECK(add(object("a", Scalar::u8, {4})) == Code::bad_input);
        CHECK(add(object("/", Scalar::u8, {4})) == Code::bad_input);
        CHECK(add(object("/e", Scalar::u64, {std::uint64_t{1} << 60, 1})) == Code::bad_input);
        CHECK(add(object("/e", Scalar::u8, {std::uint64_t{1} << 32, std::uint64_t{1} << 32})) ==
              Code::bad_input);
        core::Object record = object("/r", Scalar::u8, {4});
        record.kind = core::Kind::record;
        CHECK(add(record) == Code::unsupported);
        CHECK(layout.objects().empty());
        CHECK(add(object("/a", Scalar::u8, {4})) == Code::internal);
        CHECK(add(object("/a", Scalar::u8, {4})) == Code::bad_input);  // twice
        CHECK(layout.data_end() == 4);
    }
}

TEST_SUITE("description") {
    TEST_CASE("what was described is read back") {
        formats::Chunks chunks{{"/b", {2, 2}}};
        Layout layout(chunks, 64);
        const std::vector<core::Object> objects{object("/a\"quoted\"", Scalar::i8, {3}),
                                                object("/b", Scalar::f64, {5, 3}),
                                                object("/scalar", Scalar::f32, {})};
        layout.add(objects);
        const Contents shared = parse_contents(describe_shared(layout.objects(), {}), "f");
        CHECK_FALSE(shared.per_rank);
        REQUIRE(shared.objects.size() == 3);
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(shared.objects[k].object == objects[k]);
            CHECK(shared.objects[k].offset == layout.objects()[k].offset);
            CHECK(shared.objects[k].chunk == layout.objects()[k].chunk);
        }
        const Contents manifest =
            parse_contents(describe_manifest(layout.objects(), {}, {"f.00000"}), "f");
        CHECK(manifest.per_rank);
        CHECK(manifest.parts == std::vector<std::string>{"f.00000"});
        const std::vector<StoredPiece> pieces{{1, Box{{1, 0}, {2, 3}}, 17}};
        const auto back = parse_part(describe_part(4, pieces), layout.objects(), "f");
        REQUIRE(back.size() == 1);
        CHECK(back[0].object == 1);
        CHECK(back[0].place == pieces[0].place);
        CHECK(back[0].at == 17);
    }

    TEST_CASE("damaged texts are an error, not a crash") {
        const std::vector<std::string> texts{
            "",
            "{",
            "[]",
            "{}",
            "null",
            R"({"format": "tailrace-raw/9"})",
            R"({"format": "tailrace-raw/1", "kind": "other", "objects": []})",
            R"({"format": "tailrace-raw/1", "kind": "shared", "objects": [{"path": 3}]})",
            R"({"format": "tailrace-raw/1", "kind": "shared", "objects": [{"path": "/a",
                "type": "f32", "dims": [4], "chunk": [0], "offset": 0, "bytes": 16}]})",
            R"({"format": "tailrace-raw/1", "kind": "shared", "objects": [{"path": "/a",
                "type": "f32", "dims": [4], "chunk": null, "offset": 0, "bytes": 17}]})"};
        for (const std::string& text : texts) {
            CAPTURE(text);
            const Code code = code_of([&] { (void)parse_contents(text, "f"); });
            CHECK((code == Code::io || code == Code::bad_input));
        }
    }

    TEST_CASE("numbers that JSON cannot hold, and texts that are not UTF-8") {
        const std::vector<core::Attribute> attributes{
            {"/", "nan", core::AttributeScalar(std::numeric_limits<double>::quiet_NaN())},
            {"/", "inf", core::AttributeScalar(-std::numeric_limits<double>::infinity())},
            {"/", "narrow", core::AttributeScalar(std::numeric_limits<float>::infinity())},
            {"/", "bytes", core::AttributeScalar(std::string("a\xff"))},
            {"/", "big", core::AttributeScalar(std::numeric_limits<std::uint64_t>::max())}};
        const std::string text = describe_shared({}, attributes);
        CHECK(text.find("\"nan\"") != std::string::npos);
        CHECK(text.find("\"-inf\"") != std::string::npos);
        CHECK(text.find("\"inf\"") != std::string::npos);
        CHECK(text.find("18446744073709551615") != std::string::npos);
        CHECK(parse_contents(text, "f").objects.empty());
    }

    TEST_CASE("names of parts have at least five digits") {
        CHECK(part_name("f.raw", 7) == "f.raw.00007");
        CHECK(part_name("f.raw", 1234567) == "f.raw.1234567");
    }
}
