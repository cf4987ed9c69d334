// SPDX-License-Identifier: Apache-2.0
// What the tests of format netcdf4 share; the files are read by plain HDF5 (hdf5_oracle.hpp).
#pragma once

#include "formats/netcdf4/open.hpp"
#include "hdf5_support.hpp"
#include "hooks/posix/observer.hpp"

namespace netcdf4_test {

using namespace hdf5_test;
namespace netcdf4 = tailrace::formats::netcdf4;

/// System calls are counted, so that who wrote is known and errors are held.
inline const bool counted = [] {
    hooks::posix::install();
    return true;
}();

inline Object typed(const std::string& path, Scalar type, const Extents& dims) {
    Object object = dense(path, dims);
    object.type = type;
    return object;
}

/// Writes /chunked of `dims` (first dimension: steps), each rank its part along dimension 1.
inline core::FileReport write_steps(const comm::Comm& comm, const std::string& path,
                                    const netcdf4::Options& options, const Extents& dims,
                                    core::Phases& phases,
                                    std::vector<core::Attribute> attributes = {}) {
    auto sink = netcdf4::open_sink(comm, target(path), options, phases);
    const auto ids = sink->define({{dense("/chunked", dims)}, std::move(attributes)});
    for (std::uint64_t step = 0; step < dims[0]; ++step)
        write_box(*sink, ids[0], my_part(comm, dims, step), dims);
    return sink->close(Outcome::publish);
}

/// The options of both kinds of transfer.
inline std::vector<netcdf4::Options> both_modes() {
    netcdf4::Options together;
    together.collective = true;
    return {netcdf4::Options{}, together};
}

/// Runs on rank 0 while the others wait.  [collective]
template <class Work>
void on_rank_0(const comm::Comm& comm, Work&& work) {
    comm.barrier();
    if (comm.rank() == 0) work();
    comm.barrier();
}

}  // namespace netcdf4_test
