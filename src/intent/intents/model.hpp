// SPDX-License-Identifier: Apache-2.0
// What a program intends with its files, as far as its profiles show: the intents, as data. Field
// names are those of the published H5Intent where it has one; every statement carries the numbers
// it rests on and how sure it is. The JSON of it: schemas/intents-1.schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intent/profile/model.hpp"

namespace tailrace::intent {

/// declared; counted or proven; follows from sums or times; guessed.
enum class Confidence { full, high, medium, low };

/// One number that a statement rests on.
struct Evidence {
    std::string name;  ///< "bytes_written"
    Setting value;
    std::string unit;  ///< "bytes", "calls", "s", "1"; empty: a text
    std::string from;  ///< "hdf5", "mpiio", "posix", "stdio", "pnetcdf", "path", "run"
    std::uint64_t profile = 0;
};
/// What one of several profiles says.
struct Variant {
    std::uint64_t profile = 0;
    std::string value;
};
struct Statement {
    std::string value = "not known";
    Confidence confidence = Confidence::low;
    std::vector<Evidence> evidence;
    bool changes = false;  ///< the profiles do not agree
    std::vector<Variant> by_profile;
    std::vector<std::uint64_t> said_by;  ///< while profiles are joined, where not all say something
};

struct Session {
    std::optional<Span> open_timestamp, close_timestamp, read_timestamp, write_timestamp;
};
/// The most frequent shapes of transfers; per dimension, slowest first, in elements.
struct Segment {
    Selection selection = Selection::not_known;
    Extents length, stride, block;
    std::uint64_t count = 0;               ///< transfers
    Count access_bytes;                    ///< of one transfer
    std::optional<std::string> direction;  ///< read, write: where it is of one of several programs
};
struct TransferSize {
    std::uint64_t bytes = 0, calls = 0;
    Count elements;
};
struct Amount {
    std::uint64_t bytes = 0;
    std::string from;     ///< what it was computed from
    Known at_least = {};  ///< it may be more: not all places are known
};
struct SizeSummary {
    std::uint64_t count = 0, sum_bytes = 0, smallest_bytes = 0, largest_bytes = 0;
};
/// Bytes and calls of one object.
struct Volume {
    Count bytes_read{}, bytes_written{}, read_calls{}, write_calls{};
    Seconds read_s{}, write_s{};
    std::vector<std::string> layers{};  ///< whose calls these are, of each file those of one
};
/// In words, for a person.
struct Words {
    std::string why, what, how;
};
/// The object's name, and the names that its like will have in the next run.
struct Naming {
    std::string pattern;  ///< "/run_{date}/rank_{rank}.h5"
    std::string glob;     ///< the same for fnmatch
};

/// Something that was declared, and what the profile has against it.
struct DeclaredIntent {
    std::string name;
    Setting value;
    std::string from;  ///< "property_list", "context_manager", "command_line", ...
    std::uint64_t profile = 0;
    std::optional<std::string> contradiction;  ///< in words; nothing where there is none
};

struct DatasetIntent {
    std::string filename, dataset_name;
    std::vector<std::uint64_t> profiles;
    Naming naming;  ///< of the dataset within its file
    Words words;
    Interface interface = Interface::hdf5;
    Count ndims, elements, element_bytes, sequence;
    Extents dims, chunk;
    std::optional<std::string> layout;
    std::vector<std::string> filters;
    Session session_io;
    Statement type, mode, append, reuse, order, sharing_pattern, how_shared, collective;
    Statement full_coverage, producer_consumer, reliability;
    std::vector<Segment> top_accessed_segments;
    std::vector<TransferSize> transfer_size_dist;
    ProcessSet process_sharing;
    std::optional<Amount> fs_size;
    Volume volume;
    std::vector<DeclaredIntent> declared;
};

/// What the layers below HDF5 saw of a file.
struct LayerIntent {
    Statement type, order, how_shared, collective, alignment;
    Session session_io;
    std::vector<TransferSize> transfer_size_dist;
    std::vector<SizeClass> read_sizes, write_sizes;
    Volume volume;
    Count syncs;
};
struct FileIntent {
    std::vector<std::uint64_t> profiles;
    Naming naming;
    Words words;
    Session session_io;
    Statement type, mode, created, append, metadata_dominated, reuse, order, sharing_pattern;
    Statement how_shared, collective, producer_consumer, reliability;
    ProcessSet process_sharing;
    std::optional<Amount> fs_size;
    Counts ap_distribution;  ///< datasets by type
    SizeSummary ds_size_dist;
    std::vector<Segment> top_accessed_segments;
    std::vector<TransferSize> transfer_size_dist;
    Volume volume;
    std::map<std::string, LayerIntent> layers;
    std::vector<DeclaredIntent> declared;
};

/// Files that differ in numbers only.
struct PatternIntent {
    Naming naming;
    std::string name_glob;  ///< of the last part of the path alone, for another folder
    std::uint64_t files = 0;
    std::vector<std::string> examples;
    std::vector<std::string> numbers;  ///< what its numbers are, in order
    Statement sharing_pattern;
};
/// A piece of time with output or input, and none before and after it.
struct Burst {
    double start_s = 0, end_s = 0;
};
struct WorkloadIntent {
    Words words;
    Statement type, sharing_pattern, metadata_dominated, producer_consumer, reliability, rhythm;
    Count ranks, nodes;
    Seconds elapsed_s;
    Volume volume;
    std::map<std::string, Volume> layers;  ///< of all files, by layer: one stands above the other
    std::uint64_t files = 0, datasets = 0;
    std::vector<std::string> interfaces;
    std::vector<Burst> bursts;
    std::vector<PatternIntent> patterns;
};
/// A profile that the intents were derived from.
struct ProfileSource {
    std::string path, kind, command, start;
    Count ranks, nodes;
    std::vector<std::string> notes;
    Known complete;  ///< no: what it did not see may yet have happened
};

struct Intents {
    std::vector<ProfileSource> profiles;
    WorkloadIntent workload;
    std::map<std::string, FileIntent> files;        ///< by path
    std::map<std::string, DatasetIntent> datasets;  ///< by "path:dataset"
};

}  // namespace tailrace::intent
