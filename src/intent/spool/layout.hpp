// SPDX-License-Identifier: Apache-2.0
// The spool: what one process under a hook leaves behind. A mapped file of counters that are kept
// up to date in place, so that it is complete whenever the process ends, however it ends.
//
//   Header (4096 bytes) | record | record | ...          all numbers in the order of this machine
//
// A record begins with a Head and is a multiple of 8 bytes. Records refer to each other by their
// offset in the file (0: none) and only to earlier ones. Plain data: the hooks that write it have
// no C++ run-time library below them.
#pragma once

#include <stdint.h>

#include "intent/declare/limits.hpp"

namespace tailrace::intent::spool {

constexpr char magic[8] = {'T', 'R', 'S', 'P', 'O', 'O', 'L', '\n'};
constexpr uint32_t version = 12;
constexpr uint32_t byte_order = 0x01020304;
constexpr uint64_t header_bytes = 4096;
constexpr uint32_t most_dimensions = 32;

/// What a record is; also the index into Header::dropped.
enum Kind : uint32_t {
    kind_dead = 0,  ///< replaced by a later, larger record
    kind_text = 1,
    kind_library = 2,
    kind_file = 3,
    kind_file_name = 4,
    kind_dataset = 5,
    kind_dataset_name = 6,
    kind_transfers = 7,
    kind_shape = 8,
    kind_places = 9,
    kind_setting = 10,
    kind_filter = 11,
    kind_extents = 12,
    kind_other = 13,  ///< only in Header::dropped: calls on what found no room itself
    kind_outcome = 14,
    kind_mpiio = 16,
    kind_hint = 17,
    kind_view = 18,
    kind_posix = 19,
    kind_declared = 20,
    kind_delivered = 21,
    kind_unnamed = 22,  ///< only in Header::dropped: datasets whose name was not found in time
    kind_unnamed_of_ranks = 23,  ///< the same where all ranks would have to look together
    kinds = 24
};

/// What wrote a spool. A process may leave one of each.
enum Hook : uint32_t { hook_hdf5 = 1, hook_mpiio = 2, hook_posix = 4 };

struct Header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t used_bytes;  ///< header and complete records
    uint64_t dropped[kinds];
    uint32_t pid;
    uint32_t parent_pid;
    int32_t rank;                ///< -1: no launcher told
    int32_t ranks;               ///< -1: no launcher told
    int64_t start_wall_ns;       ///< since 1970, UTC
    int64_t start_monotonic_ns;  ///< all other times count from here
    int64_t last_ns;             ///< the last thing that was recorded
    uint32_t hooks;              ///< bits: hook_hdf5 and so on
    uint32_t inherited;          ///< 1: a fork of a process that was being recorded
    uint64_t node_memory_bytes;  ///< 0: not known
    char host[256];
    char tailrace_version[32];
};
static_assert(sizeof(Header) <= header_bytes);

struct Head {
    uint32_t kind;
    uint32_t bytes;  ///< of the whole record
};

enum TextOf : uint32_t { text_command = 1, text_program = 2, text_folder = 3, text_mpi = 4 };

/// Followed by `bytes` characters.
struct TextRecord {
    Head head;
    uint32_t of;
    uint32_t bytes;
};

/// An HDF5 library; followed by its path.
struct LibraryRecord {
    Head head;
    uint32_t version[3];
    uint32_t parallel;
    uint32_t path_bytes;
    uint32_t pad;
};

/// Objects that metadata operations are on, and the operations.
enum Object : uint32_t { on_attribute, on_group, on_link, on_dataset, on_type, on_object, objects };
enum Operation : uint32_t {
    op_create,
    op_open,
    op_read,
    op_write,
    op_delete,
    op_other,
    operations
};

struct Period {
    int64_t start_ns;  ///< 0 and 0: never
    int64_t end_ns;
};

/// The calls that collective I/O wants alike on all ranks: how many, and a hash over their order.
struct Calls {
    uint64_t calls;
    uint64_t order_hash;
};

enum Driver : uint32_t {
    driver_not_known,
    driver_sec2,
    driver_core,
    driver_mpio,
    driver_stdio,
    driver_family,
    driver_multi,
    driver_log,
    driver_direct,
    driver_subfiling,
    driver_split,
    driver_other
};  // clang-format skip

