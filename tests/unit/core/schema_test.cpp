// SPDX-License-Identifier: Apache-2.0
#include "core/schema.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/error.hpp"

using namespace tailrace::core;

namespace {

Schema sample() {
    Schema schema;
    schema.objects.push_back({"/chunked", Scalar::f32, {{5}, {4}, {4}, {4}}, Kind::dense, {}});
    schema.objects.push_back({"/other", Scalar::f64, {{0, true}, {3}}, Kind::record, {true, 1.5}});
    schema.attributes.push_back({"/", "kernel", AttributeScalar{std::string("seism")}});
    schema.attributes.push_back(
        {"/", "processor", AttributeArray{std::vector<std::uint64_t>{2, 2, 2}}});
    Compound compound{"/type", 16, {{"a", 0, AttributeScalar{std::uint64_t{1}}}}};
    compound.members.push_back({"b", 8, AttributeArray{std::vector<double>{1, 2}}});
    schema.attributes.push_back({"/", "all", compound});
    return schema;
}

}  // namespace

TEST_CASE("element types have sizes and names that come back") {
    std::uint64_t sum = 0;
    for (int k = 0; k <= static_cast<int>(Scalar::f64); ++k) {
        const auto type = static_cast<Scalar>(k);
        CHECK(scalar_of(name(type)) == type);
        sum += size_of(type);
    }
    CHECK(sum == 2 * (1 + 2 + 4 + 8) + 4 + 8);
    CHECK_THROWS_WITH_AS((void)scalar_of("f16"), doctest::Contains("\"f16\""), Error);
}

TEST_CASE("C++ numbers have their element type, fill values all digits") {
    CHECK(scalar_of_number<std::int8_t>() == Scalar::i8);
    CHECK(scalar_of_number<std::uint16_t>() == Scalar::u16);
    CHECK(scalar_of_number<std::int64_t>() == Scalar::i64);
    CHECK(scalar_of_number<float>() == Scalar::f32);
    CHECK(scalar_of_number<double>() == Scalar::f64);
    const Fill fill{true, (std::int64_t{1} << 53) + 1};
    CHECK(fill.as<std::int64_t>() == (std::int64_t{1} << 53) + 1);
    CHECK(fill.text() == "9007199254740993");
    CHECK(Fill{true, 2.5}.as<float>() == 2.5F);
    CHECK(fill != Fill{true, 9007199254740992.0});
}

TEST_CASE("bytes of an object, and one that does not fit 64 bits") {
    Object object = sample().objects[0];
    CHECK(object.sizes() == Extents{5, 4, 4, 4});
    CHECK(object.bytes() == 5 * 64 * 4);
    object.dims = {{1ULL << 40}, {1ULL << 30}};
    CHECK_THROWS_WITH_AS((void)object.bytes(), doctest::Contains("/chunked"), Error);
}

TEST_CASE("equal schemas have equal hashes, every difference another one") {
    CHECK(sample().hash() == sample().hash());
    std::set<std::uint64_t> hashes{sample().hash()};
    const auto differs = [&](auto&& change) {
        Schema changed = sample();
        change(changed);
        return hashes.insert(changed.hash()).second;
    };
    CHECK(differs([](Schema& s) { s.objects[0].path = "/chunkee"; }));
    CHECK(differs([](Schema& s) { s.objects[0].type = Scalar::i32; }));
    CHECK(differs([](Schema& s) { s.objects[0].dims[0].size = 6; }));
    CHECK(differs([](Schema& s) { s.objects[0].dims[0].unlimited = true; }));
    CHECK(differs([](Schema& s) { s.objects[0].kind = Kind::bytes; }));
    CHECK(differs([](Schema& s) { s.objects[0].fill = {true, 0}; }));
    CHECK(differs([](Schema& s) { s.objects[1].fill.value = 2; }));
    CHECK(differs([](Schema& s) { s.attributes[0].value = AttributeScalar{1.0F}; }));
    CHECK(differs([](Schema& s) { std::swap(s.objects[0], s.objects[1]); }));
    CHECK(differs([](Schema& s) { s.attributes[0].name = "kernal"; }));
    CHECK(differs([](Schema& s) { s.attributes[0].object = "/other"; }));
    CHECK(differs([](Schema& s) { s.attributes[0].value = AttributeScalar{std::int32_t{4}}; }));
    CHECK(differs([](Schema& s) {
        s.attributes[1].value = AttributeArray{std::vector<std::uint64_t>{2, 2, 1}};
    }));
    CHECK(differs([](Schema& s) {
        s.attributes[1].value = AttributeArray{std::vector<std::int64_t>{2, 2, 2}};
    }));
    CHECK(differs([](Schema& s) { std::get<Compound>(s.attributes[2].value).size = 24; }));
    CHECK(differs(
        [](Schema& s) { std::get<Compound>(s.attributes[2].value).members[1].offset = 12; }));
}
