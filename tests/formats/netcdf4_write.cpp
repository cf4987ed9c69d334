// SPDX-License-Identifier: Apache-2.0
// Pieces, records, types and groups through netCDF, read back by plain HDF5 and by the Source.
#include <algorithm>
#include <filesystem>

#include "netcdf4_support.hpp"

using namespace netcdf4_test;

namespace {

/// Every element of /chunked by another decomposition than it was written in.
void read_back(const comm::Comm& comm, const std::string& path, const netcdf4::Options& options,
               const Extents& dims) {
    core::Phases phases;
    auto source = netcdf4::open_source(comm, path, options, phases);
    const Schema schema = source->schema();
    REQUIRE(schema.objects.size() == 1);
    CHECK(schema.objects[0].path == "/chunked");
    CHECK(schema.objects[0].sizes() == dims);
    const Box mine = core::cut(dims, 3, static_cast<std::uint64_t>(comm.size()),
                               static_cast<std::uint64_t>(comm.rank()));
    // In the middle of a larger array in memory.
    Extents memory = mine.count;
    for (std::uint64_t& extent : memory) extent += 2;
    std::vector<float> data(static_cast<std::size_t>(core::Box{Extents(4), memory}.volume()),
                            -1.0F);
    core::Read read{
        0, mine, reinterpret_cast<std::byte*>(data.data()), Scalar::f32, {memory, {1, 1, 1, 1}}};
    source->read({&read, 1});
    const auto expected = fill(mine, dims);
    std::uint64_t wrong = 0, untouched = 0;
    core::for_each_run({{1, 1, 1, 1}, mine.count}, memory,
                       [&](std::uint64_t at, std::uint64_t in_box, std::uint64_t n) {
                           for (std::uint64_t i = 0; i < n; ++i)
                               if (data[at + i] != expected[in_box + i]) ++wrong;
                       });
    for (const float value : data) untouched += value == -1.0F ? 1 : 0;
    CHECK(wrong == 0);
    CHECK(untouched == data.size() - expected.size());
}

/// Boxes of one cell each, every rank another number of them; the last rank none at all.
std::vector<Box> cells_of(const comm::Comm& comm, const Extents& dims) {
    const auto ranks = static_cast<std::uint64_t>(std::max(comm.size() - 1, 1));
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    std::vector<Box> cells;
    for (std::uint64_t cell = 0; cell < Box{Extents(2), dims}.volume(); ++cell)
        if ((cell < 3 ? 0 : cell % ranks) == rank)
            cells.push_back({{cell / dims[1], cell % dims[1]}, {1, 1}});
    return cells;
}

}  // namespace

TAILRACE_MPI_TEST("netcdf4: steps of all ranks, contiguous and chunked, are read back") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    // Prime sizes; with 8 ranks some have no rows.
    const Extents dims{3, 7, 5, 11};
    for (netcdf4::Options options : both_modes())
        for (const bool chunks : {false, true}) {
            const std::string path =
                folder + "/" + (options.collective ? "c" : "i") + (chunks ? "c" : "n") + ".nc";
            if (chunks) options.chunks["/chunked"] = {1, 2, 5, 4};
            core::Phases phases;
            const auto report = write_steps(comm, path, options, dims, phases);
            CHECK(report.bytes_logical == 3 * 7 * 5 * 11 * 4);
            CHECK(report.bytes_stored >= report.bytes_logical);
            CHECK(report.durable);
            CHECK(report.data_mode.starts_with(options.collective ? "NC_COLLECTIVE"
                                                                  : "NC_INDEPENDENT"));
            on_rank_0(comm, [&] {
                const auto set = oracle::read(path, "/chunked");
                CHECK(set.dims == std::vector<hsize_t>{3, 7, 5, 11});
                CHECK(set.chunk.empty() == !chunks);
                CHECK(set.float32);
                CHECK(wrong_elements(set) == 0);
            });
            read_back(comm, path, options, dims);
        }
}

