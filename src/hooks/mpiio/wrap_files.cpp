// SPDX-License-Identifier: Apache-2.0
// Opening, closing, views, hints and sizes.
#include <string.h>

#include "hooks/mpiio/hints.hpp"
#include "hooks/mpiio/tune_open.hpp"
#include "hooks/mpiio/wrap.hpp"

namespace tailrace::hooks::mpiio {
namespace {

uint32_t size_of(MPI_Comm communicator) {
    static constinit Real<int(MPI_Comm, int*)> comm_size{"PMPI_Comm_size"};
    int size = 0;
    return comm_size(communicator, &size) == MPI_SUCCESS ? static_cast<uint32_t>(size) : 0;
}

spool::FileType kind_of(MPI_Datatype type) {
    static constinit Real<int(MPI_Datatype, int*, int*, int*, int*)> get_envelope{
        "PMPI_Type_get_envelope"};
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    if (get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) {
        return spool::filetype_other;
    }
    switch (combiner) {
        case MPI_COMBINER_NAMED:
            return spool::filetype_basic;
        case MPI_COMBINER_CONTIGUOUS:
            return spool::filetype_contiguous;
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR:
            return spool::filetype_vector;
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK:
            return spool::filetype_indexed;
        case MPI_COMBINER_STRUCT:
            return spool::filetype_struct;
        case MPI_COMBINER_SUBARRAY:
            return spool::filetype_subarray;
        case MPI_COMBINER_DARRAY:
            return spool::filetype_darray;
        case MPI_COMBINER_RESIZED:
            return spool::filetype_resized;
        default:
            return spool::filetype_other;
    }
}

View view_of(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
             const char* representation) {
    static constinit Real<int(MPI_Datatype, MPI_Count*, MPI_Count*)> get_extent{
        "PMPI_Type_get_extent_x"};
    MPI_Count begin = 0;
    MPI_Count extent = 0;
    const bool native = representation != nullptr && strcmp(representation, "native") == 0;
    View view{displacement, bytes_of(1, etype), bytes_of(1, filetype), 0, kind_of(filetype),
              native};
    if (get_extent(filetype, &begin, &extent) == MPI_SUCCESS && extent > 0) {
        view.filetype_extent = static_cast<uint64_t>(extent);
    }
    return view;
}

/// Where MPI_MODE_APPEND has put the file pointer. MPI does so before the open has ended on all
/// ranks: none of them has written yet. With MPI_MODE_SEQUENTIAL there is none to be asked. [local]
int64_t append_at(MPI_File file, int mode) {
    static constinit Real<int(MPI_File, MPI_Offset*)> get_position{"PMPI_File_get_position"};
    if ((mode & MPI_MODE_APPEND) == 0) return -1;
    if ((mode & MPI_MODE_SEQUENTIAL) != 0) return 0;
    MPI_Offset at = 0;
    return get_position(file, &at) == MPI_SUCCESS && at >= 0 ? at : 0;
}

/// Of a file that was read behind what this process wrote: libraries tell more of reads than came.
/// And of one of which it is not known where all calls went.  [local]
void ask_size(MPI_File file) {
    static constinit Real<int(MPI_File, MPI_Offset*)> get_size{"PMPI_File_get_size"};
    MPI_Offset bytes = 0;
    if (!wants_size(handle_of(file)) || get_size(file, &bytes) != MPI_SUCCESS) return;
    if (bytes >= 0) sized(handle_of(file), static_cast<uint64_t>(bytes));
}

template <typename Real>
int open(MPI_Comm communicator, const char* name, int mode, Wide info_given, MPI_File* file,
         Real&& real) {
    const auto info = as<MPI_Info>(info_given);
    OpenTuning tuning({communicator, name, mode, info, info_given});
    const Call call;
    const int error = tuning.make(file, real);
    if (!call.counts() || error != MPI_SUCCESS) return error;
    const Took took = call.took();
    Hints hints;
    hints.add_given(info);
    hints.add_in_force(*file);
    opened(handle_of(*file),
           {name, size_of(communicator), hints.all(), hints.count(), (mode & MPI_MODE_CREATE) != 0,
            append_at(*file, mode), opens_by(name)},
           took);
    return error;
}

template <typename Real>
int close(MPI_File* file, Real&& real) {
    const Call call;
    const Handle handle = file != nullptr ? handle_of(*file) : Handle{};
    if (call.counts() && file != nullptr) ask_size(*file);
    const int error = real();
    if (call.counts() && error == MPI_SUCCESS) closed(handle, call.took());
    return error;
}

template <typename Real>
int note(MPI_File file, Other what, Real&& real) {
    const Call call;
    const int error = real();
    if (call.counts() && error == MPI_SUCCESS) other(handle_of(file), what, call.took());
    return error;
}

template <typename Real>
int set_hints(MPI_File file, MPI_Info info, Real&& real) {
    const Call call;
    const int error = real();
    if (!call.counts() || error != MPI_SUCCESS) return error;
    const Took took = call.took();
    Hints hints;
    hints.add_given(info);
    hints.add_in_force(file);
    hinted(handle_of(file), hints.all(), hints.count(), took);
    return error;
}

template <typename Real>
int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
             const char* representation, MPI_Info info, Real&& real) {
    const Call call;
    const int error = real();
    if (!call.counts() || error != MPI_SUCCESS) return error;
    const Took took = call.took();
    viewed(handle_of(file), view_of(displacement, etype, filetype, representation), took);
    if (!is_null(info)) {
        Hints hints;
        hints.add_given(info);
        hints.add_in_force(file);
        hinted(handle_of(file), hints.all(), hints.count(), {took.end_ns, took.end_ns});
    }
    return error;
}

}  // namespace

TAILRACE_DEFINE_BOTH(File_open,
                     (Wide communicator, const char* name, int mode, Wide info, MPI_File* file),
                     return open(as<MPI_Comm>(communicator), name, mode, info, file,
                                 [&](Wide given) {
                                     return real(communicator, name, mode, given, file);
                                 });)
TAILRACE_DEFINE_BOTH(File_close, (MPI_File * file), return close(file, [&] { return real(file); });)
TAILRACE_DEFINE_BOTH(File_set_view,
                     (MPI_File file, MPI_Offset at, Wide etype, Wide filetype,
                      const char* representation, Wide info),
                     return set_view(file, at, as<MPI_Datatype>(etype), as<MPI_Datatype>(filetype),
                                     representation, as<MPI_Info>(info), [&] {
                                         return real(file, at, etype, filetype, representation,
                                                     info);
                                     });)
TAILRACE_DEFINE_BOTH(File_set_info, (MPI_File file, Wide info),
                     return set_hints(file, as<MPI_Info>(info), [&] { return real(file, info); });)
TAILRACE_DEFINE_BOTH(File_sync, (MPI_File file),
                     return note(file, Other::sync, [&] { return real(file); });)
TAILRACE_DEFINE_BOTH(File_set_size, (MPI_File file, MPI_Offset bytes),
                     return note(file, Other::set_size, [&] { return real(file, bytes); });)
TAILRACE_DEFINE_BOTH(File_preallocate, (MPI_File file, MPI_Offset bytes),
                     return note(file, Other::preallocate, [&] { return real(file, bytes); });)

}  // namespace tailrace::hooks::mpiio
