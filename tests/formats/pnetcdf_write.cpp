// SPDX-License-Identifier: Apache-2.0
// Every element that is written through PnetCDF is in the file, at its place, whatever the way.
#include <doctest/doctest.h>

#include "pnetcdf_support.hpp"

using namespace pnetcdf_test;

namespace {

/// Primes, one cell, a scalar, every type.
std::vector<Object> all_objects() {
    return {dense("/a", Scalar::f64, {7, 5, 3}),    dense("/b", Scalar::i16, {11}),
            dense("/c", Scalar::f32, {2, 3, 5, 7}), dense("/scalar", Scalar::f64, {}),
            dense("/one", Scalar::u64, {1}),        dense("/d", Scalar::i8, {13, 2}),
            dense("/e", Scalar::u8, {17}),          dense("/f", Scalar::u16, {3, 3}),
            dense("/g", Scalar::i32, {4, 4}),       dense("/h", Scalar::u32, {5, 5}),
            dense("/i", Scalar::i64, {6, 2})};
}

std::vector<Object> classic_objects() {
    return {dense("/a", Scalar::f64, {7, 5, 3}), dense("/b", Scalar::i16, {11}),
            dense("/c", Scalar::f32, {2, 3, 5}), dense("/d", Scalar::i8, {13}),
            dense("/e", Scalar::i32, {4, 4})};
}

/// All boxes of all objects, dealt out at random; rank 0 gets none where there are others.
std::vector<std::vector<Piece>> dealt(const std::vector<Object>& objects, Dice& dice,
                                      std::uint64_t ways_to_convert) {
    std::vector<std::vector<Piece>> batches(2);
    for (core::ObjectId id = 0; id < objects.size(); ++id) {
        const Extents dims = objects[id].sizes();
        const std::vector<Box> boxes =
            dims.empty() ? std::vector<Box>{{}} : random_tiling(dims, 6, dice);
        for (const Box& box : boxes) {
            const std::uint64_t low = size() > 1 ? 1 : 0;
            const auto owner = dice.between(low, static_cast<std::uint64_t>(size()) - 1);
            const std::size_t batch = dice.between(0, 1);
            const std::uint64_t margin = dice.between(0, 2);
            const bool convert = dice.between(0, ways_to_convert) != 0;
            if (owner != static_cast<std::uint64_t>(rank())) continue;
            batches[batch].emplace_back(id, objects[id], box,
                                        convert ? Scalar::f64 : objects[id].type, id, margin);
        }
    }
    return batches;
}

core::FileReport write_all(const std::string& path, const Way& way,
                           const std::vector<Object>& objects, std::uint64_t seed,
                           std::uint64_t ways_to_convert = 0) {
    core::Phases phases;
    auto sink = open(path, way.options, phases);
    Schema schema;
    schema.objects = objects;
    CHECK(sink->define(schema).size() == objects.size());
    Dice dice(seed);
    const auto batches = dealt(objects, dice, ways_to_convert);
    for (const auto& batch : batches) sink->write(writes_of(batch));
    // What was posted may not have touched the memory of the caller.
    for (const auto& batch : batches)
        for (const Piece& piece : batch) {
            const Piece same(piece.write.object, objects[piece.write.object], piece.write.place,
                             piece.write.type, piece.write.object,
                             piece.write.memory.dims.empty() ? 0 : piece.write.memory.offset[0]);
            CHECK(same.memory == piece.memory);
        }
    sink->complete(0);
    return sink->close(Outcome::publish);
}

void check_all(const std::string& path, const std::vector<Object>& objects, int cdf) {
    on_rank_0([&] {
        const cdf::File file = cdf::read(path);
        CHECK(file.version == cdf);
        CHECK(file.variables.size() == objects.size());
        for (core::ObjectId id = 0; id < objects.size(); ++id) {
            CAPTURE(objects[id].path);
            const cdf::Variable& variable = file.variables.at(objects[id].path.substr(1));
            CHECK(variable.dims == objects[id].sizes());
            CHECK(wrong_values(variable, objects[id], id) == 0);
        }
    });
}

/// Reads all through the Source: other boxes on other ranks, in memory with a margin, as doubles.
void check_source(const std::string& path, const Way& way, const std::vector<Object>& objects) {
    core::Phases phases;
    auto source = pnetcdf::open_source(world(), path, way.options, phases);
    const Schema schema = source->schema();
    REQUIRE(schema.objects.size() == objects.size());
    Dice dice(4711);
    auto batches = dealt(objects, dice, 1);
    for (auto& batch : batches) {
        std::vector<core::Read> reads;
        std::vector<std::vector<std::byte>> memories;
        for (const Piece& piece : batch) {
            std::size_t id = 0;
            while (schema.objects[id].path != objects[piece.write.object].path) ++id;
            memories.emplace_back(piece.memory.size(), std::byte{0x5A});
            reads.push_back({static_cast<core::ObjectId>(id), piece.write.place,
                             memories.back().data(), piece.write.type, piece.write.memory});
        }
        source->read(reads);
        for (std::size_t i = 0; i < batch.size(); ++i) CHECK(memories[i] == batch[i].memory);
    }
}

}  // namespace