TAILRACE_MPI_TEST("netcdf4: many pieces, cells, memory layouts, types and groups") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const Extents dims{7, 5};
    const std::pair<const char*, Scalar> types[] = {
        {"/i8", Scalar::i8},     {"/u8", Scalar::u8},       {"/a/i16", Scalar::i16},
        {"/a/u16", Scalar::u16}, {"/a/b/i32", Scalar::i32}, {"/a/b/u32", Scalar::u32},
        {"/i64", Scalar::i64},   {"/u64", Scalar::u64},     {"/f64", Scalar::f64}};
    for (const netcdf4::Options& options : both_modes()) {
        const std::string path = folder + (options.collective ? "/c.nc" : "/i.nc");
        core::Phases phases;
        auto sink = netcdf4::open_sink(comm, target(path), options, phases);
        Schema schema;
        for (const auto& [name, type] : types) schema.objects.push_back(typed(name, type, dims));
        schema.objects.push_back(dense("/scalar", {}));
        const auto ids = sink->define(schema);
        // From memory of type f32, which netCDF converts; each cell in an array of its own.
        std::vector<float> memory(12, -1.0F);
        std::vector<std::vector<float>> cells;
        std::vector<Write> pieces;
        for (const core::ObjectId id : std::span(ids).first(9))
            for (const Box& cell : cells_of(comm, dims)) {
                memory[7] = value_at(cell.offset[0] * dims[1] + cell.offset[1]);
                cells.push_back(memory);
                pieces.push_back({id, cell, nullptr, {{3, 4}, {1, 3}}, Scalar::f32});
            }
        for (std::size_t i = 0; i < cells.size(); ++i) pieces[i].data = bytes(cells[i]);
        const std::vector<float> alone{42.0F};
        if (comm.rank() == 0) pieces.push_back({ids[9], {{}, {}}, bytes(alone), {}, Scalar::f32});
        sink->write(pieces);
        sink->complete(0);
        // Later definitions join; a batch without any piece is allowed.
        const auto later = sink->define({{dense("/later", dims)}, {}});
        sink->write({});
        write_box(*sink, later[0], comm.rank() == 0 ? Box{{0, 0}, dims} : Box{{0, 0}, {0, 0}},
                  dims);
        (void)sink->close(Outcome::publish);
        on_rank_0(comm, [&] {
            for (const auto& [name, type] : types)
                CHECK_MESSAGE(wrong_elements(oracle::read(path, name)) == 0, name);
            CHECK(wrong_elements(oracle::read(path, "/later")) == 0);
            CHECK(oracle::read(path, "/scalar").values == std::vector<double>{42});
        });
    }
}

TAILRACE_MPI_TEST("netcdf4: records grow, step by step and out of order") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    for (const netcdf4::Options& options : both_modes()) {
        const std::string path = folder + (options.collective ? "/c.nc" : "/i.nc");
        core::Phases phases;
        auto sink = netcdf4::open_sink(comm, target(path), options, phases);
        CHECK(sink->can().records);
        Object record = dense("/r", {0, ranks, 3});
        record.kind = core::Kind::record;
        Object begun = dense("/begun", {2, ranks});
        begun.dims[0].unlimited = true;
        begun.fill = {true, 9};
        const auto ids = sink->define({{record, begun}, {}});
        // The last rank is a step ahead: who writes nothing takes part in the growth.
        for (std::uint64_t step = 0; step < 4; ++step) {
            const std::uint64_t at = rank + 1 == ranks ? 3 - step : step;
            const Box box{{at, rank, 0}, {1, 1, 3}};
            const auto data = fill(box, {4, ranks, 3});
            const std::vector<Write> pieces{{ids[0], box, bytes(data), {}, Scalar::f32}};
            sink->write(rank == 1 && step == 2 ? std::span<const Write>() : pieces);
            sink->complete(step);
            if (step == 1) sink->sync(core::Durability::flushed).wait();
        }
        const Box missed{{2, rank, 0}, {1, 1, 3}};
        const auto data = fill(missed, {4, ranks, 3});
        const Write piece{ids[0], missed, bytes(data), {}, Scalar::f32};
        sink->write(rank == 1 ? std::span(&piece, 1) : std::span<const Write>());
        sink->complete(4);
        (void)sink->close(Outcome::publish);
        on_rank_0(comm, [&] {
            const auto set = oracle::read(path, "/r");
            CHECK(set.dims == std::vector<hsize_t>{4, ranks, 3});
            CHECK(set.limits[0] == H5S_UNLIMITED);
            CHECK(wrong_elements(set) == 0);
            const auto untouched = oracle::read(path, "/begun");
            CHECK(untouched.dims == std::vector<hsize_t>{2, ranks});
            CHECK(untouched.values == std::vector<double>(2 * ranks, 9));
        });
    }
}

