// SPDX-License-Identifier: Apache-2.0
// Pieces as MPI datatypes: one for the file, one for the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
    const raw::Placed* object = nullptr;
    std::byte* data = nullptr;  ///< of the whole piece
    core::Box box;              ///< in the object
    core::MemLayout memory;     ///< of the whole piece's memory, beginning at this box
    std::uint64_t bytes = 0;
    std::uint64_t file_begin = 0;  ///< first byte in the file
    bool one_run = false;          ///< contiguous in the file
    std::uint64_t runs = 0;        ///< at most, that are so in the file and in memory
};

/// Cuts a piece into portions, in ascending order of the file as far as boxes allow.  [local]
/// @param single_runs  a run of 1 MiB or more is a portion by itself: independent transfers need no
///                     view then, and ROMIO's data sieving, whose time grows with the square of
///                     the run, stays out of it
void cut_piece(const raw::Placed& object, std::byte* data, const core::Box& box,
               const core::MemLayout& memory, bool single_runs, std::vector<Portion>& portions);

/// How many portions each call moves that unites those which follow one another: as much as one
/// portion may be, and each by itself where some have bytes of the file in common.  [local]
[[nodiscard]] std::vector<std::size_t> united_calls(std::span<const Portion> portions);

/// How a portion lies in the file: bytes from `begin` on, selected by `type`.
struct FileShape {
    std::uint64_t begin = 0;
    Datatype type;
};
[[nodiscard]] FileShape file_shape(const Portion& portion);  ///< [local]

/// How a portion lies in memory: `count` of `type` at `begin`.
struct MemoryShape {
    std::byte* begin = nullptr;
    int count = 0;
    Datatype type;
};
[[nodiscard]] MemoryShape memory_shape(const Portion& portion);  ///< [local]

/// Portions of one call, in the order of the file.  [local]
/// @pre none of their bytes in the file are the same
struct UnitedShape {
    FileShape file;
    MemoryShape memory;
};
[[nodiscard]] UnitedShape united_shape(std::span<const Portion> portions);

}  // namespace tailrace::formats::mpiio
