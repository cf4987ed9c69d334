// SPDX-License-Identifier: Apache-2.0
// Each option is looked for in the file, by serial HDF5 calls, and in the report.
#include <filesystem>

#include "hdf5_support.hpp"

using namespace hdf5_test;

namespace {

const Extents dims{2, 16, 6, 5};

/// Superblock version of a file; -1 where it cannot be opened.
int superblock_version(const std::string& path) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5F_info2_t info{};
    if (file < 0 || H5Fget_info2(file, &info) < 0) return -1;
    H5Fclose(file);
    return static_cast<int>(info.super.version);
}

}  // namespace

TAILRACE_MPI_TEST("hdf5: fill time and allocation time are in the file") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    const std::pair<hdf5::FillTime, H5D_fill_time_t> fills[] = {
        {hdf5::FillTime::if_set, H5D_FILL_TIME_IFSET},
        {hdf5::FillTime::never, H5D_FILL_TIME_NEVER},
        {hdf5::FillTime::at_allocation, H5D_FILL_TIME_ALLOC}};
    const std::pair<hdf5::AllocTime, H5D_alloc_time_t> allocations[] = {
        {hdf5::AllocTime::early, H5D_ALLOC_TIME_EARLY},
        {hdf5::AllocTime::late, H5D_ALLOC_TIME_LATE},
        {hdf5::AllocTime::incremental, H5D_ALLOC_TIME_INCR}};
    for (std::size_t i = 0; i < 3; ++i) {
        auto options = chunked(dims, true);
        options.fill_time = fills[i].first;
        options.alloc_time = allocations[i].first;
        // HDF5 makes every unfiltered dataset of a file with the MPI driver "early".
        options.precreate = true;
        const std::string path = folder + "/" + std::to_string(i) + ".h5";
        const auto report = write_steps(comm, path, options, dims, phases);
        CHECK(report.settings.at("layout") == "chunked");
        CHECK(report.settings.at("chunk") == "1x2x6x5");
        CHECK(report.settings.at("filters") == "none");
        CHECK(report.settings.at("driver") == "mpio");
        if (comm.rank() == 0) {
            const auto set = oracle::read(path, "/chunked");
            CHECK(set.fill_time == fills[i].second);
            CHECK(set.alloc_time == allocations[i].second);
            CHECK(wrong_elements(set) == 0);
        }
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: the format bounds decide the superblock") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    const std::tuple<std::string, std::string, int> bounds[] = {
        {"v110", "v110", 3}, {"earliest", "v110", 0}, {"v18", "v18", 2}, {"latest", "latest", 3}};
    for (const auto& [low, high, version] : bounds) {
        auto options = chunked(dims, true);
        options.libver_low = low;
        options.libver_high = high;
        const std::string path = folder + "/" + low + high + ".h5";
        const auto report = write_steps(comm, path, options, dims, phases);
        if (comm.rank() == 0) {
            CHECK(superblock_version(path) >= version);
            if (high != "latest") CHECK(superblock_version(path) == version);
            CHECK(report.settings.at("superblock_version") ==
                  std::to_string(superblock_version(path)));
            CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
        }
        if (high != "latest") {
            CHECK(report.settings.at("libver_low") == low);
            CHECK(report.settings.at("libver_high") == high);
        }
        comm.barrier();
    }
}

TAILRACE_MPI_TEST("hdf5: alignment moves datasets, the metadata block size is taken") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    hdf5::Options options;
    options.alignment_bytes = 65536;
    options.alignment_threshold_bytes = 1000;
    options.metadata_block_bytes = 8192;
    const auto report = write_steps(comm, path, options, dims, phases);
    CHECK(report.settings.at("alignment_bytes") == "65536");
    CHECK(report.settings.at("alignment_threshold_bytes") == "1000");
    CHECK(report.settings.at("metadata_block_bytes") == "8192");
    if (comm.rank() == 0) {
        const auto set = oracle::read(path, "/chunked");
        CHECK(set.offset % 65536 == 0);
        CHECK(set.offset != 0);
        CHECK(wrong_elements(set) == 0);
    }
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: deflate compresses, in collective writes") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const auto alloc : {hdf5::AllocTime::early, hdf5::AllocTime::library_default}) {
        for (const bool precreate : {false, true}) {
            core::Phases phases;
            auto options = chunked(dims, true);
            options.deflate = 6;
            options.alloc_time = alloc;
            options.precreate = precreate;
            const std::string path = folder + "/" + std::to_string(static_cast<int>(alloc)) +
                                     (precreate ? "p.h5" : "a.h5");
            const auto report = write_steps(comm, path, options, dims, phases);
            CHECK(report.data_collective == std::optional(true));
            if (comm.rank() == 0) {
                const auto set = oracle::read(path, "/chunked");
                REQUIRE(set.filters == std::vector<int>{H5Z_FILTER_DEFLATE});
                CHECK(set.first_filter_values == std::vector<unsigned>{6});
                CHECK(set.storage_bytes < 2 * 16 * 6 * 5 * 4);
                CHECK(set.storage_bytes > 0);
                CHECK(report.settings.at("filters") == "deflate 6");
                CHECK(wrong_elements(set) == 0);
            }
            comm.barrier();
        }
    }
}

TAILRACE_MPI_TEST("hdf5: a filter by its number, with parameters") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string path = test::shared_folder() + "/a.h5";
    core::Phases phases;
    auto options = chunked(dims, true);
    options.filters = {{H5Z_FILTER_SHUFFLE, "2", {}}, {H5Z_FILTER_FLETCHER32, "3", {}}};
    const auto report = write_steps(comm, path, options, dims, phases);
    if (comm.rank() == 0) {
        const auto set = oracle::read(path, "/chunked");
        CHECK(set.filters == std::vector<int>{H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32});
        CHECK(wrong_elements(set) == 0);
    }
    comm.barrier();
}

TAILRACE_MPI_TEST("hdf5: reserved space is set aside, and given back") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    for (const bool precreate : {false, true}) {
        core::Phases phases;
        auto options = chunked(dims, true);
        options.precreate = precreate;
        const std::string path = folder + (precreate ? "/p.h5" : "/a.h5");
        auto one = target(path);
        one.reserve_bytes = 1 << 20;
        auto sink = hdf5::open_sink(comm, one, options, phases);
        const auto ids = sink->define({{dense("/chunked", dims)}, {}});
        for (std::uint64_t step = 0; step < dims[0]; ++step)
            write_box(*sink, ids[0], my_part(comm, dims, step), dims);
        (void)sink->sync(core::Durability::durable);
        const auto report = sink->close(Outcome::publish);
        CHECK(report.reserved);
        CHECK(report.bytes_stored < 100000);
        CHECK(report.bytes_allocated < 200000);
        if (comm.rank() == 0) CHECK(wrong_elements(oracle::read(path, "/chunked")) == 0);
        comm.barrier();
    }
}
