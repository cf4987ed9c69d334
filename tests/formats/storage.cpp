// SPDX-License-Identifier: Apache-2.0
// Objects that are stored in a way of their own, in the place of all file-wide options: looked for
// in the file, by serial HDF5 calls, and in the report.
#include "netcdf4_support.hpp"

using namespace netcdf4_test;
using core::Code;
using formats::Quantize;
using formats::Storage;

namespace {

const Extents dims{4, 16};
const std::string paths[] = {"/wide", "/own", "/bare", "/chosen"};
const std::vector<int> shuffle_deflate{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};

/// File-wide deflate 5; /own has shuffle, deflate 3 and chunks, /bare nothing at all.
template <class Options>
Options with_storage(bool collective) {
    Options options;
    options.collective = collective;
    options.deflate = 5;
    options.chunks["/wide"] = options.chunks["/own"] = {4, 16};
    options.storage["/own"] = {.chunks = {1, 8}, .shuffle = true, .deflate = 3};
    options.storage["/bare"] = {};
    return options;
}

core::FileReport write_with(core::Sink& sink, const comm::Comm& comm, std::size_t count) {
    Schema schema;
    for (std::size_t i = 0; i < count; ++i) schema.objects.push_back(dense(paths[i], dims));
    const Box box = core::cut(dims, 1, static_cast<std::uint64_t>(comm.size()),
                              static_cast<std::uint64_t>(comm.rank()));
    for (const core::ObjectId id : sink.define(schema)) write_box(sink, id, box, dims);
    return sink.close(Outcome::publish);
}

void check_common(const std::string& path, const core::FileReport& report) {
    const auto wide = oracle::read(path, "/wide"), own = oracle::read(path, "/own");
    const auto bare = oracle::read(path, "/bare");
    CHECK(wide.filters == std::vector<int>{H5Z_FILTER_DEFLATE});
    CHECK(wide.first_filter_values == std::vector<unsigned>{5});
    CHECK(wide.chunk == std::vector<hsize_t>{4, 16});
    CHECK(own.filters == shuffle_deflate);
    CHECK(own.chunk == std::vector<hsize_t>{1, 8});
    CHECK(bare.filters.empty());
    CHECK(bare.chunk.empty());
    for (const auto& set : {wide, own, bare}) CHECK(wrong_elements(set) == 0);
    CHECK(report.settings.at("/wide filters") == "deflate 5");
    CHECK(report.settings.at("/own filters") == "shuffle 4, deflate 3");
    CHECK(report.settings.at("/own chunk") == "1x8");
    CHECK(report.settings.at("/bare filters") == "none");
    CHECK(report.settings.at("/bare layout") == "contiguous");
}

void check_netcdf4(const std::string& path, const core::FileReport& report) {
    check_common(path, report);
    const auto chosen = oracle::read(path, "/chosen");
    CHECK(!chosen.chunk.empty());
    CHECK(chosen.filters == std::vector<int>{H5Z_FILTER_DEFLATE});
    CHECK(chosen.first_filter_values == std::vector<unsigned>{1});
    // 1 + 3 * 63 = 190 = 1.484375 * 2^7: 3 bits of the mantissa leave 192.
    CHECK(chosen.values[63] == 192);
    CHECK(report.settings.at("/chosen quantize") == "bitround 3");
    CHECK(report.settings.at("/own quantize") == "none");
}

netcdf4::Options netcdf4_options(bool collective) {
    auto options = with_storage<netcdf4::Options>(collective);
    options.storage["/chosen"] = {.deflate = 1, .quantize = Quantize::bit_round, .digits = 3};
    return options;
}

template <class Options>
void refuse(const comm::Comm& comm, Code code, const std::string& says, const Options& options,
            auto&& open) {
    core::Phases phases;
    const auto define = [&] {
        auto sink = open(comm, target(test::shared_folder() + "/no"), options, phases);
        (void)sink->define({{dense("/own", dims)}, {}});
    };
    TAILRACE_CHECK_ALL_THROW(code, define());
    try {
        define();
    } catch (const core::Error& error) {
        CHECK_MESSAGE(std::string(error.what()).find(says) != std::string::npos, error.what());
    }
}

template <class Options>
Options own(const Storage& storage) {
    Options options;
    options.collective = true;
    options.storage["/own"] = storage;
    return options;
}

}  // namespace