TEST_SUITE("pnetcdf_write") {
    TAILRACE_MPI_TEST("pieces of many objects, dealt at random, in every way") {
        std::uint64_t seed = 1;
        for (const Way& way : ways()) {
            CAPTURE(way.name);
            const std::string path = shared_folder() + "/a.nc";
            const auto report = write_all(path, way, all_objects(), ++seed);
            check_all(path, all_objects(), 5);
            check_source(path, way, all_objects());
            CHECK(report.durable);
            CHECK(report.settings.at("cdf") == "5");
            CHECK(report.bytes_logical == 2039);
            CHECK(report.bytes_stored == fs::file_size(path));
            CHECK(!report.mpi_io.empty());
            CHECK(report.hints_in_force.at("nc_in_place_swap") == "disable");
            CHECK(report.hints_in_force.contains("romio_ds_write") ==
                  report.mpi_io.starts_with("ROMIO"));  // OMPIO does not read it
            CHECK(left_in(fs::path(path).parent_path().string()) == Names{"a.nc"});
        }
    }

    TAILRACE_MPI_TEST("types in memory other than in the file, and every classic format") {
        std::uint64_t seed = 100;
        for (const int cdf : {1, 2, 5})
            for (Way way : ways()) {
                if (cdf == 5 && way.options.put == pnetcdf::Put::aggregated) continue;
                CAPTURE(way.name);
                CAPTURE(cdf);
                way.options.cdf = cdf;
                const std::string path = shared_folder() + "/a.nc";
                const auto report = write_all(path, way, classic_objects(), ++seed, 1);
                check_all(path, classic_objects(), cdf);
                CHECK(report.settings.at("cdf") == std::to_string(cdf));
            }
    }

    TAILRACE_MPI_TEST("records: as many as the writes reach, all variables the same") {
        for (const bool never_fill : {false, true})
            for (Way way : ways()) {
                CAPTURE(way.name);
                CAPTURE(never_fill);
                way.options.never_fill = never_fill;
                const std::string path = shared_folder() + "/r.nc";
                std::vector<Object> objects{dense("/r", Scalar::f32, {3, 5, 3}),
                                            dense("/filled", Scalar::f64, {3, 4}),
                                            dense("/fixed", Scalar::i32, {7})};
                for (const std::size_t i : {0U, 1U}) {
                    objects[i].kind = core::Kind::record;
                    objects[i].dims[0] = {i == 0 ? 0U : 2U, true};
                }
                objects[1].fill = {true, -1.5};
                core::Phases phases;
                auto sink = open(path, way.options, phases);
                Schema schema;
                schema.objects = objects;
                sink->define(schema);
                CHECK(sink->can().records);
                for (std::uint64_t step = 0; step < 3; ++step) {
                    Box box = my_rows({3, 5, 3}, 1);
                    box.offset[0] = step;
                    box.count[0] = 1;
                    Object whole = dense("/r", Scalar::f32, {3, 5, 3});
                    const std::vector<Piece> pieces{{0, whole, box, Scalar::f32, 0}};
                    sink->write(writes_of(pieces));
                    sink->complete(step);
                    if (step == 1) sink->sync(core::Durability::durable).wait();
                }
                const auto report = sink->close(Outcome::publish);
                CHECK(report.settings.at("records") == "3");
                on_rank_0([&] {
                    const cdf::File file = cdf::read(path);
                    CHECK(file.records == 3);
                    CHECK(file.variables.at("r").dimension_names[0] == "record");
                    CHECK(wrong_values(file.variables.at("r"), dense("/r", Scalar::f32, {3, 5, 3}),
                                       0) == 0);
                    const double expected = never_fill ? 0.0 : -1.5;
                    CHECK(file.variables.at("filled").values == std::vector<double>(12, expected));
                    CHECK(file.variables.at("fixed").values == std::vector<double>(7, 0.0));
                });
                auto source = pnetcdf::open_source(world(), path, way.options, phases);
                CHECK(source->schema().objects[0].kind == core::Kind::record);
                CHECK(source->schema().objects[0].dims[0].size == 3);
            }
    }

    TAILRACE_MPI_TEST("records that are declared and never written; a fill value; nothing at all") {
        const std::string path = shared_folder() + "/r.nc";
        Object record = dense("/r", Scalar::i16, {4, 3});
        record.dims[0].unlimited = true;
        Object filled = dense("/filled", Scalar::u8, {5});
        filled.fill = {true, 7};
        core::Phases phases;
        for (const int cdf : {1, 5}) {
            pnetcdf::Options options;
            options.cdf = cdf;
            filled.type = cdf == 1 ? Scalar::i8 : Scalar::u8;
            auto sink = open(path, options, phases);
            Schema schema;
            schema.objects = {filled, record};
            sink->define(schema);
            const auto report = sink->close(Outcome::publish);
            on_rank_0([&] {
                const cdf::File file = cdf::read(path);
                CHECK(file.records == 4);
                CHECK(file.variables.at("filled").values == std::vector<double>(5, 7.0));
                CHECK(file.variables.at("r").values == std::vector<double>(12, 0.0));
            });
            CHECK(report.settings.at("/filled fill") == "yes");
            CHECK(report.settings.at("/r fill") == "no");
        }
    }

    TAILRACE_MPI_TEST("definitions after data: what was written stays, also where it moves") {
        for (const std::uint64_t reserve : {std::uint64_t{0}, std::uint64_t{4096}})
            for (const Way& way : ways()) {
                CAPTURE(way.name);
                const std::string path = shared_folder() + "/d.nc";
                pnetcdf::Options options = way.options;
                options.header_reserve_bytes = reserve;
                core::Phases phases;
                auto sink = open(path, options, phases);
                const std::vector<Object> first{dense("/a", Scalar::f32, {size() * 5U, 3})};
                sink->define({first, {{"/", "text", std::string("one")}}});
                const std::vector<Piece> pieces{
                    {0, first[0], my_rows({size() * 5U, 3}), Scalar::f32, 3}};
                sink->write(writes_of(pieces));
                sink->complete(0);
                std::vector<Object> second;
                for (char c = 'b'; c < 'r'; ++c)
                    second.push_back(dense(std::string("/long_name_") + c, Scalar::f64, {3}));
                const auto ids = sink->define({second, {{"/a", "of_a", 2.5}}});
                CHECK(ids.front() == 1);
                std::vector<Piece> more;
                if (rank() == size() - 1)
                    for (std::size_t i = 0; i < second.size(); ++i)
                        more.emplace_back(ids[i], second[i], Box{{0}, {3}}, Scalar::f64, i);
                sink->write(writes_of(more));
                sink->complete(1);
                sink->close(Outcome::publish);
                on_rank_0([&] {
                    const cdf::File file = cdf::read(path);
                    CHECK(wrong_values(file.variables.at("a"), first[0], 3) == 0);
                    CHECK(file.variables.at("a").attributes.contains("of_a"));
                    CHECK(file.attributes.at("text") == "one");
                    for (std::size_t i = 0; i < second.size(); ++i)
                        CHECK(wrong_values(file.variables.at(second[i].path.substr(1)), second[i],
                                           i) == 0);
                });
            }
    }

    TAILRACE_MPI_TEST("more than 2^31 elements, in a dimension and in all") {
        constexpr std::uint64_t many = (std::uint64_t{1} << 31) + 11;
        for (const bool collective : {true, false}) {
            pnetcdf::Options options;
            options.collective = collective;
            const std::string path = shared_folder() + "/large.nc";
            core::Phases phases;
            auto sink = open(path, options, phases);
            Schema schema;
            schema.objects = {dense("/flat", Scalar::i8, {many}),
                              dense("/rows", Scalar::i8, {3, many / 2})};
            sink->define(schema);
            const std::int8_t values[] = {11, 22, 33};
            const bool last = rank() == size() - 1;
            std::vector<Write> writes;
            if (last) {
                writes.push_back({0,
                                  {{many - 3}, {3}},
                                  std::as_bytes(std::span(values)).data(),
                                  {},
                                  Scalar::i8});
                writes.push_back({1,
                                  {{2, many / 2 - 3}, {1, 3}},
                                  std::as_bytes(std::span(values)).data(),
                                  {},
                                  Scalar::i8});
            }
            sink->write(writes);
            sink->complete(0);
            sink->close(Outcome::publish);
            on_rank_0([&] {
                const cdf::File file = cdf::read(path, false);
                CHECK(file.variables.at("flat").dims == Extents{many});
                CHECK(file.bytes >= many + 3 * (many / 2));
            });
            std::int8_t found[6] = {};
            auto source = pnetcdf::open_source(world(), path, options, phases);
            std::vector<core::Read> reads;
            if (rank() == 0) {
                auto* memory = reinterpret_cast<std::byte*>(found);
                reads.push_back({0, {{many - 3}, {3}}, memory, Scalar::i8, {}});
                reads.push_back({1, {{2, many / 2 - 3}, {1, 3}}, memory + 3, Scalar::i8, {}});
            }
            source->read(reads);
            if (rank() == 0)
                CHECK(std::vector<int>(found, found + 6) ==
                      std::vector<int>{11, 22, 33, 11, 22, 33});
            source.reset();
            on_rank_0([&] { fs::remove(path); });
        }
    }
}
