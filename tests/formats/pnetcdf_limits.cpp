// SPDX-License-Identifier: Apache-2.0
// What the classic formats can hold is known without a library and without a file; pieces are cut
// and packed right.
#include <doctest/doctest.h>

#include <numeric>
#include <optional>

#include "core/error.hpp"
#include "formats/open.hpp"
#include "formats/sink/pieces.hpp"

using namespace tailrace;
using core::Box;
using core::Code;
using core::Extents;
using core::Object;
using core::Scalar;

namespace {

Object object(const std::string& path, Scalar type, const Extents& dims, bool record = false) {
    Object one;
    one.path = path;
    one.type = type;
    for (const std::uint64_t size : dims) one.dims.push_back({size, false});
    if (record) one.dims[0].unlimited = true;
    return one;
}

std::optional<core::Error> refusal(int cdf, const core::Schema& schema) {
    formats::pnetcdf::Options options;
    options.cdf = cdf;
    try {
        formats::check_schema(options, schema);
    } catch (const core::Error& error) {
        return error;
    }
    return std::nullopt;
}
std::optional<core::Error> refusal(int cdf, const std::vector<Object>& objects) {
    core::Schema schema;
    schema.objects = objects;
    return refusal(cdf, schema);
}
std::optional<core::Error> refusal(int cdf, core::AttributeScalar value) {
    core::Schema schema;
    schema.attributes = {{"/", "a", std::move(value)}};
    return refusal(cdf, schema);
}

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

}  // namespace