TAILRACE_MPI_TEST("storage: of each object, written by all ranks") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    const auto h5 = write_with(
        *hdf5::open_sink(comm, target(folder + "/f.h5"), with_storage<hdf5::Options>(true), phases),
        comm, 3);
    const auto nc = write_with(
        *netcdf4::open_sink(comm, target(folder + "/f.nc"), netcdf4_options(true), phases), comm,
        4);
    on_rank_0(comm, [&] {
        check_common(folder + "/f.h5", h5);
        check_netcdf4(folder + "/f.nc", nc);
    });
}

TAILRACE_MPI_TEST("storage: of each object, written by each rank alone, without collective calls") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD), self = comm::from_mpi(MPI_COMM_SELF);
    const std::string name = test::shared_folder() + "/" + std::to_string(comm.rank());
    core::Phases phases;
    const auto h5 = write_with(
        *hdf5::open_sink(self, target(name + ".h5"), with_storage<hdf5::Options>(false), phases),
        self, 3);
    check_common(name + ".h5", h5);
    const auto nc = write_with(
        *netcdf4::open_sink(self, target(name + ".nc"), netcdf4_options(false), phases), self, 4);
    check_netcdf4(name + ".nc", nc);
}

TAILRACE_MPI_TEST("storage: that cannot be names its object") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const auto no_h5 = [&](Code code, const char* says, const hdf5::Options& options) {
        refuse(comm, code, says, options, [](auto&&... all) { return hdf5::open_sink(all...); });
    };
    const auto no_nc = [&](Code code, const char* says, const netcdf4::Options& options) {
        refuse(comm, code, says, options, [](auto&&... all) { return netcdf4::open_sink(all...); });
    };
    no_h5(Code::bad_input, "/own", own<hdf5::Options>({.deflate = 1}));  // no chunks
    no_h5(Code::bad_input, "/own", own<hdf5::Options>({.chunks = dims, .deflate = 10}));
    no_nc(Code::bad_input, "/own", own<netcdf4::Options>({.deflate = 10}));
    no_nc(Code::bad_input, "zstd has no level 23", own<netcdf4::Options>({.zstd = 23}));
    no_nc(Code::bad_input, "/own", own<netcdf4::Options>({.chunks = {1}}));
    const Storage lossy{.quantize = Quantize::bit_groom, .digits = 8};
    no_h5(Code::unsupported, "take format netcdf4", own<hdf5::Options>(lossy));
    no_nc(Code::bad_input, "8 decimal digits are not possible", own<netcdf4::Options>(lossy));
    // No test has the plugin in its path.
    no_h5(Code::unsupported, "/own, zstd", own<hdf5::Options>({.chunks = dims, .zstd = 3}));
    no_nc(Code::unsupported, "/own, zstd", own<netcdf4::Options>({.zstd = 3}));
    auto subfiles = own<hdf5::Options>({.chunks = dims});
    subfiles.subfiles = 1;
    CHECK_THROWS_AS(hdf5::check(subfiles, comm.size()), core::Error);
    if (comm.size() == 1) return;
    auto alone = own<netcdf4::Options>({.deflate = 1});
    alone.collective = false;
    no_nc(Code::bad_input, "collective_write", alone);
    auto alone_h5 = own<hdf5::Options>({.chunks = dims, .deflate = 1});
    alone_h5.collective = false;
    no_h5(Code::bad_input, "/own, deflate", alone_h5);
    no_nc(Code::rank_mismatch, "", own<netcdf4::Options>({.deflate = comm.rank() == 0 ? 1U : 2U}));
    no_h5(Code::rank_mismatch, "",
          own<hdf5::Options>({.chunks = dims, .deflate = comm.rank() == 0 ? 1U : 2U}));
}
