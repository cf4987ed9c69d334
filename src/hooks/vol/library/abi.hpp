// SPDX-License-Identifier: Apache-2.0
// What passes between a VOL connector and libhdf5, in our own words and only as far as the
// connector looks at it (docs/decisions/0005-the-hdf5-connector.md). Everything else goes through
// as a pointer that is not looked into. check_abi.cpp holds each size and offset against HDF5's own
// headers wherever those are there.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tailrace::hooks::vol::abi {

using Id = int64_t;     ///< an identifier; negative: none
using Status = int;     ///< negative: failure
using Size = uint64_t;  ///< extents and offsets
constexpr Id default_list = 0;
constexpr Id invalid_id = -1;

// What stands in the place of a dataspace.
constexpr Id space_all = 0;
constexpr Id space_block = 1;    ///< in memory, as many elements as the file's selection
constexpr Id space_in_list = 2;  ///< the selection stands in the transfer list

constexpr int extent_null = 2;  ///< no data
constexpr int select_none = 0;
constexpr int select_points = 1;
constexpr int select_hyperslabs = 2;
constexpr int select_all = 3;

constexpr int layout_compact = 0;
constexpr int layout_contiguous = 1;
constexpr int layout_chunked = 2;
constexpr int layout_virtual = 3;
constexpr uint64_t strategy_page = 1;  ///< of file space
constexpr int fill_undefined = 0;
constexpr int fill_default = 1;  ///< zeros
constexpr int fill_if_set = 2;   ///< the fill time

constexpr int class_integer = 0;
constexpr int class_float = 1;
constexpr int class_string = 3;
constexpr int class_bitfield = 4;
constexpr int class_opaque = 5;
constexpr int class_compound = 6;
constexpr int class_reference = 7;
constexpr int class_enum = 8;
constexpr int class_vlen = 9;
constexpr int class_array = 10;

// What kind of object an identifier or a location stands for.
constexpr int kind_file = 1;
constexpr int kind_group = 2;
constexpr int kind_datatype = 3;
constexpr int kind_dataset = 5;
constexpr int kind_attribute = 7;

/// Where an object is, seen from another one.
struct Location {
    int object_kind;
    int way;  ///< one of way_*
    union {
        struct {
            const char* name;
            Id access;
        } by_name;
        struct {
            const char* group;
            int index;
            int order;
            Size number;
            Id access;
        } by_index;
        const void* token;
    };
};
constexpr int way_self = 0;
constexpr int way_name = 1;
constexpr int way_token = 3;

/// An operation that not every connector has: its number, and arguments that only who offers it
/// knows.
struct Optional {
    int operation;
    void* arguments;
};

/// Operations of a dataset that HDF5's own connector offers, and their arguments.
constexpr int native_chunk_storage_bytes = 2;
constexpr int native_chunk_at = 5;
constexpr int native_chunk_read = 6;
constexpr int native_chunk_write = 7;
constexpr int native_address = 9;  ///< of a contiguous dataset, in its file
struct ChunkWrite {
    const Size* offset;
    uint32_t filters;
    uint32_t pad;
    uint64_t bytes;  ///< 1.14: 32 bits, in the same place
    const void* buffer;
};
struct ChunkRead {
    const Size* offset;
    uint32_t filters;
    uint32_t pad;
    void* buffer;
};
struct ChunkStorage {
    const Size* offset;
    Size* bytes;
};
struct ChunkAt {
    const Size* offset;
    unsigned* filters;  ///< a bit for each that was left out
    uint64_t* address;  ///< all bits: it is not stored
    Size* bytes;
};

/// The file below a driver: for MPI-IO a pointer to its MPI_File.
constexpr int native_file_handle = 9;
constexpr int native_file_get_atomicity = 26;
constexpr int native_file_set_atomicity = 27;
struct FileHandle {
    Id access;
    void** handle;
};

/// What H5Pset_fapl_subfiling takes.
struct SubfilingConfig {
    uint32_t magic;
    uint32_t version;
    Id concentrator_access;
    bool needs_concentrator;
    struct Shared {
        int selection;  ///< of concentrators
        int64_t stripe_bytes;
        int32_t stripes;
    } shared;
};
constexpr uint32_t subfiling_version = 1;

struct AttributeGet {
    int operation;  ///< one of attribute_get_*
    union {
        Size* bytes;
    };
};
constexpr int attribute_get_bytes = 4;

struct AttributeSpecific {
    int operation;  ///< one of attribute_*
};
constexpr int attribute_delete = 0;
constexpr int attribute_delete_by_index = 1;
constexpr int attribute_rename = 4;

struct DatasetGet {
    int operation;  ///< one of dataset_get_*
    union {
        Id id;  ///< out
    };
};
constexpr int dataset_get_access = 0;
constexpr int dataset_get_creation = 1;
constexpr int dataset_get_space = 2;
constexpr int dataset_get_type = 5;

