// SPDX-License-Identifier: Apache-2.0
// The run into which faults are injected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"
#include "formats/open.hpp"

namespace fault_test {

using namespace tailrace;
namespace formats = tailrace::formats;
namespace hdf5 = tailrace::formats::hdf5;

constexpr std::uint64_t rows = 16, columns = 4096;  // 256 KiB per step

struct Run {
    bool collective = false, precreate = false, fill = false;
    bool sync = true;         ///< after the first step
    std::uint64_t steps = 2;  ///< of two that are allocated
    bool netcdf4 = false;     ///< through netCDF instead of HDF5
    bool grows = false;       ///< netCDF: the steps are records, and metadata grows with them
    bool encode = false;      ///< chunks are encoded by the ranks
};

inline formats::Options options_of(const Run& run) {
    const formats::Chunks chunks{{"/d", {1, 2, columns}}};
    if (run.netcdf4) {
        formats::netcdf4::Options options;
        options.collective = run.collective;
        options.never_fill = !run.fill;
        options.unlimited = run.grows;
        options.chunks = chunks;
        return options;
    }
    hdf5::Options options;
    options.collective = run.collective;
    options.precreate = run.precreate;
    options.fill_time = run.fill ? hdf5::FillTime::at_allocation : hdf5::FillTime::never;
    options.chunks = chunks;
    options.encode_on_ranks = run.encode;
    options.deflate = run.encode ? 1 : 0;
    return options;
}

/// One object in two chunks per rank, two steps, a sync after the first.
inline core::FileReport write_file(const comm::Comm& comm, const std::string& path,
                                   const Run& run) {
    core::Phases phases;
    core::Target target;
    target.path = path;
    auto sink = formats::open_sink(comm, target, options_of(run), phases);
    core::Object object;
    object.path = "/d";
    object.dims = {{2, false}, {rows, false}, {columns, false}};
    const auto ids = sink->define({{object}, {{"/", "a", std::string("text")}}});
    const core::Extents dims{2, rows, columns};
    for (std::uint64_t step = 0; step < run.steps; ++step) {
        core::Box box = core::cut(dims, 1, static_cast<std::uint64_t>(comm.size()),
                                  static_cast<std::uint64_t>(comm.rank()));
        box.offset[0] = step;
        box.count[0] = 1;
        const std::vector<float> data(static_cast<std::size_t>(box.volume()), 1.5F);
        const core::Write piece{
            ids[0], box, reinterpret_cast<const std::byte*>(data.data()), {}, core::Scalar::f32};
        sink->write({&piece, 1});
        sink->complete(step);
        if (step == 0 && run.sync) sink->sync(core::Durability::durable).wait();
    }
    return sink->close(core::Outcome::publish);
}

}  // namespace fault_test
