// SPDX-License-Identifier: Apache-2.0
// Keys of a dataset of a profile. Internal to src/intent.
#pragma once

#include "core/json/fields.hpp"
#include "intent/profile/run_fields.hpp"

namespace tailrace::json {

template <>
struct Names<intent::Interface> {
    static constexpr std::pair<intent::Interface, std::string_view> all[] = {
        {intent::Interface::hdf5, "hdf5"},
        {intent::Interface::pnetcdf, "pnetcdf"},
    };
};

template <>
struct Names<intent::Selection> {
    static constexpr std::pair<intent::Selection, std::string_view> all[] = {
        {intent::Selection::all, "all"},
        {intent::Selection::hyperslab, "hyperslab"},
        {intent::Selection::points, "points"},
        {intent::Selection::irregular, "irregular"},
        {intent::Selection::not_known, "not known"},
    };
};

template <>
struct Fields<intent::ElementType> {
    static constexpr std::string_view name = "element_type";
    static void visit(auto& v, auto& s) {
        v("class", s.type_class,
          "Class of the type: integer, float, string, compound, ...; empty: not known.");
        v("bytes", s.bytes, "Size of one element in the file.");
        v("name", s.name, "Name of the type, for example f64le.");
        v("variable_length", s.variable_length,
          "Elements are lists or texts of any length, which lie elsewhere in the file.");
    }
};

template <>
struct Fields<intent::Filter> {
    static constexpr std::string_view name = "filter";
    static void visit(auto& v, auto& s) {
        v("id", s.id, "Registered number of the filter.");
        v("name", s.name, "Its name; empty: not known.");
        v("values", s.values, "Its parameters.");
    }
};

template <>
struct Fields<intent::Fill> {
    static constexpr std::string_view name = "fill";
    static void visit(auto& v, auto& s) {
        v("defined", s.defined, "undefined, default or user.");
        v("time", s.time, "When fill values are written: alloc, never or ifset.");
    }
};

template <>
struct Fields<intent::Shape> {
    static constexpr std::string_view name = "shape";
    static void visit(auto& v, auto& s) {
        v("selection", s.selection, "Kind of the selection.");
        v("length", s.length, "Elements taken per dimension (count * block).");
        v("stride", s.stride, "Distance between blocks per dimension, in elements.");
        v("count", s.count, "Blocks per dimension.");
        v("block", s.block, "Elements of a block per dimension.");
        v("calls", s.calls, "Transfers of this shape.");
        v("call_bytes", s.call_bytes, "Bytes of one such transfer.");
    }
};

template <>
struct Fields<intent::Actual> {
    static constexpr std::string_view name = "actual";
    static void visit(auto& v, auto& s) {
        v("collective", s.collective, "Collective, contiguous.");
        v("chunk_collective", s.chunk_collective, "Collective, chunked.");
        v("mixed", s.mixed, "Chunks in part collective, in part independent.");
        v("independent", s.independent, "Independent in the end.");
        v("none", s.none, "No I/O.");
        v("not_known", s.not_known, "Not known.");
    }
};

template <>
struct Fields<intent::Order> {
    static constexpr std::string_view name = "order";
    static void visit(auto& v, auto& s) {
        v("sequential", s.sequential, "Transfers that began where the one before ended.");
        v("strided", s.strided, "Transfers at a constant step from the one before.");
        v("random", s.random, "Transfers at any other place.");
        v("repeated", s.repeated, "Transfers of the same place once more.");
        v("step", s.step,
          "The constant step of the strided ones, per dimension (bytes for a file).");
        v("chunk_changes", s.chunk_changes,
          "Transfers that began in another chunk than the one before (datasets in chunks).");
    }
};

template <>
struct Fields<intent::CoveredBox> {
    static constexpr std::string_view name = "place";
    static void visit(auto& v, auto& s) {
        v("start", s.start, "First element per dimension.");
        v("count", s.count, "Elements per dimension.");
    }
};

template <>
struct Fields<intent::Coverage> {
    static constexpr std::string_view name = "coverage";
    static void visit(auto& v, auto& s) {
        v("elements_distinct", s.elements_distinct, "Elements touched at least once.");
        v("full", s.full, "Whether every element was touched; only said where proven.");
        v("boxes", s.boxes, "What was touched, where that is few boxes.");
    }
};

template <>
struct Fields<intent::ProcessShare> {
    static constexpr std::string_view name = "process_share";
    static void visit(auto& v, auto& s) {
        v("process", s.process, "Id of the process.");
        v("calls", s.calls, "Its transfers.");
        v("bytes", s.bytes, "Bytes it moved.");
        v("first", s.first, "Place of its first transfer.");
        v("order_hash", s.order_hash, "Hash over the places in their order.");
    }
};

template <>
struct Fields<intent::Transfers> {
    static constexpr std::string_view name = "transfers";
    static constexpr bool is_likened = true;
    static void visit(auto& v, auto& s) {
        v("calls", s.calls, "Transfers, those of multi-dataset calls included.");
        v("bytes", s.bytes, "Bytes moved, in the type of the file.");
        v("elements", s.elements, "Elements moved.");
        v("multi", s.multi, "Transfers that were part of a multi-dataset call.");
        v("whole", s.whole, "Transfers of the whole dataset.");
        v("empty", s.empty, "Transfers of no element.");
        v("failed", s.failed, "Transfers that failed; their bytes do not count.");
        v("sizes", s.sizes, "Transfers by class of size.");
        v("requested_collective", s.requested_collective,
          "Transfers for which the program asked for collective I/O.");
        v("requested_independent", s.requested_independent, "Transfers for which it did not.");
        v("actual", s.actual, "How they were really done.");
        v("no_collective_causes", s.no_collective_causes,
          "Why not collective, by the library's name of the cause.");
        v("elapsed_s", s.elapsed_s, "Time in these calls, all processes together.");
        v("active", s.active, "From the begin of the first transfer to the end of the last.");
        v("shapes", s.shapes, "The most frequent shapes, most frequent first.");
        v("order", s.order, "How the place of each transfer follows from the one before.");
        v("coverage", s.coverage, "Which part of the dataset was touched.");
        v("by_process", s.by_process, "Shares of the processes; of a big run only the first ones.");
        v("processes", s.processes, "Processes that made such transfers, all of them.");
        v("even", s.even, "Whether each of them made as many transfers of as many bytes.");
    }
};

template <>
struct Fields<intent::ReadAfterWrite> {
    static constexpr std::string_view name = "read_after_write";
    static void visit(auto& v, auto& s) {
        v("any", s.any, "Data was read after it had been written, in this run.");
        v("same_process", s.same_process, "By the process that had written.");
        v("other_processes", s.other_processes, "By another process.");
    }
};

template <>
struct Fields<intent::DirectChunks> {
    static constexpr std::string_view name = "direct_chunks";
    static void visit(auto& v, auto& s) {
        v("calls", s.calls, "Calls of H5Dwrite_chunk or H5Dread_chunk.");
        v("bytes", s.bytes, "Bytes stored or fetched, as they lie in the file.");
    }
};

template <>
struct Fields<intent::Extensions> {
    static constexpr std::string_view name = "extensions";
    static void visit(auto& v, auto& s) {
        v("calls", s.calls, "Calls of H5Dset_extent.");
        v("sequence", s.sequence, "Extents after the first and the last calls.");
    }
};

template <>
struct Fields<intent::Attributes> {
    static constexpr std::string_view name = "attributes";
    static void visit(auto& v, auto& s) {
        v("count", s.count, "Attributes created or opened.");
        v("bytes", s.bytes, "Bytes of their values.");
    }
};

template <>
struct Fields<intent::Declared> {
    static constexpr std::string_view name = "declared";
    static void visit(auto& v, auto& s) {
        v("from", s.from,
          "Where it was declared: property_list, context_manager, command_line, file or "
          "environment.");
        v("processes", s.processes, "Ids of the processes that declared it.");
        v("intents", s.intents, "What was declared: keys and values of docs/user/declare.md.");
    }
};

template <>
struct Fields<intent::Dataset> {
    static constexpr std::string_view name = "dataset";
    static constexpr bool is_likened = true;
    static void visit(auto& v, auto& s) {
        v("path", s.path, "Path within the file, from /, one slash between names.");
        v.like(
            "Number of an earlier dataset of the list, from 0: keys that are not here, and not in "
            "reads and writes here, are as they are there; null: it has none. Of many datasets.");
        v("names", s.names, "Other names under which a source knew it.");
        v("interface", s.interface, "The library that the program called for it.");
        v("processes", s.processes, "Ids of the processes that opened it, as \"0-39,41\".");
        v("type", s.type, "Type of the elements in the file.");
        v("ndims", s.ndims, "Number of dimensions.");
        v("elements", s.elements, "Elements of the whole extent.");
        v("dims", s.dims, "Extents, slowest dimension first.");
        v("max_dims", s.max_dims, "Largest extents; null: unlimited.");
        v("chunk", s.chunk, "Extents of a chunk.");
        v("layout", s.layout, "contiguous, chunked, compact or virtual.");
        v("filters", s.filters, "Filters in the order in which they are applied.");
        v("fill", s.fill, "Fill value settings.");
        v("allocation", s.allocation, "early, late or incremental.");
        v("creates", s.creates, "Calls that created it.");
        v("opens", s.opens, "Calls that opened it, creations included.");
        v("flushes", s.flushes, "Calls of H5Dflush.");
        v("open", s.open, "From the begin of the first open or create to the end of the last.");
        v("close", s.close, "From the begin of the first close to the end of the last.");
        v("settings_of_program", s.settings_of_program,
          "Settings on its lists that differ from the library's defaults.");
        v("reads", s.reads, "All reads.");
        v("writes", s.writes, "All writes.");
        v("shapes", s.shapes,
          "Shapes of reads and writes together, where the source does not part them.");
        v("selections", s.selections, "Transfers by kind of selection, reads and writes together.");
        v("requested_collective", s.requested_collective,
          "Whether any transfer asked for collective I/O, where the source does not count them.");
        v("fastest", s.fastest, "The process that needed the least time.");
        v("slowest", s.slowest, "The process that needed the most.");
        v("read_after_write", s.read_after_write,
          "Whether what was read had been written by this run.");
        v("direct_chunk_reads", s.direct_chunk_reads, "Reads of stored chunks.");
        v("direct_chunk_writes", s.direct_chunk_writes, "Writes of stored chunks.");
        v("extensions", s.extensions, "Growth of the extent.");
        v("attributes", s.attributes, "Attributes of the dataset.");
        v("declared", s.declared, "What the program, or somebody for it, declares of it.");
    }
};

}  // namespace tailrace::json
