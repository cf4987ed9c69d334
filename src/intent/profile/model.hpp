// SPDX-License-Identifier: Apache-2.0
// What a run of a program did with its files: the profile, as data. Whatever a source cannot know
// is absent, never 0. Times are seconds since the start of the run. The JSON of it, with a
// sentence on each key: schemas/profile-1.schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "intent/profile/process_set.hpp"

namespace tailrace::intent {

using Count = std::optional<std::uint64_t>;
using Seconds = std::optional<double>;
using Known = std::optional<bool>;  ///< yes, no, or not known
using Extents = std::vector<std::uint64_t>;
using Counts = std::map<std::string, std::uint64_t>;
using Texts = std::map<std::string, std::string>;
/// The value of a setting that a program made itself.
using Setting = std::variant<bool, std::uint64_t, double, std::string, Extents>;
using Settings = std::map<std::string, Setting>;

/// What was declared of a file or dataset, by whom: checked keys and values of intent/declare.
struct Declared {
    std::string from;  ///< property_list, context_manager, command_line, file, environment
    ProcessSet processes;
    Settings intents;
};

/// From the beginning of the first to the end of the last.
struct Span {
    double start_s = 0, end_s = 0;
};

struct SizeClass {
    std::uint64_t from_bytes = 0;
    Count below_bytes;  ///< absent: no upper bound
    std::uint64_t calls = 0;
};
struct FrequentSize {
    std::uint64_t bytes = 0, calls = 0;
};
struct FrequentStride {
    std::uint64_t bytes = 0, calls = 0;
};

/// The process that needed the least or the most time.
struct Extreme {
    std::uint64_t process = 0;
    Count bytes;
    Seconds elapsed_s;
};

// --- the run ------------------------------------------------------------------------------------
enum class OriginKind { hook, darshan };
struct Source {
    std::string path, kind;          ///< kind: "spool", "darshan"
    std::string sha256;              ///< empty: not known
    std::vector<std::string> parts;  ///< Darshan: the modules that the log holds
};
struct Origin {
    OriginKind kind = OriginKind::hook;
    std::string command, version, start;  ///< version: of what recorded; start: ISO 8601, UTC
    std::vector<Source> sources;
    Counts dropped;                  ///< by kind: what was seen but not kept
    std::vector<std::string> notes;  ///< what is missing or truncated, in words
};
struct Process {
    std::uint64_t id = 0;
    Count rank, pid, parent_pid;
    std::optional<std::string> host, program, hdf5_version, mpi_version;
    Seconds start_s, end_s;
};
struct FileSystem {
    std::string folder, type;
    Count block_bytes;
};
/// Bytes moved per piece of time, all processes together.
struct Timeline {
    std::string layer;
    double bin_s = 0;
    std::vector<std::uint64_t> read_bytes, written_bytes;
};
struct Run {
    Seconds elapsed_s;
    Seconds command_s;  ///< as the one who started it saw it; elapsed_s: as its processes did
    Count ranks, nodes, node_memory_bytes;
    std::vector<Process> processes;
    std::vector<FileSystem> file_systems;
    std::vector<Timeline> timelines;
};

// --- one dataset --------------------------------------------------------------------------------
enum class Interface { hdf5, pnetcdf };
struct ElementType {
    std::string type_class;  ///< "integer", "float", ...; empty: not known
    Count bytes;
    std::optional<std::string> name;
    Known variable_length = {};  ///< bytes is then of what leads to the content
};
struct Filter {
    std::uint64_t id = 0;
    std::string name;
    std::vector<std::uint64_t> values;
};
struct Fill {
    std::optional<std::string> defined, time;  ///< undefined|default|user; alloc|never|ifset
};
enum class Selection { all, hyperslab, points, irregular, not_known };
/// One shape of a transfer; per dimension, slowest first, in elements.
struct Shape {
    Selection selection = Selection::not_known;
    Extents length, stride, count, block;
    std::uint64_t calls = 0;
    Count call_bytes;  ///< of one call
};
struct Actual {
    Count collective, chunk_collective, mixed, independent, none, not_known;
};
/// How the place of a transfer follows from that of the one before it in the same process.
struct Order {
    Count sequential, strided, random, repeated;
    std::vector<std::int64_t> step{};  ///< the constant step of the strided ones, per dimension
    Count chunk_changes = {};          ///< of a dataset in chunks
};
struct CoveredBox {
    Extents start, count;
};
struct Coverage {
    Count elements_distinct;
    Known full;  ///< every element was touched; only said where proven
    std::vector<CoveredBox> boxes;
};
struct ProcessShare {
    std::uint64_t process = 0;
    Count calls, bytes;
    std::optional<CoveredBox> first;
    std::optional<std::string> order_hash;
};
/// All reads, or all writes, of one dataset.
struct Transfers {
    Count calls, bytes, elements, multi, whole, empty, failed;
    std::vector<SizeClass> sizes;
    Count requested_collective, requested_independent;
    std::optional<Actual> actual;
    Counts no_collective_causes;
    Seconds elapsed_s;
    std::optional<Span> active;
    std::vector<Shape> shapes;
    std::optional<Order> order;
    std::optional<Coverage> coverage;
    std::vector<ProcessShare> by_process;
    Count processes;
    Known even;
};
struct ReadAfterWrite {
    Known any{}, same_process{}, other_processes{};
};
struct DirectChunks {
    Count calls, bytes;
};
struct Extensions {
    Count calls;
    std::vector<Extents> sequence;  ///< the first and the last few
};
struct Attributes {
    Count count, bytes;
};
struct Dataset {
    std::string path;                ///< "/a/b"
    std::vector<std::string> names;  ///< other names under which a source knew it
    Interface interface = Interface::hdf5;
    ProcessSet processes;
    std::optional<ElementType> type;
    Count ndims, elements;
    Extents dims;
    std::vector<Count> max_dims;  ///< absent: unlimited
    Extents chunk;
    std::optional<std::string> layout;  ///< contiguous|chunked|compact|virtual
    std::vector<Filter> filters;
    std::optional<Fill> fill;
    std::optional<std::string> allocation;  ///< early|late|incremental
    Count creates, opens, flushes;
    std::optional<Span> open, close;
    Settings settings_of_program;
    std::optional<Transfers> reads, writes;
    std::vector<Shape> shapes;  ///< of reads and writes together, where a source does not part them
    Counts selections;          ///< by Selection, reads and writes together
    Known requested_collective;  ///< of any transfer, where a source does not count them
    std::optional<Extreme> fastest, slowest;
    std::optional<ReadAfterWrite> read_after_write;
    std::optional<DirectChunks> direct_chunk_reads, direct_chunk_writes;
    std::optional<Extensions> extensions;
    std::optional<Attributes> attributes;
    std::vector<Declared> declared;
};

// --- one file -----------------------------------------------------------------------------------
struct Operations {
    Count create, open, read, write, remove, other, bytes;
};
/// Processes that made the same calls in the same order.
struct CallOrder {
    ProcessSet processes;
    std::uint64_t calls = 0;
    std::string order_hash;
};
struct Hdf5File {
    Count opens, creates, read_only_opens, flushes, reopens, deletes, failed_calls;
    Count communicator_size;
    std::optional<Span> open, close;
    std::optional<std::string> driver;
    Known mpio;
    Settings settings_of_program;
    std::map<std::string, Operations> metadata;  ///< attribute, group, link, dataset, type
    Seconds metadata_s;
    std::vector<CallOrder> call_orders, transfer_orders, access_orders;
    Known same_order, same_transfer_order, same_access_order;
    Counts left_open;
};
constexpr std::size_t most_ranges = 64;  ///< that a profile keeps of one file
/// What one process touched of a shared file, from the first byte to before `end_byte`.
struct ByteRange {
    std::uint64_t process = 0;
    std::uint64_t calls = 0, bytes = 0;
    std::uint64_t first_byte = 0, end_byte = 0;
};
struct MpiioTransfers {
    Count independent, collective, nonblocking, split, explicit_offset, shared, ordered, bytes;
    Count nonblocking_collective, failed;
    Count placed, not_placed, in_pieces, irregular_pieces, highest_byte;
    std::vector<SizeClass> sizes;
    std::vector<FrequentSize> frequent;
    Count largest_bytes;
    std::optional<Order> order;
    std::vector<ByteRange> ranges;
    Seconds elapsed_s;
    std::optional<Span> active;
};
/// One kind of view that a program sets.
struct MpiioView {
    std::string filetype;  ///< "basic", "vector", "subarray", ...
    Count etype_bytes, filetype_bytes, filetype_extent_bytes;
    std::uint64_t displacement_bytes = 0;  ///< of the first one
    std::uint64_t calls = 0;
};
struct MpiioFile {
    Count collective_opens, independent_opens, append_opens, appended;
    Known create_mode;  ///< any open gave MPI_MODE_CREATE, that the source tells of
    std::optional<std::string> implementation;  ///< of Open MPI's two: "OMPIO" or "ROMIO"
    Count views, syncs, communicator_size;
    Count set_sizes, preallocations;
    Count size_bytes;  ///< before its last close, where it was asked for
    std::vector<MpiioView> view_kinds;
    Texts hints_given, hints_in_force;
    std::optional<MpiioTransfers> reads, writes;
    std::vector<FrequentSize> frequent;  ///< reads and writes together
    std::optional<Span> open, close;
    Seconds metadata_s;
    Count read_write_switches;
};
struct PosixTransfers {
    Count calls, bytes, failed, consecutive, sequential, highest_byte;
    std::vector<SizeClass> sizes;
    std::vector<FrequentSize> frequent;
    std::optional<Order> order;
    std::vector<ByteRange> ranges;
    Seconds elapsed_s;
    std::optional<Span> active;
};
struct PosixFile {
    Count opens, failed_opens, seeks, stats, syncs, maps, renames, read_write_switches;
    Count not_aligned_in_file, not_aligned_in_memory, file_alignment_bytes, memory_alignment_bytes;
    std::optional<PosixTransfers> reads, writes;
    std::vector<FrequentSize> frequent;   ///< reads and writes together
    std::vector<FrequentStride> strides;  ///< reads and writes together
    std::optional<Span> open, close;
    Seconds metadata_s;
    std::optional<Extreme> fastest, slowest;
    Known append;       ///< opened so that each write goes to the end
    Known create_mode;  ///< any open gave O_CREAT
};
struct PnetcdfFile {
    Count creates, opens, redefinitions, independent_waits, collective_waits, syncs;
    Count bytes_read, bytes_written;
    std::optional<Span> open, close;
};
struct Lustre {
    Count stripe_count, stripe_bytes;
    std::vector<std::uint64_t> osts;
};
struct File {
    std::string path;
    std::vector<std::string> names;  ///< as the program wrote it, where that differs
    ProcessSet processes;
    std::optional<Hdf5File> hdf5;
    std::optional<MpiioFile> mpiio;
    std::optional<PosixFile> posix, stdio;
    std::optional<PnetcdfFile> pnetcdf;
    std::optional<Lustre> lustre;
    Count touched_bytes;  ///< by system calls that are not kept otherwise: behind the last byte
    Count writers;        ///< processes whose system calls wrote, of those
    Known written_as_asked{};  ///< each process wrote what it asked MPI-IO for, in as few calls
    Count stored_bytes;        ///< where it lies, when the profile was made
    std::vector<Declared> declared;
    std::vector<Dataset> datasets;
};

struct Profile {
    Origin origin;
    Run run;
    std::vector<File> files;
};

}  // namespace tailrace::intent
