// SPDX-License-Identifier: Apache-2.0
// Keys of the intents. Internal to src/intent.
#pragma once

#include "intent/intents/model.hpp"
#include "intent/profile/dataset_fields.hpp"

namespace tailrace::json {

template <>
struct Names<intent::Confidence> {
    static constexpr std::pair<intent::Confidence, std::string_view> all[] = {
        {intent::Confidence::full, "full"},
        {intent::Confidence::high, "high"},
        {intent::Confidence::medium, "medium"},
        {intent::Confidence::low, "low"},
    };
};

template <>
struct Fields<intent::Evidence> {
    static constexpr std::string_view name = "evidence";
    static void visit(auto& v, auto& s) {
        v("name", s.name, "What it is.");
        v("value", s.value, "How much.");
        v("unit", s.unit, "Its unit; empty: a text.");
        v("from", s.from,
          "The layer that it was seen in: hdf5, mpiio, posix, stdio, pnetcdf, path or run; of what "
          "was declared where: property_list, context_manager, command_line, file or environment.");
        v("profile", s.profile, "Number of the profile.");
    }
};

template <>
struct Fields<intent::Variant> {
    static constexpr std::string_view name = "variant";
    static void visit(auto& v, auto& s) {
        v("profile", s.profile, "Number of the profile.");
        v("value", s.value, "What it says.");
    }
};

template <>
struct Fields<intent::Statement> {
    static constexpr std::string_view name = "statement";
    static void visit(auto& v, auto& s) {
        v("value", s.value, "The statement.");
        v("confidence", s.confidence,
          "full: declared; high: counted or proven; medium: follows from sums or times; low: a "
          "guess.");
        v("evidence", s.evidence, "The numbers it rests on.");
        v("changes", s.changes, "The profiles do not agree: see by_profile.");
        v("by_profile", s.by_profile, "What each profile says, where they do not agree.");
    }
};

template <>
struct Fields<intent::Session> {
    static constexpr std::string_view name = "session";
    static void visit(auto& v, auto& s) {
        v("open_timestamp", s.open_timestamp, "From the first begin to the last end of an open.");
        v("close_timestamp", s.close_timestamp, "The same of a close.");
        v("read_timestamp", s.read_timestamp, "The same of a read.");
        v("write_timestamp", s.write_timestamp, "The same of a write.");
    }
};

template <>
struct Fields<intent::Segment> {
    static constexpr std::string_view name = "segment";
    static void visit(auto& v, auto& s) {
        v("selection", s.selection, "Kind of the selection.");
        v("length", s.length, "Elements per dimension, slowest first.");
        v("stride", s.stride, "Distance between blocks per dimension, in elements.");
        v("block", s.block, "Elements of a block per dimension.");
        v("count", s.count, "Transfers of this shape.");
        v("access_bytes", s.access_bytes, "Bytes of one such transfer.");
        v("direction", s.direction,
          "read or write, where one program only writes and another only reads.");
    }
};

template <>
struct Fields<intent::TransferSize> {
    static constexpr std::string_view name = "transfer_size";
    static void visit(auto& v, auto& s) {
        v("bytes", s.bytes, "Size of the transfer in the file.");
        v("calls", s.calls, "Transfers of this size.");
        v("elements", s.elements, "The same in elements.");
    }
};

template <>
struct Fields<intent::Amount> {
    static constexpr std::string_view name = "amount";
    static void visit(auto& v, auto& s) {
        v("bytes", s.bytes, "How much.");
        v("from", s.from, "What it was computed from.");
        v("at_least", s.at_least, "It may be more: not all places are known.");
    }
};

template <>
struct Fields<intent::SizeSummary> {
    static constexpr std::string_view name = "size_summary";
    static void visit(auto& v, auto& s) {
        v("count", s.count, "Datasets whose size is known.");
        v("sum_bytes", s.sum_bytes, "Their sum.");
        v("smallest_bytes", s.smallest_bytes, "The smallest.");
        v("largest_bytes", s.largest_bytes, "The largest.");
    }
};

template <>
struct Fields<intent::Volume> {
    static constexpr std::string_view name = "volume";
    static void visit(auto& v, auto& s) {
        v("bytes_read", s.bytes_read, "Bytes read.");
        v("bytes_written", s.bytes_written, "Bytes written.");
        v("read_calls", s.read_calls, "Calls that read.");
        v("write_calls", s.write_calls, "Calls that write.");
        v("read_s", s.read_s, "Time in reading, all processes together.");
        v("write_s", s.write_s, "Time in writing, all processes together.");
        v("layers", s.layers, "Layers whose calls these are; of each file those of one layer.");
    }
};

template <>
struct Fields<intent::Words> {
    static constexpr std::string_view name = "words";
    static void visit(auto& v, auto& s) {
        v("why", s.why, "The purpose.");
        v("what", s.what, "What it is.");
        v("how", s.how, "How it is accessed.");
    }
};

template <>
struct Fields<intent::Naming> {
    static constexpr std::string_view name = "naming";
    static void visit(auto& v, auto& s) {
        v("pattern", s.pattern,
          "Numbers as {step}, {rank}, {date}, {id} or {number}; what stayed the same stays.");
        v("glob", s.glob, "The same for fnmatch.");
    }
};

template <>
struct Fields<intent::DeclaredIntent> {
    static constexpr std::string_view name = "declared_intent";
    static void visit(auto& v, auto& s) {
        v("name", s.name, "Key of docs/user/declare.md.");
        v("value", s.value, "What was declared.");
        v("from", s.from,
          "Where: property_list, context_manager, command_line, file or environment.");
        v("profile", s.profile, "Number of the profile.");
        v("contradiction", s.contradiction,
          "What the profile has against it, in words; absent where it has nothing.");
    }
};

template <>
struct Fields<intent::DatasetIntent> {
    static constexpr std::string_view name = "dataset_intent";
    static void visit(auto& v, auto& s) {
        v("filename", s.filename, "Path of the file.");
        v("dataset_name", s.dataset_name,
          "The key: path of the file, a colon, path of the dataset.");
        v("profiles", s.profiles, "Numbers of the profiles that have it.");
        v("naming", s.naming, "Its name with the numbers taken out.");
        v("words", s.words, "Why, what and how, in words.");
        v("interface", s.interface, "The library that was called for it.");
        v("ndims", s.ndims, "Number of dimensions.");
        v("dims", s.dims, "Extents, slowest first.");
        v("elements", s.elements, "Elements of the whole extent.");
        v("element_bytes", s.element_bytes, "Size of one element in the file.");
        v("chunk", s.chunk, "Extents of a chunk.");
        v("layout", s.layout, "contiguous, chunked, compact or virtual.");
        v("filters", s.filters, "Names of the filters.");
        v("sequence", s.sequence,
          "Its place in the order in which the datasets of the file were first transferred, from "
          "0.");
        v("session_io", s.session_io, "When it was opened, read, written and closed.");
        v("type", s.type,
          "What is done with the data: write_only, read_only, read_after_write, "
          "write_once_read_many, read_before_write, read_write or no_data.");
        v("mode", s.mode, "What the access allows: write_only, read_only, read_write or none.");
        v("append", s.append, "Whether it grows at its end: yes, no or not known.");
        v("reuse", s.reuse, "once, re_read, rewritten, re_read_and_rewritten or not known.");
        v("order", s.order,
          "Order of the places within a process: one_transfer, sequential, strided, random, "
          "repeated, mixed or not known.");
        v("sharing_pattern", s.sharing_pattern,
          "independent (one process) or shared; of a file also file_per_process, one_writer; of a "
          "workload also serial, mixed.");
        v("how_shared", s.how_shared,
          "disjoint_blocks, interleaved, same_region, overlapping, collective or independent; not "
          "known; private where it is not shared.");
        v("collective", s.collective,
          "Collective I/O was: done, requested, not_done_though_requested, partly, not_requested "
          "or not known.");
        v("full_coverage", s.full_coverage,
          "Whether every element was written: yes, no or not known.");
        v("producer_consumer", s.producer_consumer,
          "producer, consumer, both, no, or not known from one profile.");
        v("reliability", s.reliability,
          "durable, recomputable or scratch: how bad it would be to lose it; durable unless there "
          "is reason to think otherwise.");
        v("top_accessed_segments", s.top_accessed_segments,
          "The most frequent shapes, most frequent first.");
        v("transfer_size_dist", s.transfer_size_dist,
          "The most frequent sizes of transfers, most frequent first.");
        v("process_sharing", s.process_sharing, "Ids of the processes.");
        v("fs_size", s.fs_size, "Its size in the file.");
        v("volume", s.volume, "Bytes and calls.");
        v("declared", s.declared, "What was declared of it: such statements are those declared.");
    }
};

template <>
struct Fields<intent::LayerIntent> {
    static constexpr std::string_view name = "layer_intent";
    static void visit(auto& v, auto& s) {
        v("type", s.type,
          "What is done with the data: write_only, read_only, read_after_write, "
          "write_once_read_many, read_before_write, read_write or no_data.");
        v("order", s.order,
          "Order of the places within a process: one_transfer, sequential, strided, random, "
          "repeated, mixed or not known.");
        v("how_shared", s.how_shared,
          "What the processes touch: disjoint_blocks, interleaved, overlapping, same_region or not "
          "known.");
        v("collective", s.collective,
          "Collective I/O was: done, requested, not_done_though_requested, partly, not_requested "
          "or not known.");
        v("alignment", s.alignment,
          "aligned, partly or not_aligned with the block of the file system.");
        v("session_io", s.session_io, "When it was opened, read, written and closed.");
        v("transfer_size_dist", s.transfer_size_dist,
          "The most frequent sizes of transfers, most frequent first.");
        v("read_sizes", s.read_sizes, "Reads by class of size.");
        v("write_sizes", s.write_sizes, "Writes by class of size.");
        v("volume", s.volume, "Bytes and calls.");
        v("syncs", s.syncs, "Calls that make it durable.");
    }
};

template <>
struct Fields<intent::FileIntent> {
    static constexpr std::string_view name = "file_intent";
    static void visit(auto& v, auto& s) {
        v("profiles", s.profiles, "Numbers of the profiles that have it.");
        v("naming", s.naming, "Its name with the numbers taken out.");
        v("words", s.words, "Why, what and how, in words.");
        v("session_io", s.session_io, "When it was opened, read, written and closed.");
        v("type", s.type,
          "What is done with the data: write_only, read_only, read_after_write, "
          "write_once_read_many, read_before_write, read_write or no_data.");
        v("mode", s.mode, "What the access allows: write_only, read_only, read_write or none.");
        v("created", s.created, "Whether the run made it: yes, no or not known.");
        v("append", s.append, "Whether it grows at its end: yes, no or not known.");
        v("metadata_dominated", s.metadata_dominated,
          "Whether opening, creating and describing outweigh moving data: yes, no or not known.");
        v("reuse", s.reuse, "once, re_read, rewritten, re_read_and_rewritten or not known.");
        v("order", s.order,
          "Order of the places within a process: one_transfer, sequential, strided, random, "
          "repeated, mixed or not known.");
        v("sharing_pattern", s.sharing_pattern,
          "independent (one process) or shared; of a file also file_per_process, one_writer; of a "
          "workload also serial, mixed.");
        v("how_shared", s.how_shared,
          "disjoint_blocks, interleaved, same_region, overlapping, collective or independent; not "
          "known; private where it is not shared.");
        v("collective", s.collective,
          "Collective I/O was: done, requested, not_done_though_requested, partly, not_requested "
          "or not known.");
        v("producer_consumer", s.producer_consumer,
          "producer, consumer, both, no, or not known from one profile.");
        v("reliability", s.reliability,
          "durable, recomputable or scratch: how bad it would be to lose it; durable unless there "
          "is reason to think otherwise.");
        v("process_sharing", s.process_sharing, "Ids of the processes.");
        v("fs_size", s.fs_size, "Its size.");
        v("ap_distribution", s.ap_distribution, "Datasets by type.");
        v("ds_size_dist", s.ds_size_dist, "Sizes of the datasets.");
        v("top_accessed_segments", s.top_accessed_segments,
          "The most frequent shapes, most frequent first.");
        v("transfer_size_dist", s.transfer_size_dist,
          "The most frequent sizes of transfers, most frequent first.");
        v("volume", s.volume, "Bytes and calls.");
        v("layers", s.layers, "What mpiio, posix and stdio saw.");
        v("declared", s.declared, "What was declared of it: such statements are those declared.");
    }
};

template <>
struct Fields<intent::PatternIntent> {
    static constexpr std::string_view name = "pattern_intent";
    static void visit(auto& v, auto& s) {
        v("naming", s.naming, "Its name with the numbers taken out.");
        v("name_glob", s.name_glob, "The last part of the path alone, for another folder.");
        v("files", s.files, "Files that match.");
        v("examples", s.examples, "Some of them, first those listed under `files`.");
        v("numbers", s.numbers, "What the numbers are, in order: step, rank, date, id or number.");
        v("sharing_pattern", s.sharing_pattern,
          "independent (one process) or shared; of a file also file_per_process, one_writer; of a "
          "workload also serial, mixed.");
    }
};

template <>
struct Fields<intent::Burst> {
    static constexpr std::string_view name = "burst";
    static void visit(auto& v, auto& s) {
        v("start_s", s.start_s, "Begin, in seconds since the start of the run.");
        v("end_s", s.end_s, "End.");
    }
};

template <>
struct Fields<intent::WorkloadIntent> {
    static constexpr std::string_view name = "workload_intent";
    static void visit(auto& v, auto& s) {
        v("words", s.words, "Why, what and how, in words.");
        v("type", s.type,
          "What is done with the data: write_only, read_only, read_after_write, "
          "write_once_read_many, read_before_write, read_write or no_data.");
        v("sharing_pattern", s.sharing_pattern,
          "independent (one process) or shared; of a file also file_per_process, one_writer; of a "
          "workload also serial, mixed.");
        v("metadata_dominated", s.metadata_dominated,
          "Whether opening, creating and describing outweigh moving data: yes, no, partly (its "
          "files differ) or not known.");
        v("producer_consumer", s.producer_consumer,
          "producer, consumer, both, no, or not known from one profile.");
        v("reliability", s.reliability,
          "durable, recomputable or scratch: how bad it would be to lose it; durable unless there "
          "is reason to think otherwise.");
        v("rhythm", s.rhythm,
          "once, bursts, regular_bursts, continuous or not known: the output over time.");
        v("ranks", s.ranks, "Ranks; of the largest run: the most ranks, then the most bytes.");
        v("nodes", s.nodes, "Nodes.");
        v("elapsed_s", s.elapsed_s, "Duration.");
        v("volume", s.volume, "Bytes and calls of all files listed.");
        v("layers", s.layers,
          "Bytes, calls and time of all files by layer; a layer does what those above it ask for.");
        v("files", s.files, "Files.");
        v("datasets", s.datasets, "Datasets.");
        v("interfaces", s.interfaces,
          "Libraries that were called: hdf5, pnetcdf, mpiio, posix, stdio.");
        v("bursts", s.bursts, "Pieces of time with I/O; the first 64.");
        v("patterns", s.patterns, "Files that differ in numbers only.");
    }
};

template <>
struct Fields<intent::ProfileSource> {
    static constexpr std::string_view name = "profile_source";
    static void visit(auto& v, auto& s) {
        v("path", s.path, "The profile or log.");
        v("kind", s.kind, "hook or darshan.");
        v("command", s.command, "The command line of the run.");
        v("start", s.start, "Start of the run, ISO 8601, UTC.");
        v("ranks", s.ranks, "Its ranks.");
        v("nodes", s.nodes, "Its nodes.");
        v("notes", s.notes, "What is missing or doubtful, in words.");
        v("complete", s.complete, "No: it lost something, which may yet have happened.");
    }
};

template <>
struct Fields<intent::Intents> {
    static constexpr std::string_view name = "intents";
    static void visit(auto& v, auto& s) {
        v("profiles", s.profiles, "The profiles, in the order in which the rest numbers them.");
        v("workload", s.workload, "The run as a whole.");
        v("files", s.files, "Files by path.");
        v("datasets", s.datasets, "Datasets by path of the file, a colon, path of the dataset.");
    }
};

}  // namespace tailrace::json
