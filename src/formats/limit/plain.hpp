// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "core/error.hpp"
#include "formats/limit/limit.hpp"

namespace tailrace::formats::limit {

/// From the last rank in to the last rank out.
class Clock {
public:
    explicit Clock(const comm::Comm& comm);  ///< [collective]
    /// Seconds, once every rank is here.  [collective]
    /// @throws core::Error on all ranks where one brings a failure
    [[nodiscard]] double stop(const std::optional<core::Error>& mine) const;

private:
    comm::Comm x_comm;
    double x_start_s = 0;
};

/// True on one rank of each node: found out before the clock runs.  [collective]
[[nodiscard]] bool first_of_node(const comm::Comm& comm);
/// fsync of a finished file; its failure.  [local]
[[nodiscard]] std::optional<core::Error> synced_file(const std::filesystem::path& file);

/// One arm each; seconds, see measure().  [collective]
[[nodiscard]] double file_per_rank(const comm::Comm& comm, const Work& work, bool synced,
                                   const std::filesystem::path& name);
[[nodiscard]] double shared_file(const comm::Comm& comm, const Work& work, bool synced,
                                 const std::filesystem::path& name);
[[nodiscard]] double memory_copy(const comm::Comm& comm, const Work& work);
/// Only where the build has MPI.
[[nodiscard]] double mpi_io(const comm::Comm& comm, const Work& work, bool synced,
                            const std::filesystem::path& name);

}  // namespace tailrace::formats::limit