TEST_SUITE("pnetcdf_limits") {
    TEST_CASE("types of 64 bits and without a sign are CDF-5's") {
        for (const Scalar type : {Scalar::u8, Scalar::u16, Scalar::u32, Scalar::i64, Scalar::u64}) {
            for (const int cdf : {1, 2}) {
                const auto error = refusal(cdf, {object("/d", type, {3})});
                REQUIRE(error);
                CHECK(error->code() == Code::bad_input);
                CHECK(error->where() == "/d");
                CHECK(error->remedy().find("cdf 5") != std::string::npos);
            }
            CHECK(!refusal(5, {object("/d", type, {3})}));
        }
        for (const Scalar type : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::f32, Scalar::f64})
            for (const int cdf : {1, 2, 5}) CHECK(!refusal(cdf, {object("/d", type, {3})}));
    }

    TEST_CASE("a variable over 2 GiB or 4 GiB is the last one, or not at all") {
        const Object small = object("/small", Scalar::i8, {4});
        const Object three = object("/three", Scalar::i8, {3, gib});
        const Object five = object("/five", Scalar::i8, {5, gib});
        CHECK(!refusal(1, {small, three}));
        CHECK(!refusal(2, {small, five}));
        for (const auto& [cdf, objects] :
             {std::pair{1, std::vector{three, small}}, std::pair{2, std::vector{five, small}},
              std::pair{1, std::vector{three, five}}, std::pair{2, std::vector{five, five}},
              std::pair{2, std::vector{five, object("/r", Scalar::i8, {0, 4}, true)}},
              std::pair{2, std::vector{object("/r", Scalar::i8, {0, 5, gib}, true),
                                       object("/s", Scalar::i8, {0, 4}, true)}}}) {
            auto named = objects;
            if (named[1].path == named[0].path) named[1].path = "/again";
            const auto error = refusal(cdf, named);
            REQUIRE(error);
            CHECK(error->code() == Code::bad_input);
            CHECK(error->where() == named[0].path);
            CHECK(error->remedy().find("cdf 5") != std::string::npos);
            CHECK(!refusal(5, named));
        }
        CHECK(!refusal(2, {three, small}));
        CHECK(!refusal(2, {object("/s", Scalar::i8, {0, 4}, true),
                           object("/r", Scalar::i8, {0, 5, gib}, true)}));
    }

    TEST_CASE("in CDF-1 nothing begins behind 2 GiB") {
        const Object half = object("/half", Scalar::i8, {gib});
        Object other = half, third = half;
        other.path = "/other";
        third.path = "/third";
        CHECK(!refusal(1, {half, other}));
        const auto error = refusal(1, {half, other, third});
        REQUIRE(error);
        CHECK(error->where() == "/third");
        CHECK(error->remedy().find("cdf 2") != std::string::npos);
        CHECK(refusal(1, {half, other, object("/r", Scalar::i8, {0, 4}, true)}));
        CHECK(!refusal(2, {half, other, third}));
    }

    TEST_CASE("dimensions: long, empty, growing") {
        const std::uint64_t many = std::uint64_t{1} << 31;
        CHECK(refusal(2, {object("/d", Scalar::i8, {many})}));
        CHECK(!refusal(5, {object("/d", Scalar::i8, {many})}));
        CHECK(refusal(5, {object("/d", Scalar::f32, {3, 0})})->code() == Code::unsupported);
        Object second = object("/d", Scalar::f32, {3, 3});
        second.dims[1].unlimited = true;
        CHECK(refusal(5, {second})->code() == Code::unsupported);
        CHECK(!refusal(5, {object("/d", Scalar::f32, {})}));
        CHECK(refusal(5, {object("/d", Scalar::f64, {many, many, many})}));
    }

    TEST_CASE("names and paths") {
        for (const char* good : {"/d", "/4th", "/_x", "/d.e-f:g", "/\xC3\xA4"})
            CHECK(!refusal(5, {object(good, Scalar::f32, {1})}));
        for (const char* bad : {"/", "d", "/a/b", "/ d", "/-d", "/d ", "/d\n"})
            CHECK(refusal(5, {object(bad, Scalar::f32, {1})}));
        CHECK(refusal(5, {object("/" + std::string(300, 'x'), Scalar::f32, {1})}));
        CHECK(refusal(5, {object("/d", Scalar::f32, {1}), object("/d", Scalar::f32, {1})}));
    }

    TEST_CASE("attributes and fill values") {
        CHECK(!refusal(1, core::AttributeScalar(std::uint64_t{1} << 53)));
        CHECK(refusal(1, core::AttributeScalar((std::uint64_t{1} << 53) + 1)));
        CHECK(refusal(2, core::AttributeScalar(-(std::int64_t{1} << 53) - 1)));
        CHECK(!refusal(5, core::AttributeScalar(~std::uint64_t{0})));
        core::Schema schema;
        schema.attributes = {{"/nobody", "a", core::AttributeScalar(1.0)}};
        CHECK(refusal(5, schema)->where() == "/nobody@a");
        Object filled = object("/d", Scalar::i8, {3});
        for (const auto& [value, fits] : {std::pair{-128.0, true}, std::pair{127.0, true},
                                          std::pair{128.0, false}, std::pair{0.5, false}}) {
            filled.fill = {true, value};
            CHECK(refusal(5, {filled}).has_value() != fits);
        }
        filled.type = Scalar::u64;
        filled.fill = {true, 18446744073709551616.0};
        CHECK(refusal(5, {filled}));
    }

    TEST_CASE("other formats are not asked") {
        core::Schema schema;
        schema.objects = {object("/a/b", Scalar::u64, {0})};
        CHECK_NOTHROW(formats::check_schema(formats::hdf5::Options{}, schema));
        CHECK_NOTHROW(formats::check_schema(formats::mpiio::Options{}, schema));
    }

    TEST_CASE("cut: parts in order, each small enough, together the whole") {
        const Box box{{2, 3, 4}, {3, 5, 7}};
        for (const std::uint64_t most : {1U, 2U, 6U, 7U, 13U, 35U, 36U, 104U, 105U, 1000U}) {
            const auto parts = formats::cut_box(box, most);
            std::vector<std::uint64_t> seen;
            for (const Box& part : parts) {
                CHECK(part.volume() <= most);
                core::for_each_run(part, Extents{10, 10, 20}, [&](auto at, auto, auto n) {
                    for (std::uint64_t i = 0; i < n; ++i) seen.push_back(at + i);
                });
            }
            std::vector<std::uint64_t> whole;
            core::for_each_run(box, Extents{10, 10, 20}, [&](auto at, auto, auto n) {
                for (std::uint64_t i = 0; i < n; ++i) whole.push_back(at + i);
            });
            CHECK(seen == whole);
        }
        CHECK(formats::cut_box({}, 1).size() == 1);
    }

    TEST_CASE("memory: what is contiguous, and packing both ways") {
        const core::MemLayout layout{{4, 5, 6}, {1, 0, 0}};
        const Box whole{{10, 20, 30}, {2, 5, 6}};
        CHECK(formats::PartInMemory(whole, whole, layout).contiguous());
        CHECK(formats::PartInMemory(whole, whole, {}).contiguous());
        const Box plane{{10, 21, 30}, {1, 3, 6}}, line{{11, 24, 31}, {1, 1, 4}};
        CHECK(formats::PartInMemory(whole, plane, layout).contiguous());
        CHECK(formats::PartInMemory(whole, line, layout).contiguous());
        CHECK(formats::PartInMemory(whole, line, layout).first_element() == 2 * 30 + 4 * 6 + 1);
        const Box ragged{{10, 20, 31}, {2, 2, 3}}, two{{10, 21, 30}, {2, 3, 6}};
        CHECK(!formats::PartInMemory(whole, ragged, layout).contiguous());
        CHECK(!formats::PartInMemory(whole, two, layout).contiguous());
        std::vector<std::uint16_t> memory(4 * 5 * 6), packed(12), back(memory.size(), 0);
        std::iota(memory.begin(), memory.end(), std::uint16_t{0});
        const formats::PartInMemory part(whole, ragged, layout);
        part.pack(reinterpret_cast<const std::byte*>(memory.data()), 2,
                  reinterpret_cast<std::byte*>(packed.data()));
        CHECK(packed == std::vector<std::uint16_t>{31, 32, 33, 37, 38, 39, 61, 62, 63, 67, 68, 69});
        part.unpack(reinterpret_cast<const std::byte*>(packed.data()), 2,
                    reinterpret_cast<std::byte*>(back.data()));
        for (std::size_t i = 0; i < back.size(); ++i) CHECK((back[i] == memory[i] || back[i] == 0));
        CHECK(std::count(back.begin(), back.end(), std::uint16_t{0}) == 108);
    }
}
