// SPDX-License-Identifier: Apache-2.0
// Pieces as MPI datatypes: one for the file, one for the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "comm/mpi_comm.hpp"
#include "core/box.hpp"
#include "core/sink.hpp"
#include "formats/raw/layout.hpp"

namespace tailrace::formats::mpiio {

/// A committed datatype that frees itself; MPI_BYTE where empty.
class Datatype {
public:
    Datatype() = default;
    explicit Datatype(MPI_Datatype owned) : x_type(owned), x_owned(true) {}
    ~Datatype();
    Datatype(Datatype&& other) noexcept;
    Datatype& operator=(Datatype&& other) noexcept;

    [[nodiscard]] MPI_Datatype get() const noexcept { return x_type; }

private:
    MPI_Datatype x_type = MPI_BYTE;
    bool x_owned = false;
};

/// One call's worth of a piece: at most 1 GiB, so that MPI's int counts do.
struct Portion {
    std::size_t piece = 0;
    core::Box box;           ///< in the object
    core::MemLayout memory;  ///< of the whole piece's memory, beginning at this box
    std::uint64_t bytes = 0;
    std::uint64_t file_begin = 0;  ///< first byte in the file
    bool one_run = false;          ///< contiguous in the file
};

/// Cuts a piece into portions, in ascending order of the file as far as boxes allow.  [local]
/// @param single_runs  a run of 1 MiB or more is a portion by itself: independent transfers need no
///                     view then, and ROMIO's data sieving, whose time grows with the square of
///                     the run, stays out of it
void cut_piece(std::size_t piece, const raw::Placed& object, const core::Box& box,
               const core::MemLayout& memory, bool single_runs, std::vector<Portion>& portions);

/// How a portion lies in the file: bytes from `begin` on, selected by `type`.
struct FileShape {
    std::uint64_t begin = 0;
    Datatype type;
};
[[nodiscard]] FileShape file_shape(const raw::Placed& object, const Portion& portion);  ///< [local]

/// How a portion lies in memory: `count` of `type` at `data` + `begin`.
struct MemoryShape {
    std::uint64_t begin = 0;
    int count = 0;
    Datatype type;
};
[[nodiscard]] MemoryShape memory_shape(const raw::Placed& object,
                                       const Portion& portion);  ///< [local]

}  // namespace tailrace::formats::mpiio