struct DatasetSpecific {
    int operation;  ///< one of dataset_*
    union {
        const Size* extent;
        Id flushed;  ///< of the dataset; only a program's own callback is told
    };
};
constexpr int dataset_set_extent = 0;
constexpr int dataset_flush = 1;
constexpr int dataset_refresh = 2;

struct FileGetName {
    int operation;
    alignas(8) int object_kind;
    size_t buffer_bytes;
    char* buffer;
    size_t* name_bytes;
};
constexpr int file_get_name = 5;
struct FileGetAccess {
    int operation;
    alignas(8) Id list;  ///< out
};
constexpr int file_get_access = 1;
struct FileGetIntent {
    int operation;
    alignas(8) unsigned* flags;
};
constexpr int file_get_intent = 4;

struct FileSpecific {
    int operation;  ///< one of file_*
    union {
        struct {
            void** file;
        } reopen;
        struct {
            const char* name;
            Id access;
            bool* accessible;
        } is_accessible;
        struct {
            const char* name;
            Id access;
        } del;
    };
};
constexpr int file_flush = 0;
constexpr int file_reopen = 1;
constexpr int file_is_accessible = 2;
constexpr int file_delete = 3;

struct GroupSpecific {
    int operation;  ///< one of group_*
    struct {
        const char* name;
        void* child;
        Id list;
    } mount;
};
constexpr int group_mount = 0;

struct LinkCreate {
    int operation;  ///< one of link_create_*
    struct {
        void* object;
        Location location;
    } hard;
};
constexpr int link_create_hard = 0;

struct LinkInfo {
    int type;
    bool order_known;
    int64_t order;
    int charset;
    alignas(8) unsigned char token[16];  ///< of hard links
};
constexpr int link_hard = 0;
/// More than 0: enough.
using LinkVisit = Status (*)(Id, const char* name, const LinkInfo*, void* data);

struct LinkSpecific {
    int operation;  ///< one of link_*
    struct {
        bool recursive;
        int index;
        int order;
        Size* at;
        LinkVisit visit;
        void* data;
    } iterate;
};
constexpr int link_delete = 0;
constexpr int link_iterate = 2;

struct ObjectGetName {
    int operation;
    size_t buffer_bytes;
    char* buffer;
    size_t* name_bytes;
};
constexpr int object_get_name = 1;

/// What identifies an object: the number of its file and its token. The library writes more behind.
struct ObjectInfo {
    unsigned long file_number;
    unsigned char token[16];
    int type;
    unsigned references;
    uint64_t rest[29];
};
struct ObjectGetInfo {
    int operation;
    alignas(8) unsigned fields;
    ObjectInfo* info;
};
constexpr int object_get_info = 3;
constexpr unsigned object_info_basic = 1;

struct ObjectSpecific {
    int operation;
};
constexpr int object_flush = 4;
constexpr int object_refresh = 5;

struct RequestSpecific {
    int operation;
};

// --- the table of callbacks that a connector hands to the library -------------------------------
struct Connector;

