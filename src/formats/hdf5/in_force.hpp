// SPDX-License-Identifier: Apache-2.0
// Options as they are in force: read back from HDF5, MPI-IO and the file, never from the request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "formats/hdf5/h5.hpp"
#include "formats/hdf5/properties.hpp"

namespace tailrace::formats::hdf5 {

/// What is known of an open file.
struct InForce {
    std::map<std::string, std::string> settings;
    std::map<std::string, std::string> hints;  ///< MPI_File_get_info
    std::string mpi_io;                        ///< implementation; empty where no MPI-IO
    std::uint64_t stored_bytes = 0;            ///< of all datasets, as HDF5 counts, with filters
};

/// Driver, format bounds, alignment and MPI-IO hints of an open file.  [local]
[[nodiscard]] InForce look(const h5::Id& file, const Options& options, Driver driver);

/// "subfiles" and "subfile_stripe_bytes" of a file that was created: from the configuration that
/// the subfiling driver writes.  [local]
[[nodiscard]] std::map<std::string, std::string> subfiling_in_force(
    const std::filesystem::path& path);

/// Layout, chunk, filters, fill and allocation time of a dataset.  [local]
/// @param only the file has no other: the keys then go without its path
void look_at_dataset(const h5::Id& file, const std::string& path, bool only,
                     std::map<std::string, std::string>& settings);

}  // namespace tailrace::formats::hdf5