TAILRACE_MPI_TEST("netcdf4: a call that is refused leaves the file good, and nothing behind") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    const std::string path = folder + "/f.nc";
    using core::Code;
    core::Phases phases;
    const auto open = [&](const netcdf4::Options& options) {
        return netcdf4::open_sink(comm, target(path), options, phases);
    };
    netcdf4::Options bad;
    bad.collective = true;
    bad.filters = {{59999, "", {}}};
    TAILRACE_CHECK_ALL_THROW(Code::unsupported, open(bad));
    netcdf4::Options different;
    different.never_fill = comm.rank() == 0 && comm.size() > 1;
    if (comm.size() > 1) TAILRACE_CHECK_ALL_THROW(Code::rank_mismatch, open(different));
    netcdf4::Options classic;
    classic.model = formats::netcdf4::DataModel::classic;
    {
        auto sink = open(classic);
        TAILRACE_CHECK_ALL_THROW(Code::bad_input,
                                 sink->define({{typed("/u", Scalar::u64, {4})}, {}}));
        TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->define({{dense("/g/x", {4})}, {}}));
    }
    auto sink = open({});
    TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->define({{dense("/-x", {4})}, {}}));
    TAILRACE_CHECK_ALL_THROW(Code::bad_input, sink->define({{dense("/x", {0, 4})}, {}}));
    TAILRACE_CHECK_ALL_THROW(Code::bad_input,
                             sink->define({{dense("/x", {4}), dense("/x/y", {4})}, {}}));
    TAILRACE_CHECK_ALL_THROW(
        Code::bad_input,
        sink->define({{dense("/x", {4})}, {{"/x", "_NCProperties", std::string("no")}}}));
    if (comm.size() > 1)
        TAILRACE_CHECK_ALL_THROW(
            Code::rank_mismatch,
            sink->define({{dense("/x", {comm.rank() == 0 ? std::uint64_t{4} : 5})}, {}}));
    const auto ids = sink->define({{dense("/chunked", {1, 4})}, {}});
    const std::vector<float> data(8);
    const Write outside{ids[0], {{0, 2}, {1, 3}}, bytes(data), {}, Scalar::f32};
    const Write nothing{ids[0], {{0, 0}, {1, 1}}, nullptr, {}, Scalar::f32};
    const Write unknown{7, {{0, 0}, {1, 1}}, bytes(data), {}, Scalar::f32};
    // On one rank alone: all hear of it.
    const auto one_rank = [&](const Write& piece) {
        return comm.rank() + 1 == comm.size() ? std::span(&piece, 1) : std::span<const Write>();
    };
    TAILRACE_CHECK_ALL_THROW_NAMING(Code::bad_input, path, sink->write(one_rank(outside)));
    TAILRACE_CHECK_ALL_THROW_NAMING(Code::bad_input, path, sink->write(one_rank(nothing)));
    TAILRACE_CHECK_ALL_THROW_NAMING(Code::wrong_call, path, sink->write(one_rank(unknown)));
    write_box(*sink, ids[0], comm.rank() == 0 ? Box{{0, 0}, {1, 4}} : Box{{0, 0}, {0, 0}}, {1, 4});
    (void)sink->close(Outcome::publish);
    TAILRACE_CHECK_ALL_THROW(Code::wrong_call, sink->write({}));
    on_rank_0(comm, [&] { CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0); });
    {
        const auto dropped = open({});
        (void)dropped->define({{dense("/other", {4})}, {}});
    }
    // The older file is there, and no other.
    on_rank_0(comm, [&] {
        CHECK(oracle::read(path, "/chunked").found);
        const auto files = std::filesystem::directory_iterator(folder);
        CHECK(std::distance(begin(files), end(files)) == 1);
    });
}
