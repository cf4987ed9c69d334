// SPDX-License-Identifier: Apache-2.0
// From Options to the property lists of HDF5, and the checks that need no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "core/schema.hpp"
#include "formats/hdf5/h5.hpp"
#include "formats/mpiio/info.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::hdf5 {

/// How a file is opened. serial: by one process (rank 0, or no MPI). parallel: MPI-IO by all ranks
/// of the communicator. subfiling: as parallel, over several files.
enum class Driver { serial, parallel, subfiling };

/// Largest chunk of HDF5 in bytes (the format keeps its size in 32 bits).
inline constexpr std::uint64_t largest_chunk_bytes = 0xffffffff;

/// Refuses options that contradict each other, or that this build or this run cannot follow:
/// filters without collective writes, a filter whose plugin is missing, subfiling without
/// MPI_THREAD_MULTIPLE.  [local]
/// @throws core::Error{bad_input | unsupported}
void check_options(const Options& options, int ranks);

/// Refuses an object that HDF5 could not store as asked: an empty path, too many dimensions, a
/// chunk of another rank, larger than the object or than 4 GiB.  [local]
/// @throws core::Error{Code::bad_input}
void check_object(const Options& options, const core::Object& object);

/// The driver that all ranks together use.  [local]
[[nodiscard]] Driver shared_driver(const Options& options);

[[nodiscard]] h5::Id file_creation(const Options& options);
[[nodiscard]] h5::Id file_access(const Options& options, const comm::Comm& comm, Driver driver);
/// @param created  an object that this process makes alone: records that are a chunk long are
/// written whole, and none is kept until the file is closed
[[nodiscard]] h5::Id dataset_access(const Options& options, Driver driver,
                                    const core::Object* created = nullptr);
[[nodiscard]] h5::Id dataset_creation(const Options& options, const core::Object& object);
[[nodiscard]] h5::Id transfer_list(bool collective);

/// Whether a dataset has the fill value that it would be created with.  [local]
[[nodiscard]] bool has_fill(const h5::Id& dataset, const Options& options,
                            const core::Object& object);

/// Where HDF5 converts compounds, as large as what it takes by itself: that it may give back to the
/// system after each call, and then every page of it is a new one. Not touched without need.
class ConversionMemory {
public:
    void serve(const h5::Id& transfer);  ///< must outlive the list  [local]

private:
    std::unique_ptr<std::byte[]> x_numbers, x_background;
};

/// Chunk extents of an object; empty where it is contiguous.  [local]
[[nodiscard]] core::Extents chunk_of(const Options& options, const core::Object& object);

using formats::mpiio::mpi_running;

}  // namespace tailrace::formats::hdf5