/// Followed by the path.
struct FileRecord {
    Head head;
    uint64_t opens;  ///< creates included
    uint64_t creates;
    uint64_t read_only_opens;
    uint64_t closes;
    uint64_t reopens;
    uint64_t flushes;
    uint64_t deletes;
    uint64_t failed;
    Period open;
    Period close;
    int64_t metadata_ns;
    uint64_t counts[objects][operations];
    uint64_t attribute_bytes_read;
    uint64_t attribute_bytes_written;
    Calls metadata_order;  ///< creations, opens, attributes, flushes, closes
    Calls transfer_order;  ///< reads and writes of datasets
    Calls access_order;    ///< every operation: opens, reads of attributes and questions too
    uint64_t left_open[objects];
    uint32_t driver;
    uint32_t path_bytes;
    uint32_t communicator_size;  ///< 0: not known, or no MPI below
    uint32_t incomplete;         ///< 1: datasets of it found no room, so orders say nothing
    uint64_t device;
    uint64_t inode;
    uint64_t block_bytes;  ///< of the file system; 0: not known
    int64_t system_magic;  ///< type of the file system as statfs tells; 0: not known
};

/// Another name of a file or dataset; followed by it.
struct NameRecord {
    Head head;
    uint64_t of;
    uint32_t bytes;
    uint32_t pad;
};

constexpr int32_t not_known = -1;

/// Followed by dims, largest dims and chunk (where layout is chunked), 8 bytes each; then the path.
struct DatasetRecord {
    Head head;
    uint64_t file;
    uint64_t creates;
    uint64_t opens;
    uint64_t flushes;
    Period open;
    Period close;
    uint64_t attributes;
    uint64_t attribute_bytes;
    uint64_t elements;
    uint64_t extensions;
    uint64_t type_bytes;
    int32_t type_class;
    int32_t type_order;
    int32_t type_signed;
    int32_t variable;  ///< 1: of variable length: bytes counts references, not what they lead to
    int32_t layout;
    int32_t fill_defined;
    int32_t fill_time;
    int32_t allocation;
    uint32_t rank;
    uint32_t chunk_rank;
    uint32_t path_bytes;
    uint32_t described;  ///< 0: nothing but the path is known
};

enum Direction : uint32_t { reads = 0, writes = 1 };
enum ActualMode : uint32_t {
    actual_collective,
    actual_chunk_collective,
    actual_mixed,
    actual_independent,
    actual_none,
    actual_not_known,
    actuals
};  // clang-format skip

/// All reads or all writes of a dataset. Followed by start and count of the first place and the
/// step of strided transfers (signed), `rank` numbers of 8 bytes each.
struct TransfersRecord {
    Head head;
    uint64_t dataset;
    uint32_t direction;
    uint32_t rank;
    uint64_t calls;
    uint64_t bytes;
    uint64_t elements;
    uint64_t multi;
    uint64_t whole;
    uint64_t empty;
    uint64_t failed;
    uint64_t requested_collective;
    uint64_t requested_independent;
    uint64_t actual[actuals];
    uint64_t causes[16];  ///< of not being collective, by bit
    int64_t elapsed_ns;
    Period active;
    uint64_t sequential;
    uint64_t strided;
    uint64_t random;
    uint64_t repeated;
    uint64_t chunk_changes;  ///< transfers that began in another chunk than the one before
    uint64_t order_hash;
    uint64_t direct_calls;
    uint64_t direct_bytes;
    uint64_t other_shapes;        ///< transfers of shapes that found no room
    uint64_t places_not_kept;     ///< transfers whose place is in no record of places
    uint64_t places_approximate;  ///< transfers of points, of irregular selections, of some members
    uint64_t after_own_write;     ///< reads of what this process had written
    uint64_t maybe_after_own_write;
    uint32_t first_known;   ///< 1: the first place follows
    uint16_t lives_before;  ///< how often the dataset was made anew, as far as this process knows
    uint16_t uneven;        ///< 1: those lives touched other elements each, or it is not known
};

enum Selected : uint32_t { select_all, select_hyperslab, select_points, select_irregular };

/// Followed by stride, count and block, `rank` numbers each.
struct ShapeRecord {
    Head head;
    uint64_t transfers;
    uint32_t selection;
    uint32_t rank;
    uint64_t calls;
    uint64_t call_bytes;
};

