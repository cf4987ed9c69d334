// SPDX-License-Identifier: Apache-2.0
// Keys of a file of a profile, and of the profile. Internal to src/intent.
#pragma once

#include "core/json/fields.hpp"
#include "intent/profile/dataset_fields.hpp"

namespace tailrace::json {

template <>
struct Fields<intent::Operations> {
    static constexpr std::string_view name = "operations";
    static void visit(auto& v, auto& s) {
        v("create", s.create, "Calls that create.");
        v("open", s.open, "Calls that open.");
        v("read", s.read, "Calls that read.");
        v("write", s.write, "Calls that write.");
        v("delete", s.remove, "Calls that delete.");
        v("other", s.other, "Other calls: queries, iterations, copies.");
        v("bytes", s.bytes, "Bytes of the values read and written.");
    }
};

template <>
struct Fields<intent::CallOrder> {
    static constexpr std::string_view name = "call_order";
    static void visit(auto& v, auto& s) {
        v("processes", s.processes, "Ids of the processes.");
        v("calls", s.calls, "Calls of each of them.");
        v("order_hash", s.order_hash, "Hash over the calls and their arguments in their order.");
    }
};

template <>
struct Fields<intent::Hdf5File> {
    static constexpr std::string_view name = "hdf5_file";
    static void visit(auto& v, auto& s) {
        v("opens", s.opens, "Calls of H5Fopen and H5Fcreate.");
        v("creates", s.creates, "Calls of H5Fcreate.");
        v("read_only_opens", s.read_only_opens, "Calls of H5Fopen for reading only.");
        v("flushes", s.flushes, "Calls of H5Fflush.");
        v("reopens", s.reopens, "Opens of the file after it had been closed in this run.");
        v("deletes", s.deletes, "Calls of H5Fdelete.");
        v("failed_calls", s.failed_calls, "Calls on structure and metadata that failed.");
        v("communicator_size", s.communicator_size, "Ranks of the communicator of the file.");
        v("open", s.open, "From the begin of the first open or create to the end of the last.");
        v("close", s.close, "From the begin of the first close to the end of the last.");
        v("driver", s.driver, "File driver, for example sec2 or mpio.");
        v("mpio", s.mpio, "Whether it was opened with MPI-IO below.");
        v("settings_of_program", s.settings_of_program,
          "Settings on its lists that differ from the library's defaults.");
        v("metadata", s.metadata,
          "Operations on attributes, groups, links, datasets and types, by kind of object.");
        v("metadata_s", s.metadata_s,
          "Time in opening, closing and metadata operations, all processes together.");
        v("call_orders", s.call_orders,
          "Calls on the structure that collective I/O wants alike on all ranks, by processes that "
          "agree.");
        v("same_order", s.same_order, "Whether all processes made these calls alike.");
        v("transfer_orders", s.transfer_orders,
          "Reads and writes of datasets in their order, by processes that agree.");
        v("same_transfer_order", s.same_transfer_order,
          "Whether all processes made the same reads and writes of datasets in the same order.");
        v("access_orders", s.access_orders,
          "Every call on structure and metadata, opens, reads and questions too, by processes that "
          "agree.");
        v("same_access_order", s.same_access_order,
          "Whether all processes made those calls alike.");
        v("left_open", s.left_open, "Objects still open when the file was closed, by kind.");
    }
};

template <>
struct Fields<intent::ByteRange> {
    static constexpr std::string_view name = "byte_range";
    static void visit(auto& v, auto& s) {
        v("process", s.process, "Id of the process.");
        v("calls", s.calls, "Its calls of which the place in the file is known.");
        v("bytes", s.bytes, "Bytes that they moved.");
        v("first_byte", s.first_byte, "Offset of the first byte in the file that they touched.");
        v("end_byte", s.end_byte, "Offset behind the last one.");
    }
};

template <>
struct Fields<intent::MpiioTransfers> {
    static constexpr std::string_view name = "mpiio_transfers";
    static void visit(auto& v, auto& s) {
        v("independent", s.independent, "Independent blocking calls.");
        v("collective", s.collective, "Collective blocking calls.");
        v("nonblocking", s.nonblocking, "Non-blocking calls.");
        v("split", s.split, "Split collective calls.");
        v("explicit_offset", s.explicit_offset, "Calls with an explicit offset, of those above.");
        v("shared", s.shared, "Calls through the shared file pointer, of those above.");
        v("ordered", s.ordered, "Ordered calls through the shared file pointer, of those above.");
        v("nonblocking_collective", s.nonblocking_collective,
          "Calls that are collective, of the non-blocking ones.");
        v("failed", s.failed, "Calls that failed; they count nowhere else.");
        v("bytes", s.bytes, "Bytes moved.");
        v("placed", s.placed, "Calls of which the place in the file is known.");
        v("not_placed", s.not_placed,
          "Calls of which it is not: through a shared pointer, and through a view with gaps after "
          "the first 64 of an open file.");
        v("in_pieces", s.in_pieces,
          "Of these, calls whose bytes lie in pieces in the file, by their view.");
        v("irregular_pieces", s.irregular_pieces,
          "Of these, calls through a view whose file type is indexed or a structure.");
        v("highest_byte", s.highest_byte, "Offset of the last byte touched, as far as known.");
        v("sizes", s.sizes, "Calls by class of size.");
        v("frequent", s.frequent, "The most frequent sizes.");
        v("largest_bytes", s.largest_bytes, "Size of the largest call.");
        v("order", s.order, "How the place of each call follows from the one before it.");
        v("ranges", s.ranges,
          "What each process touched of a file of several, of the first 64 processes.");
        v("elapsed_s", s.elapsed_s, "Time in these calls, all processes together.");
        v("active", s.active, "From the begin of the first call to the end of the last.");
    }
};

template <>
struct Fields<intent::MpiioView> {
    static constexpr std::string_view name = "mpiio_view";
    static void visit(auto& v, auto& s) {
        v("filetype", s.filetype, "How its file type was made: basic, vector, subarray and so on.");
        v("etype_bytes", s.etype_bytes, "Size of its elementary type.");
        v("filetype_bytes", s.filetype_bytes, "Bytes of data in the file type.");
        v("filetype_extent_bytes", s.filetype_extent_bytes,
          "From the begin to the end of the file type in the file.");
        v("displacement_bytes", s.displacement_bytes, "Where the first such view begins.");
        v("calls", s.calls, "Views of this kind, all processes together.");
    }
};

template <>
struct Fields<intent::MpiioFile> {
    static constexpr std::string_view name = "mpiio_file";
    static void visit(auto& v, auto& s) {
        v("collective_opens", s.collective_opens, "Collective opens, counted on each process.");
        v("independent_opens", s.independent_opens, "Opens by one process alone.");
        v("append_opens", s.append_opens, "Of both, those with MPI_MODE_APPEND.");
        v("appended", s.appended,
          "Writes known to begin at or behind the end that an open with MPI_MODE_APPEND found.");
        v("create_mode", s.create_mode,
          "Whether an open gave MPI_MODE_CREATE; of a Darshan log the last one of each rank.");
        v("implementation", s.implementation,
          "Which of Open MPI's two MPI-IO implementations opened it, OMPIO or ROMIO.");
        v("views", s.views, "Views set.");
        v("view_kinds", s.view_kinds, "What the views look like, the most frequent first.");
        v("syncs", s.syncs, "Calls of MPI_File_sync.");
        v("set_sizes", s.set_sizes, "Calls of MPI_File_set_size.");
        v("preallocations", s.preallocations, "Calls of MPI_File_preallocate.");
        v("size_bytes", s.size_bytes,
          "The greatest size that MPI told before a close, where the places of some calls are not "
          "known.");
        v("communicator_size", s.communicator_size, "Ranks of the communicator of the file.");
        v("hints_given", s.hints_given, "Hints that the program gave.");
        v("hints_in_force", s.hints_in_force, "Hints as MPI_File_get_info tells them.");
        v("reads", s.reads, "All reads.");
        v("writes", s.writes, "All writes.");
        v("frequent", s.frequent, "The most frequent sizes, reads and writes together.");
        v("open", s.open, "From the begin of the first open or create to the end of the last.");
        v("close", s.close, "From the begin of the first close to the end of the last.");
        v("metadata_s", s.metadata_s,
          "Time in opening, closing and the like, all processes together.");
        v("read_write_switches", s.read_write_switches,
          "Times that reading followed writing, or the other way round.");
    }
};

template <>
struct Fields<intent::PosixTransfers> {
    static constexpr std::string_view name = "posix_transfers";
    static void visit(auto& v, auto& s) {
        v("calls", s.calls, "Calls.");
        v("bytes", s.bytes, "Bytes moved.");
        v("failed", s.failed, "Calls that failed; they count nowhere else.");
        v("consecutive", s.consecutive, "Calls that began exactly where the one before ended.");
        v("sequential", s.sequential, "Calls that began at or after the end of the one before.");
        v("highest_byte", s.highest_byte, "Offset of the last byte touched.");
        v("sizes", s.sizes, "Calls by class of size.");
        v("frequent", s.frequent, "The most frequent sizes.");
        v("order", s.order, "How the place of each call follows from the one before.");
        v("ranges", s.ranges,
          "What each process touched of a file of several, of the first 64 processes.");
        v("elapsed_s", s.elapsed_s, "Time in these calls, all processes together.");
        v("active", s.active, "From the begin of the first call to the end of the last.");
    }
};

template <>
struct Fields<intent::PosixFile> {
    static constexpr std::string_view name = "posix_file";
    static void visit(auto& v, auto& s) {
        v("opens", s.opens, "Calls that open.");
        v("failed_opens", s.failed_opens,
          "Calls that would have opened it and failed; they count nowhere else.");
        v("seeks", s.seeks, "Calls that seek.");
        v("stats", s.stats, "Calls of stat and the like.");
        v("syncs", s.syncs, "Calls of fsync and fdatasync.");
        v("maps", s.maps, "Calls of mmap.");
        v("renames", s.renames, "Renames from or to the file.");
        v("read_write_switches", s.read_write_switches,
          "Times that reading followed writing, or the other way round.");
        v("not_aligned_in_file", s.not_aligned_in_file,
          "Calls whose offset is no multiple of the alignment.");
        v("not_aligned_in_memory", s.not_aligned_in_memory, "Calls whose buffer is not aligned.");
        v("file_alignment_bytes", s.file_alignment_bytes,
          "The alignment used for counting: the block of the file system.");
        v("memory_alignment_bytes", s.memory_alignment_bytes, "The same for buffers.");
        v("reads", s.reads, "All reads.");
        v("writes", s.writes, "All writes.");
        v("frequent", s.frequent, "The most frequent sizes, reads and writes together.");
        v("strides", s.strides, "The most frequent distances, reads and writes together.");
        v("open", s.open, "From the begin of the first open or create to the end of the last.");
        v("close", s.close, "From the begin of the first close to the end of the last.");
        v("metadata_s", s.metadata_s,
          "Time in opening, closing, seeking and the like, all processes together.");
        v("fastest", s.fastest, "The process that needed the least time.");
        v("slowest", s.slowest, "The process that needed the most.");
        v("append", s.append, "Opened so that each write goes to the end.");
        v("create_mode", s.create_mode, "Whether an open gave O_CREAT.");
    }
};

template <>
struct Fields<intent::PnetcdfFile> {
    static constexpr std::string_view name = "pnetcdf_file";
    static void visit(auto& v, auto& s) {
        v("creates", s.creates,
          "Calls of ncmpi_create; from the hook of MPI-IO: files that began with their header.");
        v("opens", s.opens, "Calls of ncmpi_open.");
        v("redefinitions", s.redefinitions,
          "Calls of ncmpi_redef; from the hook of MPI-IO: times that the header became longer.");
        v("independent_waits", s.independent_waits, "Calls of ncmpi_wait.");
        v("collective_waits", s.collective_waits, "Calls of ncmpi_wait_all.");
        v("syncs", s.syncs, "Calls of ncmpi_sync.");
        v("bytes_read", s.bytes_read, "Bytes read through PnetCDF.");
        v("bytes_written", s.bytes_written, "Bytes written through PnetCDF.");
        v("open", s.open, "From the begin of the first open or create to the end of the last.");
        v("close", s.close, "From the begin of the first close to the end of the last.");
    }
};

template <>
struct Fields<intent::Lustre> {
    static constexpr std::string_view name = "lustre";
    static void visit(auto& v, auto& s) {
        v("stripe_count", s.stripe_count, "Stripes of the file.");
        v("stripe_bytes", s.stripe_bytes, "Size of a stripe.");
        v("osts", s.osts, "Targets on which they lie.");
    }
};

template <>
struct Fields<intent::File> {
    static constexpr std::string_view name = "file";
    static void visit(auto& v, auto& s) {
        v("path", s.path, "Absolute path, as resolved.");
        v("names", s.names, "Names that the program used, where they differ.");
        v("processes", s.processes, "Ids of the processes that touched it, as \"0-39,41\".");
        v("hdf5", s.hdf5, "What HDF5 saw.");
        v("mpiio", s.mpiio, "What MPI-IO saw.");
        v("posix", s.posix, "What the system calls saw.");
        v("stdio", s.stdio, "What fopen, fwrite and the like saw.");
        v("pnetcdf", s.pnetcdf, "What PnetCDF saw.");
        v("lustre", s.lustre, "Striping.");
        v("touched_bytes", s.touched_bytes,
          "Offset behind the last byte that system calls touched, where they are not kept "
          "otherwise.");
        v("writers", s.writers, "Processes whose system calls wrote to it, of those.");
        v("written_as_asked", s.written_as_asked,
          "Whether each process wrote what it had asked MPI-IO for, in no more system calls.");
        v("stored_bytes", s.stored_bytes,
          "What it took on its file system when the profile was made: at most its size, less where "
          "it has holes.");
        v("declared", s.declared, "What the program, or somebody for it, declares of it.");
        v("datasets", s.datasets, "Its datasets and variables.");
    }
};

template <>
struct Fields<intent::Profile> {
    static constexpr std::string_view name = "profile";
    static void visit(auto& v, auto& s) {
        v("origin", s.origin, "Where the profile comes from.");
        v("run", s.run, "The run.");
        v("files", s.files, "The files, each with its datasets.");
    }
};

}  // namespace tailrace::json
