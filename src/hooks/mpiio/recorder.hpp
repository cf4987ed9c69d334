// SPDX-License-Identifier: Apache-2.0
// What is kept of the calls of MPI-IO. Knows nothing of MPI: handles are numbers.
#pragma once

#include "hooks/common/files.hpp"

namespace tailrace::hooks::mpiio {

using Handle = uintptr_t;

/// How a call moves data, as bits.
enum How : uint32_t {
    independent = 1,
    collective = 2,
    nonblocking = 4,
    split = 8,
    explicit_offset = 16,
    shared = 32,
    ordered = 64
};

struct Hint {
    const char* key;
    const char* value;
    bool in_force;
};

struct Opened {
    const char* name;
    uint32_t communicator_size;
    const Hint* hints;
    unsigned hint_count;
    bool create;        ///< MPI_MODE_CREATE was given
    int64_t append_at;  ///< where MPI_MODE_APPEND has put the file pointer; -1: it was not given
    spool::MpiIoKind by = spool::mpi_io_not_known;
};

struct View {
    int64_t displacement;
    uint64_t etype_bytes;
    uint64_t filetype_bytes;
    uint64_t filetype_extent;
    spool::FileType filetype;
    bool native;  ///< bytes in the file are those in memory
};

/// What the place of a call in the file follows from, for an open file.
struct Window {
    bool wanted;  ///< the place is to be found
    bool gaps;    ///< the view leaves out parts of the file
    uint64_t displacement;
    uint64_t etype_bytes;
};

/// From the first byte of a call in the file to behind its last one.
struct CallRange {
    bool known;
    uint64_t start;
    uint64_t end;
};

void opened(Handle handle, const Opened& file, Took took);
/// @param took  of the close; the handle means another file from now on
void closed(Handle handle, Took took);
/// Whether reads went behind all that this process wrote: they may have got less than they asked
/// for.
bool wants_size(Handle handle);
void sized(Handle handle, uint64_t bytes);
Window window_of(Handle handle);
struct Moved {
    spool::Direction direction;
    uint32_t how;
    uint64_t bytes;
    CallRange place;
};
void moved(Handle handle, const Moved& what, Took took);
/// What is written is the header of a classic netCDF file. To be called before `moved`.
void classic_header(Handle handle, uint64_t bytes);
/// The end of a split call: only its time counts.
void ended(Handle handle, spool::Direction direction, Took took);
/// A transfer that failed; other failed calls are not counted.
void failed(Handle handle, spool::Direction direction, Took took);
void viewed(Handle handle, const View& view, Took took);
enum class Other { sync, set_size, preallocate };
void other(Handle handle, Other what, Took took);
void hinted(Handle handle, const Hint* hints, unsigned count, Took took);

}  // namespace tailrace::hooks::mpiio
