// SPDX-License-Identifier: Apache-2.0
// Metadata by name: edits, what is refused, hashes, bytes, the Schema.
#include "server/metadata/metadata.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "core/error.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.what();
    }
    return "no error";
}

Variable temperature() {
    Variable one;
    one.name = "T";
    one.dimensions = {"time", "lat", "lon"};
    one.attributes = {{"units", "K"}, {"valid_range", std::vector<float>{0, 400}}};
    one.fill = 1e15;
    one.storage = {{1, 4, 8}, true, 1, 3, Quantize::granular_bit_round, 4};
    return one;
}

Variable latitude() {
    Variable one;
    one.name = "lat";
    one.type = Element::real64;
    one.dimensions = {"lat"};
    one.constant.resize(4 * sizeof(double));
    return one;
}

FileMetadata history() {
    FileMetadata all;
    all.add_dimension("time", 0);
    all.add_dimension("lat", 4);
    all.add_dimension("lon", 8);
    Variable time;
    time.name = "time";
    time.type = Element::int64;
    time.dimensions = {"time"};
    time.attributes = {{"units", "hours since 2000-01-01"}};
    all.add(time);
    all.add(latitude());
    all.add(temperature());
    all.set_attribute("", {"title", "a test"});
    return all;
}

/// What adding T with one change says.
std::string refused(const std::function<void(Variable&)>& change) {
    FileMetadata all = history();
    const std::uint64_t before = all.hash();
    Variable one = temperature();
    one.name = "T2";
    change(one);
    const std::string text = error_of([&] { all.add(one); });
    CHECK((all.hash() == before) == (text != "no error"));
    return text;
}

