// SPDX-License-Identifier: Apache-2.0
// Records of the spool that the hooks of MPI-IO and of system calls write.
#pragma once

#include "intent/spool/layout.hpp"

namespace tailrace::intent::spool {

/// Calls by size; the class of a size is the first whose bound is above it.
constexpr uint32_t size_classes = 10;
constexpr uint64_t size_bounds[size_classes - 1] = {
    101,
    (uint64_t{1} << 10) + 1,
    (uint64_t{10} << 10) + 1,
    (uint64_t{100} << 10) + 1,
    (uint64_t{1} << 20) + 1,
    (uint64_t{4} << 20) + 1,
    (uint64_t{10} << 20) + 1,
    (uint64_t{100} << 20) + 1,
    (uint64_t{1} << 30) + 1,
};  // those of Darshan
constexpr uint32_t most_frequent = 16;

struct Frequent {
    uint64_t value;
    uint64_t calls;  ///< 0: a free place
};

/// Calls in one direction, by size.
struct Sizes {
    uint64_t by_class[size_classes];
    uint64_t largest;
    Frequent frequent[most_frequent];
};

/// How the transfers of a process in one direction follow each other in the file.
struct Steps {
    uint64_t placed;       ///< transfers whose place is known
    uint64_t consecutive;  ///< began where the one before ended
    uint64_t upwards;      ///< began there or behind it
    uint64_t lowest_byte;
    uint64_t end_byte;  ///< behind the last byte touched; 0: none was
    uint64_t order[4];  ///< sequential, strided, random, repeated
    int64_t step;       ///< from begin to begin, of the strided ones
    uint64_t steps;     ///< 0: none yet, 1: all strided ones have `step`, 2: they differ
    uint64_t last_start;
    uint64_t last_end;
    int64_t last_step;
    uint64_t has_step;
};

/// How a call of MPI-IO moves data; a call has one of the first four.
enum MpiioCall : uint32_t {
    call_independent,
    call_collective,
    call_nonblocking,
    call_split,
    call_explicit_offset,
    call_shared,
    call_ordered,
    call_nonblocking_collective,
    mpiio_calls
};

struct MpiioTransfersRecord {
    uint64_t counts[mpiio_calls];
    uint64_t bytes;
    uint64_t failed;
    uint64_t placed_bytes;      ///< of the transfers whose place is known
    uint64_t not_placed;        ///< transfers of at least a byte whose place is not known
    uint64_t in_pieces;         ///< of these transfers: with gaps in the file, by their view
    uint64_t irregular_pieces;  ///< of those: by a file type without a constant step
    Steps places;
    int64_t elapsed_ns;
    Period active;
    Sizes sizes;
};

/// Open MPI has two implementations of MPI-IO.
enum MpiIoKind : uint32_t { mpi_io_not_known, mpi_io_ompio, mpi_io_romio };  // clang-format skip

/// What MPI-IO did with a file.
struct MpiioRecord {
    Head head;
    uint64_t file;
    uint64_t collective_opens;
    uint64_t independent_opens;
    uint64_t closes;
    uint64_t views;
    uint64_t syncs;
    uint64_t set_sizes;
    uint64_t preallocations;
    uint64_t switches;
    Period open;
    Period close;
    int64_t metadata_ns;
    uint32_t communicator_size;
    uint32_t last_direction;  ///< 0: no transfer yet; else Direction + 1
    uint64_t last_hint;       ///< the newest of their chains; 0: none
    uint64_t last_view;
    // Headers of classic netCDF files that were written: only PnetCDF writes them with MPI-IO.
    uint64_t classic_creates;  ///< before anything was read
    uint64_t classic_growths;  ///< longer than the one before
    uint64_t classic_bytes;    ///< of the last one since the file was opened; 0: none
    uint64_t create_opens;     ///< with MPI_MODE_CREATE
    uint64_t append_opens;     ///< with MPI_MODE_APPEND
    uint64_t appended;         ///< writes at or behind the end that such an open found
    uint64_t size;             ///< the greatest that MPI told before a close
    uint64_t has_size;         ///< 1: it was asked
    uint64_t opened_by;        ///< MpiIoKind of all opens, as bits; 0: not known
    MpiioTransfersRecord transfers[2];
};

/// A hint; followed by its key and its value.
struct HintRecord {
    Head head;
    uint64_t of;
    uint64_t previous;
    uint32_t in_force;  ///< 0: given by the program, 1: as MPI_File_get_info tells
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint32_t turn;  ///< of one key the greatest was told last
};

enum FileType : uint32_t {
    filetype_basic,
    filetype_contiguous,
    filetype_vector,
    filetype_indexed,
    filetype_struct,
    filetype_subarray,
    filetype_darray,
    filetype_resized,
    filetype_other,
    filetypes
};  // clang-format skip

struct ViewRecord {
    Head head;
    uint64_t of;
    uint64_t previous;
    uint64_t calls;
    int64_t first_displacement;
    uint64_t etype_bytes;
    uint64_t filetype_bytes;   ///< of data in it
    uint64_t filetype_extent;  ///< from its begin to its end in the file
    uint32_t filetype;
    uint32_t pad;
};

struct PosixTransfersRecord {
    uint64_t calls;
    uint64_t bytes;
    uint64_t failed;
    Steps places;
    int64_t elapsed_ns;
    Period active;
    Sizes sizes;
};

/// What the system calls, or the C library's streams, did with a file.
struct PosixRecord {
    Head head;
    uint64_t file;
    uint32_t stream;          ///< 1: fopen and the like
    uint32_t last_direction;  ///< 0: no transfer yet; else Direction + 1
    uint64_t opens;
    uint64_t failed_opens;  ///< count nowhere else
    uint64_t closes;
    uint64_t append_opens;
    uint64_t write_opens;
    uint64_t seeks;
    uint64_t syncs;
    uint64_t maps;
    uint64_t truncations;
    uint64_t switches;
    uint64_t not_aligned_in_file;
    uint64_t not_aligned_in_memory;
    Period open;
    Period close;
    int64_t metadata_ns;
    Frequent strides[most_frequent];  ///< from the end of a call to the begin of the next
    PosixTransfersRecord transfers[2];
};

}  // namespace tailrace::intent::spool