/// Regular places; followed by `capacity` times start, stride, count, block of `rank` numbers.
struct PlacesRecord {
    Head head;
    uint64_t transfers;
    uint32_t rank;
    uint32_t capacity;
    uint32_t used;
    uint32_t earlier;  ///< 1: of the lives before the last one, which were all alike
};

enum Key : uint32_t {
    key_alignment = 1,
    key_meta_block_bytes,
    key_small_data_block_bytes,
    key_sieve_bytes,
    key_chunk_cache,
    key_libver,
    key_page_buffer,
    key_space_strategy,
    key_page_bytes,
    key_userblock_bytes,
    key_collective_metadata_reads,
    key_collective_metadata_writes,
    key_memory_type_differs,  ///< seen by the hook: a transfer converts; a bit for its direction
    key_metadata_cache,       ///< first size, largest size, evictions
    key_metadata_cache_image,
    key_file_locking,
    key_evict_on_close,
    key_conversion_buffer,
    key_collective_io,
    key_chunk_io,
    key_chunk_io_chunks,
    key_chunk_io_percent,
    key_address_asked,      ///< seen by the hook: H5Dget_offset
    key_made_without_name,  ///< seen by the hook: H5Dcreate_anon
    key_behind              ///< none
};                          // clang-format skip

/// A setting of the program that is not the library's default, on a file or dataset; followed by
/// `count` numbers of 8 bytes (of `is_real` ones, in order of bits, doubles).
struct SettingRecord {
    Head head;
    uint64_t of;
    uint32_t key;
    uint32_t count;
    uint64_t real;
};

/// Followed by `count` values of 8 bytes and the name.
struct FilterRecord {
    Head head;
    uint64_t dataset;
    uint32_t id;
    uint32_t count;
    uint32_t name_bytes;
    uint32_t pad;
};

/// The extents after the calls of H5Dset_extent: the first and the last ones; `rank` numbers each.
struct ExtentsRecord {
    Head head;
    uint64_t dataset;
    uint32_t rank;
    uint32_t capacity;
    uint64_t calls;  ///< the first capacity/2 stand first, the others in a ring after them
};

/// What became of a setting of a plan.
enum Became : uint32_t {
    became_applied = 1,
    became_kept,         ///< the program's own setting stays
    became_misfit,       ///< it does not fit there
    became_held,         ///< a guard
    became_refused,      ///< the library did not take it
    became_disagreed,    ///< the ranks have not the same plan
    became_unavailable,  ///< the HDF5 or the MPI has no such thing
    became_unmatched,    ///< no setting: a file or dataset that no pattern of the plan is for
    became_met,          ///< no setting: a file that the plan has something for
    became_failed,       ///< a call of the program failed because of it
    becames
};  // clang-format skip

/// One setting at one place, and how often; followed by rule, name of the setting (of a hint:
/// hint.NAME), file, dataset, value and reason, `bytes` characters each.
struct OutcomeRecord {
    Head head;
    uint64_t count;
    uint32_t became;
    uint32_t bytes[6];
    uint32_t pad;
};

/// What reads of a dataset have given to the program; followed by file and dataset, `text_bytes`
/// characters each.
struct DeliveredRecord {
    Head head;
    uint64_t calls;
    uint64_t bytes;
    uint64_t sum;         ///< of the hashes of all calls, modulo 2^64: in whatever order they came
    uint64_t not_hashed;  ///< calls of which it is not known what they gave
    uint32_t text_bytes[2];
};

/// Who declares.
enum DeclaredBy : uint32_t {
    declared_on_list = 1,  ///< a property list of the program
    declared_in_context,   ///< the program, for files by pattern
    declared_in_environment,
    declared_in_file,  ///< that the environment names
    declared_bys
};

/// What is declared of the file or dataset at `of`; 0: of all that match. Followed by `bytes`
/// characters of JSON, in files with their name in front and a zero byte.
struct DeclaredRecord {
    Head head;
    uint64_t of;
    uint32_t by;
    uint32_t bytes;
};
constexpr uint32_t most_declared_bytes = declare::most_list_bytes;  ///< of one file or dataset
constexpr uint32_t most_declared_in_environment = declare::most_document_bytes;  ///< or in a file

}  // namespace tailrace::intent::spool
