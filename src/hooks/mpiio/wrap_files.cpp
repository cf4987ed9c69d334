// SPDX-License-Identifier: Apache-2.0
// Opening, closing, views, hints and sizes.
#include <string.h>

#include "hooks/mpiio/hints.hpp"
#include "hooks/mpiio/tune_open.hpp"
#include "hooks/mpiio/wrap.hpp"

namespace tailrace::hooks::mpiio {
namespace {

uint32_t size_of(Wide communicator) {
    static constinit Real<int(Wide, int*)> comm_size{"PMPI_Comm_size"};
    int size = 0;
    return comm_size(communicator, &size) == success ? static_cast<uint32_t>(size) : 0;
}

/// Which way a type was made. Of one with large counts only the function for these may be asked.
/// [local]
bool combiner_of(Wide type, int* combiner) {
    static constinit Real<int(Wide, Count*, Count*, Count*, Count*, int*)> of_large{
        "PMPI_Type_get_envelope_c"};
    static constinit Real<int(Wide, int*, int*, int*, int*)> of_small{"PMPI_Type_get_envelope"};
    if (of_large.is_there()) {
        Count integers = 0, addresses = 0, large_counts = 0, types = 0;
        return of_large(type, &integers, &addresses, &large_counts, &types, combiner) == success;
    }
    int integers = 0, addresses = 0, types = 0;
    return of_small(type, &integers, &addresses, &types, combiner) == success;
}

spool::FileType kind_of(Wide type) {
    int combiner = 0;
    if (!combiner_of(type, &combiner)) return spool::filetype_other;
    switch (combiner - abi().first_combiner) {
        case combiner_named:
            return spool::filetype_basic;
        case combiner_contiguous:
            return spool::filetype_contiguous;
        case combiner_vector:
        case combiner_hvector:
            return spool::filetype_vector;
        case combiner_indexed:
        case combiner_hindexed:
        case combiner_indexed_block:
        case combiner_hindexed_block:
            return spool::filetype_indexed;
        case combiner_struct:
            return spool::filetype_struct;
        case combiner_subarray:
            return spool::filetype_subarray;
        case combiner_darray:
            return spool::filetype_darray;
        case combiner_resized:
            return spool::filetype_resized;
        default:
            return spool::filetype_other;
    }
}

View view_of(Offset displacement, Wide etype, Wide filetype, const char* representation) {
    static constinit Real<int(Wide, Count*, Count*)> get_extent{"PMPI_Type_get_extent_x"};
    Count begin = 0;
    Count extent = 0;
    const bool native = representation != nullptr && strcmp(representation, "native") == 0;
    View view{displacement, bytes_of(1, etype), bytes_of(1, filetype), 0, kind_of(filetype),
              native};
    if (get_extent(filetype, &begin, &extent) == success && extent > 0) {
        view.filetype_extent = static_cast<uint64_t>(extent);
    }
    return view;
}

/// Where MPI_MODE_APPEND has put the file pointer. MPI does so before the open has ended on all
/// ranks: none of them has written yet. With MPI_MODE_SEQUENTIAL there is none to be asked. [local]
int64_t append_at(File file, int mode) {
    static constinit Real<int(File, Offset*)> get_position{"PMPI_File_get_position"};
    if ((mode & mode_append) == 0) return -1;
    if ((mode & mode_sequential) != 0) return 0;
    Offset at = 0;
    return get_position(file, &at) == success && at >= 0 ? at : 0;
}

/// Of a file that was read behind what this process wrote: libraries tell more of reads than came.
/// And of one of which it is not known where all calls went.  [local]
void ask_size(File file) {
    static constinit Real<int(File, Offset*)> get_size{"PMPI_File_get_size"};
    Offset bytes = 0;
    if (!wants_size(handle_of(file)) || get_size(file, &bytes) != success) return;
    if (bytes >= 0) sized(handle_of(file), static_cast<uint64_t>(bytes));
}

template <typename Real>
int open(Wide communicator, const char* name, int mode, Wide info, File* file, Real&& real) {
    OpenTuning tuning({communicator, name, mode, info});
    const Call call;
    const int error = tuning.make(file, real);
    if (!call.counts() || error != success) return error;
    const Took took = call.took();
    Hints hints;
    hints.add_given(info);
    hints.add_in_force(*file);
    opened(handle_of(*file),
           {name, size_of(communicator), hints.all(), hints.count(), (mode & mode_create) != 0,
            append_at(*file, mode), opens_by(name)},
           took);
    return error;
}

template <typename Real>
int close(File* file, Real&& real) {
    const Call call;
    const Handle handle = file != nullptr ? handle_of(*file) : Handle{};
    if (call.counts() && file != nullptr) ask_size(*file);
    const int error = real();
    if (call.counts() && error == success) closed(handle, call.took());
    return error;
}

template <typename Real>
int note(File file, Other what, Real&& real) {
    const Call call;
    const int error = real();
    if (call.counts() && error == success) other(handle_of(file), what, call.took());
    return error;
}

template <typename Real>
int set_hints(File file, Wide info, Real&& real) {
    const Call call;
    const int error = real();
    if (!call.counts() || error != success) return error;
    const Took took = call.took();
    Hints hints;
    hints.add_given(info);
    hints.add_in_force(file);
    hinted(handle_of(file), hints.all(), hints.count(), took);
    return error;
}

template <typename Real>
int set_view(File file, Offset displacement, Wide etype, Wide filetype, const char* representation,
             Wide info, Real&& real) {
    const Call call;
    const int error = real();
    if (!call.counts() || error != success) return error;
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
                     (Wide communicator, const char* name, int mode, Wide info, File* file),
                     return open(communicator, name, mode, info, file, [&](Wide given) {
                         return real(communicator, name, mode, given, file);
                     });)
TAILRACE_DEFINE_BOTH(File_close, (File * file), return close(file, [&] { return real(file); });)
TAILRACE_DEFINE_BOTH(File_set_view,
                     (File file, Offset at, Wide etype, Wide filetype, const char* representation,
                      Wide info),
                     return set_view(file, at, etype, filetype, representation, info, [&] {
                         return real(file, at, etype, filetype, representation, info);
                     });)
TAILRACE_DEFINE_BOTH(File_set_info, (File file, Wide info),
                     return set_hints(file, info, [&] { return real(file, info); });)
TAILRACE_DEFINE_BOTH(File_sync, (File file),
                     return note(file, Other::sync, [&] { return real(file); });)
TAILRACE_DEFINE_BOTH(File_set_size, (File file, Offset bytes),
                     return note(file, Other::set_size, [&] { return real(file, bytes); });)
TAILRACE_DEFINE_BOTH(File_preallocate, (File file, Offset bytes),
                     return note(file, Other::preallocate, [&] { return real(file, bytes); });)

}  // namespace tailrace::hooks::mpiio
