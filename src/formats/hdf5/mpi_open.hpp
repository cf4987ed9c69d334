// SPDX-License-Identifier: Apache-2.0
// Opening one file by all ranks, past what MPI-IO makes of its name and of a rank that cannot.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "comm/comm.hpp"
#include "formats/hdf5/h5.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/mpiio/info.hpp"
#include "formats/mpiio/stale_semaphore.hpp"
#include "formats/part_file.hpp"

namespace tailrace::formats::hdf5 {

/// What keeps this rank from opening a file. MPI-IO does not agree on an open that fails on one
/// rank only (OMPIO: the others hang); to be called, and agreed on, before.  [local]
[[nodiscard]] inline std::optional<core::Error> why_not_open(const std::filesystem::path& path,
                                                             bool writable) {
    mpiio::remove_stale_semaphore(path);
    const Descriptor probe(formats::open_file(path, writable ? O_RDWR : O_RDONLY));
    const int seen = errno;
    if (probe.open()) return std::nullopt;
    return system_error(seen, "this rank cannot open the file", path);
}

/// Calls `open(name)` with the path, and where that fails on all ranks and the path has a colon,
/// again with a prefix: ROMIO takes what stands before a colon for a file system.  [collective]
/// @throws core::Error of this rank
template <class Open>
[[nodiscard]] h5::Id open_by_all(const comm::Comm& comm, const std::filesystem::path& path,
                                 Open&& open) {
    h5::Id id;
    auto error = comm::Comm::caught([&] { id = open(path); });
    if (path.string().find(':') != std::string::npos && mpi_running() &&
        comm.min(std::uint64_t{error ? 1U : 0U}) == 1)
        error = comm::Comm::caught(
            [&] { id = open(std::filesystem::path(mpiio::with_file_system_prefix(path))); });
    if (error) throw core::Error(*error);
    return id;
}

}  // namespace tailrace::formats::hdf5