struct InfoCalls {
    size_t bytes;
    void* (*copy)(const void*);
    Status (*compare)(int*, const void*, const void*);
    Status (*free)(void*);
    Status (*to_text)(const void*, char**);
    Status (*from_text)(const char*, void**);
};
struct WrapCalls {
    void* (*get_object)(const void*);
    Status (*get_context)(const void*, void**);
    void* (*wrap)(void*, int, void*);
    void* (*unwrap)(void*);
    Status (*free_context)(void*);
};
struct AttributeCalls {
    void* (*create)(void*, const Location*, const char*, Id, Id, Id, Id, Id, void**);
    void* (*open)(void*, const Location*, const char*, Id, Id, void**);
    Status (*read)(void*, Id, void*, Id, void**);
    Status (*write)(void*, Id, const void*, Id, void**);
    Status (*get)(void*, void*, Id, void**);
    Status (*specific)(void*, const Location*, AttributeSpecific*, Id, void**);
    Status (*optional)(void*, Optional*, Id, void**);
    Status (*close)(void*, Id, void**);
};
struct DatasetCalls {
    void* (*create)(void*, const Location*, const char*, Id, Id, Id, Id, Id, Id, void**);
    void* (*open)(void*, const Location*, const char*, Id, Id, void**);
    Status (*read)(size_t, void**, Id*, Id*, Id*, Id, void**, void**);
    Status (*write)(size_t, void**, Id*, Id*, Id*, Id, const void**, void**);
    Status (*get)(void*, DatasetGet*, Id, void**);
    Status (*specific)(void*, DatasetSpecific*, Id, void**);
    Status (*optional)(void*, Optional*, Id, void**);
    Status (*close)(void*, Id, void**);
};
struct DatatypeCalls {
    void* (*commit)(void*, const Location*, const char*, Id, Id, Id, Id, Id, void**);
    void* (*open)(void*, const Location*, const char*, Id, Id, void**);
    Status (*get)(void*, void*, Id, void**);
    Status (*specific)(void*, void*, Id, void**);
    Status (*optional)(void*, Optional*, Id, void**);
    Status (*close)(void*, Id, void**);
};
struct FileCalls {
    void* (*create)(const char*, unsigned, Id, Id, Id, void**);
    void* (*open)(const char*, unsigned, Id, Id, void**);
    Status (*get)(void*, void*, Id, void**);
    Status (*specific)(void*, FileSpecific*, Id, void**);
    Status (*optional)(void*, Optional*, Id, void**);
    Status (*close)(void*, Id, void**);
};
struct GroupCalls {
    void* (*create)(void*, const Location*, const char*, Id, Id, Id, Id, void**);
    void* (*open)(void*, const Location*, const char*, Id, Id, void**);
    Status (*get)(void*, void*, Id, void**);
    Status (*specific)(void*, GroupSpecific*, Id, void**);
    Status (*optional)(void*, Optional*, Id, void**);
    Status (*close)(void*, Id, void**);
};
struct LinkCalls {
    Status (*create)(LinkCreate*, void*, const Location*, Id, Id, Id, void**);
    Status (*copy)(void*, const Location*, void*, const Location*, Id, Id, Id, void**);
    Status (*move)(void*, const Location*, void*, const Location*, Id, Id, Id, void**);
    Status (*get)(void*, const Location*, void*, Id, void**);
    Status (*specific)(void*, const Location*, LinkSpecific*, Id, void**);
    Status (*optional)(void*, const Location*, Optional*, Id, void**);
};
struct ObjectCalls {
    void* (*open)(void*, const Location*, int*, Id, void**);
    Status (*copy)(void*, const Location*, const char*, void*, const Location*, const char*, Id, Id,
                   Id, void**);
    Status (*get)(void*, const Location*, void*, Id, void**);
    Status (*specific)(void*, const Location*, ObjectSpecific*, Id, void**);
    Status (*optional)(void*, const Location*, Optional*, Id, void**);
};
struct IntrospectCalls {
    Status (*get_class)(void*, int, const Connector**);
    Status (*get_flags)(const void*, uint64_t*);
    Status (*query_optional)(void*, int, int, uint64_t*);
};
struct RequestCalls {
    Status (*wait)(void*, uint64_t, int*);
    Status (*notify)(void*, Status (*)(void*, int), void*);
    Status (*cancel)(void*, int*);
    Status (*specific)(void*, RequestSpecific*);
    Status (*optional)(void*, Optional*);
    Status (*free)(void*);
};
struct BlobCalls {
    Status (*put)(void*, const void*, size_t, void*, void*);
    Status (*get)(void*, const void*, void*, size_t, void*);
    Status (*specific)(void*, void*, void*);
    Status (*optional)(void*, void*, Optional*);
};
struct TokenCalls {
    Status (*compare)(void*, const void*, const void*, int*);
    Status (*to_text)(void*, int, const void*, char**);
    Status (*from_text)(void*, int, const char*, void*);
};

/// The connector as the library sees it.
struct Connector {
    unsigned structure_version;
    int value;
    const char* name;
    unsigned version;
    uint64_t flags;
    Status (*initialize)(Id);
    Status (*terminate)();
    InfoCalls info;
    WrapCalls wrap;
    AttributeCalls attribute;
    DatasetCalls dataset;
    DatatypeCalls datatype;
    FileCalls file;
    GroupCalls group;
    LinkCalls link;
    ObjectCalls object;
    IntrospectCalls introspect;
    RequestCalls request;
    BlobCalls blob;
    TokenCalls token;
    Status (*optional)(void*, Optional*, Id, void**);
};
constexpr unsigned structure_version = 3;  ///< HDF5 1.14 to 2.2
constexpr int native_value = 0;
constexpr int plugin_type_connector = 1;
constexpr int level_current = 0;  ///< of get_class: the connector itself, not the last one below

/// Settings of the metadata cache. What is changed together stands together.
struct MetadataCache {
    int version;
    bool report;
    bool trace_open;
    bool trace_close;
    char trace_file[1025];
    bool evictions;
    bool initial_given;
    size_t initial_bytes;
    double least_clean;
    size_t most_bytes;
    size_t least_bytes;
    long epoch;
    int grow;
    double grow_below;
    double grow_by;
    bool grow_bounded;
    size_t grow_most;
    int flash_grow;
    double flash[2];
    int shrink;
    unsigned char rest[96];
};
constexpr int metadata_cache_version = 1;
struct CacheImage {
    int version;
    bool wanted;
    bool with_size;
    int ageout;
};
constexpr int cache_image_version = 1;
constexpr int cache_image_no_ageout = -1;

// Modes of parallel transfers.
constexpr int transfer_collective = 1;

}  // namespace tailrace::hooks::vol::abi
