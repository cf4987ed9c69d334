// SPDX-License-Identifier: Apache-2.0
// The Errors of formats that this build does not have.
#pragma once

#include <filesystem>

#include "core/error.hpp"

namespace tailrace::formats {

inline core::Error no_hdf5(const std::filesystem::path& path) {  ///< [local]
    return {core::Code::unsupported, "this build has no format hdf5: parallel HDF5 was not found",
            path.string(),
            "run `make setup` (it builds HDF5) and build again, or use format posix"};
}

inline core::Error no_netcdf(const std::filesystem::path& path) {  ///< [local]
    return {core::Code::unsupported,
            "this build has no format netcdf4: netCDF-C with parallel I/O was not found",
            path.string(),
            "run `make setup` (it builds netCDF-C) and build again, or use format hdf5"};
}

inline core::Error no_pnetcdf(const std::filesystem::path& path) {  ///< [local]
    return {core::Code::unsupported, "this build has no format pnetcdf: PnetCDF was not found",
            path.string(),
            "install PnetCDF (Debian: libpnetcdf-dev) and build again, or use format hdf5"};
}

inline core::Error no_mpi(const std::filesystem::path& path) {  ///< [local]
    return {core::Code::unsupported, "this build has no format mpiio: MPI was not found",
            path.string(), "install MPI and build again, or use format posix"};
}

}  // namespace tailrace::formats
