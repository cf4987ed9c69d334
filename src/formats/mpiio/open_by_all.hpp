// SPDX-License-Identifier: Apache-2.0
// Opening one file by all ranks, past what MPI-IO makes of its name and of a rank that cannot.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "formats/file/part_file.hpp"
#include "formats/mpiio/info.hpp"
#include "formats/mpiio/stale_semaphore.hpp"

namespace tailrace::formats::mpiio {

/// What keeps this rank from opening a file. MPI-IO does not agree on an open that fails on one
/// rank only (OMPIO: the others hang); to be called, and agreed on, before.  [local]
[[nodiscard]] inline std::optional<core::Error> why_not_open(const std::filesystem::path& path,
                                                             bool writable) {
    remove_stale_semaphore(path);
    const Descriptor probe(formats::open_file(path, writable ? O_RDWR : O_RDONLY));
    const int seen = errno;
    if (probe.open()) return std::nullopt;
    return system_error(seen, "this rank cannot open the file", path);
}

/// Agrees on why_not_open() for a file that is going to be written.  [collective]
inline void try_to_open(const comm::Comm& comm, core::Phases& phases,
                        const std::filesystem::path& path, const char* phase) {
    std::optional<core::Error> mine;
    {
        const auto scope = phases.enter(phase);
        mine = why_not_open(path, true);
    }
    const auto scope = phases.enter("agree");
    comm.agree(mine);
}

/// Calls `open(name)` with the path, and where that fails on all ranks and the path has a colon,
/// again with a prefix: ROMIO takes what stands before a colon for a file system.  [collective]
/// @throws core::Error of this rank
template <class Open>
[[nodiscard]] auto open_by_all(const comm::Comm& comm, const std::filesystem::path& path,
                               Open&& open) -> decltype(open(path)) {
    decltype(open(path)) file{};
    auto error =
        comm::Comm::caught([&] { file = open(std::filesystem::path(name_for_open(path))); });
    if (path.string().find(':') != std::string::npos && mpi_running() &&
        comm.min(std::uint64_t{error ? 1U : 0U}) == 1)
        error = comm::Comm::caught(
            [&] { file = open(std::filesystem::path(with_file_system_prefix(path))); });
    if (error) throw core::Error(*error);
    return file;
}

}  // namespace tailrace::formats::mpiio