bool has(const std::string& text, const std::string& words) {
    INFO(text);
    return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("metadata: variables and attributes are added, changed and taken away by name") {
    FileMetadata all = history();
    const std::uint64_t before = all.hash();
    CHECK(all.index_of("T") == 2);
    Variable changed = temperature();
    changed.type = Element::real64;
    all.modify(changed);
    CHECK(all.variables()[2].type == Element::real64);
    CHECK(all.hash() != before);
    all.modify(temperature());
    CHECK(all.hash() == before);
    all.set_attribute("time", {"units", "hours since 2000-01-02"});
    CHECK(all.variables()[0].attributes.size() == 1);
    CHECK(all.hash() != before);
    all.set_attribute("time", {"units", "hours since 2000-01-01"});
    CHECK(all.hash() == before);
    all.set_attribute("T", {"cell_methods", "time: mean"});
    all.remove_attribute("T", "cell_methods");
    all.set_attribute("", {"history", std::vector<std::int16_t>{1, 2}});
    all.remove_attribute("", "history");
    CHECK(all.hash() == before);
    all.remove("T");
    CHECK(all.variables().size() == 2);
    FileMetadata other;
    other.replace(all);
    CHECK(other.hash() == all.hash());
}

TEST_CASE("metadata: names that are not there, with the nearest one") {
    FileMetadata all = history();
    CHECK(has(error_of([&] { all.remove("tmie"); }),
              "there is no variable \"tmie\". Did you mean \"time\"?"));
    CHECK(has(error_of([&] { all.set_attribute("X", {"units", "m"}); }), "no variable \"X\""));
    CHECK(has(error_of([&] { all.remove_attribute("T", "unit"); }),
              "variable T: there is no attribute \"unit\". Did you mean \"units\"?"));
    CHECK(has(error_of([&] { all.remove_attribute("", "titel"); }), "file: there is no attribute"));
    CHECK(has(error_of([&] { all.modify(Variable{.name = "U"}); }), "there is no variable \"U\""));
    CHECK(has(refused([](Variable& one) { one.dimensions[1] = "latt"; }),
              "variable T2: there is no dimension \"latt\". Did you mean \"lat\"?"));
}

TEST_CASE("metadata: nothing changes once data of a file were put, until the next file") {
    FileMetadata all = history();
    all.freeze("a.nc");
    CHECK(all.frozen());
    for (const std::function<void()>& edit : std::vector<std::function<void()>>{
             [&] { all.add_dimension("lev", 3); }, [&] { all.add(Variable{.name = "U"}); },
             [&] { all.modify(temperature()); }, [&] { all.remove("T"); },
             [&] {
                 all.set_attribute("", {"title", "another"});
             },
             [&] { all.remove_attribute("T", "units"); }, [&] { all.replace(history()); }})
        CHECK(has(error_of(edit), "a.nc: metadata cannot change any more"));
    CHECK(all.hash() == history().hash());
    all.thaw();
    all.remove("T");
    FileMetadata frozen = history();
    frozen.freeze("b.nc");
    all.replace(frozen);
    CHECK(!all.frozen());
}

TEST_CASE("metadata: dimensions") {
    FileMetadata all = history();
    CHECK(has(error_of([&] { all.add_dimension("lat", 4); }), "dimension lat: there is one"));
    CHECK(has(error_of([&] { all.add_dimension("member", 0); }),
              "dimension member: \"time\" is unlimited already"));
    CHECK(has(error_of([&] { all.add_dimension("a/b", 2); }), "\"a/b\" cannot be a name"));
    CHECK(has(refused([](Variable& one) {
                  one.dimensions = {"lat", "time"};
              }),
              "\"time\" is unlimited and not the first dimension"));
    CHECK(all.record_extents(all.variables()[2]) == core::Extents{4, 8});
    CHECK(all.has_records(all.variables()[2]));
    CHECK(!all.has_records(all.variables()[1]));
    all.add_dimension("x", std::uint64_t{1} << 40);
    all.add_dimension("y", std::uint64_t{1} << 40);
    Variable huge;
    huge.name = "huge";
    huge.dimensions = {"x", "y"};
    CHECK(has(error_of([&] { all.add(huge); }), "variable huge: 1099511627776 x 1099511627776"));
}

TEST_CASE("metadata: names, attributes, fill values and constants that cannot be") {
    CHECK(has(refused([](Variable& one) { one.name = ""; }), "\"\" cannot be a name"));
    CHECK(has(refused([](Variable& one) { one.name = " T"; }), "cannot be a name"));
    CHECK(has(refused([](Variable& one) { one.name = std::string(257, 'x'); }), "at most 256"));
    CHECK(has(refused([](Variable& one) { one.name = "T"; }), "variable T: there is one"));
    CHECK(has(refused([](Variable& one) { one.attributes[1].name = "units"; }),
              "it has two attributes \"units\""));
    CHECK(has(refused([](Variable& one) {
                  one.attributes = {{"_FillValue", std::string("-1")}};
              }),
              "it is of type real32, and its fill value of type text"));
    CHECK(has(refused([](Variable& one) {
                  one.attributes = {{"_FillValue", std::vector<double>{1.0}}};
              }),
              "it is of type real32, and its fill value of type real64"));
    CHECK(has(refused([](Variable& one) {
                  one.attributes = {{"_FillValue", std::vector<float>{1.0F, 2.0F}}};
              }),
              "2 numbers are no fill value"));
    CHECK(has(refused([](Variable& one) { one.fill = std::int64_t{5}; }),
              "the fill value 5 is none of type real32"));
    const auto whole = [](Element type, std::int64_t value) {
        return refused([&](Variable& one) {
            one.type = type;
            one.storage.quantize = Quantize::none;
            one.fill = value;
        });
    };
    CHECK(has(whole(Element::int8, 128), "the fill value 128 is none of type int8"));
    CHECK(whole(Element::int8, -128) == "no error");
    CHECK(has(whole(Element::int16, 32768), "is none of type int16"));
    CHECK(has(whole(Element::int32, std::int64_t{1} << 31), "is none of type int32"));
    CHECK(whole(Element::int64, std::int64_t{1} << 62) == "no error");
    CHECK(has(refused([](Variable& one) { one.constant.resize(4); }),
              "the constant has 4 bytes, the variable records"));
    CHECK(has(error_of([] {
                  Variable one = latitude();
                  one.name = "lat2";
                  one.constant.resize(31);
                  history().add(one);
              }),
              "variable lat2: the constant has 31 bytes, the variable 32"));
}

TEST_CASE("metadata: storage that cannot be") {
    const auto says = [](const std::function<void(Storage&)>& change) {
        return refused([&](Variable& one) { change(one.storage); });
    };
    CHECK(says([](Storage&) {}) == "no error");
    CHECK(has(says([](Storage& one) { one.deflate = 10; }), "deflate has no level 10"));
    CHECK(has(says([](Storage& one) { one.zstd = 23; }), "zstd has no level 23"));
    CHECK(has(says([](Storage& one) { one.zstd = 0; }), "zstd has no level 0"));
    CHECK(
        has(says([](Storage& one) { one.digits = 8; }), "granularbr cannot keep 8 decimal digits"));
    CHECK(has(says([](Storage& one) { one.digits = 0; }), "give 1 to 7"));
    CHECK(has(says([](Storage& one) {
                  one.quantize = Quantize::bit_round;
                  one.digits = 24;
              }),
              "bitround cannot keep 24 bits of the mantissa"));
    CHECK(has(refused([](Variable& one) {
                  one.type = Element::int32;
                  one.fill.reset();
              }),
              "granularbr does not fit elements of type int32"));
    CHECK(has(says([](Storage& one) {
                  one.chunks = {4, 8};
              }),
              "it has 3 dimensions and 2 sizes of a chunk"));
    CHECK(has(says([](Storage& one) {
                  one.chunks = {1, 5, 8};
              }),
              "a chunk of 5 does not fit dimension \"lat\""));
    CHECK(has(says([](Storage& one) { one.chunks = {1, 0, 8}; }), "a chunk of 0"));
    CHECK(says([](Storage& one) { one.chunks = {99, 4, 8}; }) == "no error");
    CHECK(has(refused([](Variable& one) { one.dimensions.clear(); }),
              "a single number has no chunks and no filters"));
}

TEST_CASE("metadata: types by name") {
    for (const char* type : {"int8", "int16", "int32", "int64", "real32", "real64"})
        CHECK(name(element_of(type)) == type);
    CHECK(size_of(Element::int16) == 2);
    CHECK(has(error_of([] { static_cast<void>(element_of("real23")); }),
              "\"real23\" is no type of elements. Did you mean \"real32\"?"));
}

TEST_CASE("metadata: as bytes and back") {
    const FileMetadata all = history();
    const auto bytes = all.to_bytes();
    const FileMetadata back = FileMetadata::from_bytes(bytes);
    CHECK(back.hash() == all.hash());
    CHECK(back.variables()[2].storage.digits == 4);
    CHECK(back.variables()[2].storage.zstd == 3);
    CHECK(std::get<double>(*back.variables()[2].fill) == 1e15);
    CHECK(std::get<std::vector<float>>(back.variables()[2].attributes[1].value)[1] == 400);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(has(error_of([&] {
                      static_cast<void>(FileMetadata::from_bytes(std::span(bytes).first(size)));
                  }),
                  "arrived damaged"));
}

TEST_CASE("metadata: hashes tell every part, and are the same in every run") {
    const auto differs = [](const std::function<void(Variable&)>& change) {
        FileMetadata all = history();
        Variable one = temperature();
        change(one);
        all.modify(one);
        return all.hash() != history().hash();
    };
    CHECK(differs([](Variable& one) { one.fill = 1e16; }));
    CHECK(differs([](Variable& one) { one.fill.reset(); }));
    CHECK(differs([](Variable& one) { one.storage.shuffle = false; }));
    CHECK(differs([](Variable& one) { one.storage.quantize = Quantize::bit_groom; }));
    CHECK(differs([](Variable& one) { one.attributes[0].value = "C"; }));
    CHECK(!differs([](Variable&) {}));
    FileMetadata other = history();
    const Variable& one = other.variables()[2];
    CHECK(other.hash(one) == history().hash(temperature()));
    CHECK(other.hash(one) != other.hash(other.variables()[1]));
    Variable lossy = temperature();
    lossy.storage.deflate = 9;
    CHECK(other.hash(lossy) == other.hash(one));  // type and shape alone
    CHECK(FileMetadata().hash() == 1217199490736923424U);
}

TEST_CASE("metadata: the Schema that the formats store") {
    const core::Schema schema = history().schema();
    REQUIRE(schema.objects.size() == 3);
    const core::Object& time = schema.objects[0];
    CHECK(time.path == "/time");
    CHECK(time.type == core::Scalar::i64);
    CHECK(time.kind == core::Kind::record);
    CHECK(time.dims == std::vector<core::Extent>{{0, true}});
    const core::Object& t = schema.objects[2];
    CHECK(t.type == core::Scalar::f32);
    CHECK(t.dims == std::vector<core::Extent>{{0, true}, {4, false}, {8, false}});
    CHECK(t.axes == std::vector<std::string>{"time", "lat", "lon"});
    CHECK(t.fill == core::Fill{true, 1e15});
    CHECK(schema.objects[1].kind == core::Kind::dense);
    CHECK(!schema.objects[1].fill.set);
    REQUIRE(schema.attributes.size() == 4);
    CHECK(schema.attributes[0].object == "/");
    CHECK(schema.attributes[3].object == "/T");
    CHECK(schema.attributes[3].name == "valid_range");
    CHECK(std::get<std::vector<float>>(std::get<core::AttributeArray>(
              schema.attributes[3].value)) == std::vector<float>{0, 400});
    CHECK(std::get<std::string>(std::get<core::AttributeScalar>(schema.attributes[2].value)) ==
          "K");
    FileMetadata exact;
    Variable count;
    count.name = "count";
    count.type = Element::int64;
    count.fill = (std::int64_t{1} << 53) + 1;
    exact.add(count);
    exact.set_attribute("", {"narrow", std::vector<std::int8_t>{-1, 2}});
    exact.set_attribute("", {"one", std::vector<std::int16_t>{7}});
    const core::Schema stored = exact.schema();
    CHECK(stored.objects[0].fill == core::Fill{true, (std::int64_t{1} << 53) + 1});
    CHECK(std::get<std::vector<std::int8_t>>(std::get<core::AttributeArray>(
              stored.attributes[0].value)) == std::vector<std::int8_t>{-1, 2});
    CHECK(std::get<std::int16_t>(std::get<core::AttributeScalar>(stored.attributes[1].value)) == 7);
}
