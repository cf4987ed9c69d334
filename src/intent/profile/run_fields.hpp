// SPDX-License-Identifier: Apache-2.0
// Keys of the parts of a profile that describe the run. Internal to src/intent.
#pragma once

#include "core/json/fields.hpp"
#include "intent/profile/model.hpp"

namespace tailrace::json {

template <>
struct Names<intent::OriginKind> {
    static constexpr std::pair<intent::OriginKind, std::string_view> all[] = {
        {intent::OriginKind::hook, "hook"},
        {intent::OriginKind::darshan, "darshan"},
    };
};

template <>
struct Fields<intent::Span> {
    static constexpr std::string_view name = "span";
    static void visit(auto& v, auto& s) {
        v("start_s", s.start_s, "Begin of the first one, in seconds since the start of the run.");
        v("end_s", s.end_s, "End of the last one, in seconds since the start of the run.");
    }
};

template <>
struct Fields<intent::SizeClass> {
    static constexpr std::string_view name = "size_class";
    static void visit(auto& v, auto& s) {
        v("from_bytes", s.from_bytes, "Smallest size of the class.");
        v("below_bytes", s.below_bytes,
          "Sizes of the class are smaller than this; absent: no bound.");
        v("calls", s.calls, "Calls of a size of the class.");
    }
};

template <>
struct Fields<intent::FrequentSize> {
    static constexpr std::string_view name = "frequent_size";
    static void visit(auto& v, auto& s) {
        v("bytes", s.bytes, "Size of the call.");
        v("calls", s.calls, "Calls of exactly this size.");
    }
};

template <>
struct Fields<intent::FrequentStride> {
    static constexpr std::string_view name = "frequent_stride";
    static void visit(auto& v, auto& s) {
        v("bytes", s.bytes, "Distance between the end of a call and the begin of the next one.");
        v("calls", s.calls, "Calls at this distance.");
    }
};

template <>
struct Fields<intent::Extreme> {
    static constexpr std::string_view name = "extreme";
    static void visit(auto& v, auto& s) {
        v("process", s.process, "Id of the process.");
        v("bytes", s.bytes, "Bytes it moved.");
        v("elapsed_s", s.elapsed_s, "Its time in I/O.");
    }
};

template <>
struct Fields<intent::Source> {
    static constexpr std::string_view name = "source";
    static void visit(auto& v, auto& s) {
        v("path", s.path, "The log or spool that was read.");
        v("kind", s.kind, "Kind of the source: spool or darshan.");
        v("sha256", s.sha256, "SHA-256 of the source, in hexadecimal digits; empty: not computed.");
        v("parts", s.parts,
          "Darshan: the modules in the log, with ! before those that are not complete.");
    }
};

template <>
struct Fields<intent::Origin> {
    static constexpr std::string_view name = "origin";
    static void visit(auto& v, auto& s) {
        v("kind", s.kind, "What recorded it.");
        v("command", s.command, "The command line of the run; empty: not known.");
        v("version", s.version, "Version of what recorded it; empty: not known.");
        v("start", s.start, "Start of the run, ISO 8601, UTC; empty: not known.");
        v("sources", s.sources, "What was read to make the profile.");
        v("dropped", s.dropped, "Objects or calls that were seen but found no room, by kind.");
        v("notes", s.notes, "What is missing, truncated or doubtful, in words.");
    }
};

template <>
struct Fields<intent::Process> {
    static constexpr std::string_view name = "process";
    static void visit(auto& v, auto& s) {
        v("id", s.id, "Number of the process within this profile; with Darshan the rank.");
        v("rank", s.rank, "Rank, where a launcher started it.");
        v("pid", s.pid, "Number of the process on its host.");
        v("parent_pid", s.parent_pid, "Number of its parent.");
        v("host", s.host, "Name of the host.");
        v("program", s.program, "The program's file.");
        v("hdf5_version", s.hdf5_version, "Version of the HDF5 library in it.");
        v("mpi_version", s.mpi_version, "Version of the MPI library in it.");
        v("start_s", s.start_s, "Start of the process, in seconds since the start of the run.");
        v("end_s", s.end_s, "End of the process, in seconds since the start of the run.");
    }
};

template <>
struct Fields<intent::FileSystem> {
    static constexpr std::string_view name = "file_system";
    static void visit(auto& v, auto& s) {
        v("folder", s.folder, "Folder, or mount point.");
        v("type", s.type, "Type of the file system, for example lustre, gpfs, nfs, ext4, tmpfs.");
        v("block_bytes", s.block_bytes, "Its preferred block of I/O, in bytes.");
    }
};

template <>
struct Fields<intent::Timeline> {
    static constexpr std::string_view name = "timeline";
    static void visit(auto& v, auto& s) {
        v("layer", s.layer, "posix, mpiio or stdio.");
        v("bin_s", s.bin_s, "Length of one piece of time, in seconds.");
        v("read_bytes", s.read_bytes, "Bytes read in each piece, all processes together.");
        v("written_bytes", s.written_bytes, "Bytes written in each piece, all processes together.");
    }
};

template <>
struct Fields<intent::Run> {
    static constexpr std::string_view name = "run";
    static void visit(auto& v, auto& s) {
        v("elapsed_s", s.elapsed_s, "Duration of the run, in seconds.");
        v("command_s", s.command_s,
          "From the start of the command to its end, in seconds: also what came behind the last "
          "call "
          "that was recorded.");
        v("ranks", s.ranks, "MPI ranks; 1 for a serial program.");
        v("nodes", s.nodes, "Nodes.");
        v("node_memory_bytes", s.node_memory_bytes, "Memory of one node, the smallest of all.");
        v("processes", s.processes, "The processes, each with an id that the rest refers to.");
        v("file_systems", s.file_systems, "File systems on which the files lie.");
        v("timelines", s.timelines, "Bytes over time, per layer.");
    }
};

}  // namespace tailrace::json
