// SPDX-License-Identifier: Apache-2.0
// What the machine can do: the same bytes from the same ranks by the plainest means, beside which
// a kernel's figures stand. The files are written for the clock only, and removed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/box.hpp"
#include "core/schema.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::limit {

/// What the ranks write.
struct Work {
    std::vector<core::Object> objects;
    Chunks chunks;            ///< objects that are not named are contiguous
    std::uint64_t steps = 0;  ///< of all ranks
    /// The pieces of this rank in a step, with their places in `data`, one behind the other.
    std::function<std::vector<core::Write>(std::uint64_t step)> writes;
    std::span<const std::byte> data;  ///< of this rank; the longest step's
    bool collective = false;          ///< MPI_File_write_at_all instead of MPI_File_write_at
    Hints hints;                      ///< for MPI-IO
};

/// file_per_rank, shared_file: pwrite of a rank's data of a step as one piece, in its own file or
/// behind each other in one. mpi_io: the pieces of `writes`, where a raw container has them.
/// memory: a copy in memory.
enum class Way { file_per_rank, shared_file, mpi_io, memory };

struct Arm {
    Way way = Way::memory;
    bool synced = false;  ///< fsync before the end of the time
    bool operator==(const Arm&) const = default;
};

/// Bytes of this rank in a step.  [local]
[[nodiscard]] std::uint64_t bytes_of(const Work& work, std::uint64_t step);

/// Those that this build can run.  [local]
[[nodiscard]] std::vector<Arm> arms();
/// "file_per_rank", "file_per_rank_fsync", ... "memory_copy".  [local]
[[nodiscard]] std::string name(const Arm& arm);

/// Writes all steps once.  [collective]
/// @param beside  the files are made in the folder of this name, and named after it
/// @returns seconds from the last rank in to the last rank out: create, write, fsync where asked
///          for, close; the removal is not in them
/// @throws core::Error{no_space_reserved | no_space | io | data_lost | ...} on all ranks; nothing
///         is left behind
[[nodiscard]] double measure(const comm::Comm& comm, const Work& work, const Arm& arm,
                             const std::filesystem::path& beside);

}  // namespace tailrace::formats::limit
