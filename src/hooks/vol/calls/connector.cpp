// SPDX-License-Identifier: Apache-2.0
// The plugin: two exported functions, and a table of callbacks for each HDF5 library in the
// process. A callback that is handed no object of ours has no other way to know which library
// called it.
#include "hooks/vol/calls/filter_folders.hpp"
#include "hooks/vol/calls/info.hpp"
#include "hooks/vol/calls/older.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/plan/kept_caches.hpp"

namespace tailrace::hooks::vol {
namespace {

/// Between 256 and 511: for connectors that are not registered with The HDF Group.
constexpr int our_value = 466;
constexpr uint64_t no_threads = ~uint64_t{1};  // what is below may promise it, we do not

Status query_optional(void* object, int subclass, int operation, uint64_t* flags) {
    Object& on = object_of(object);
    return on.library().H5VLintrospect_opt_query(on.inner, on.connector(), subclass, operation,
                                                 flags);
}

template <unsigned number>
struct Slot {
    static Library& of() { return library(number); }

    static Status initialize(Id) {
        const ErrorsKept kept(of());
        start(of());
        begin_keeping(of());
        of().has_had_files = false;
        keep_filter_folders(of());
        if (recorder::on()) {
            recorder::library(of().version, of().H5Pget_dxpl_mpio != nullptr, of().path);
        }
        return 0;
    }
    static Status terminate() {
        of().pending = {};
        of().held_transfer = invalid_id;
        return 0;
    }
    static Status from_text(const char* text, void** info) {
        return info_from_text(of(), text, info);
    }
    static void* create(const char* name, unsigned flags, Id creation, Id access, Id transfer,
                        void** request) {
        return create_file(of(), name, flags, creation, access, transfer, request);
    }
    static void* open(const char* name, unsigned flags, Id access, Id transfer, void** request) {
        return open_file(of(), name, flags, access, transfer, request);
    }
    static Status specific(void* object, FileSpecific* arguments, Id transfer, void** request) {
        return file_specific(of(), object, arguments, transfer, request);
    }
    static Status get_class(void* object, int level, const Connector** connector) {
        if (level == level_current) {
            *connector = &table;
            return 0;
        }
        Object& on = object_of(object);
        return on.library().H5VLintrospect_get_conn_cls(on.inner, on.connector(), level, connector);
    }
    static Status get_flags(const void* info, uint64_t* flags) {
        const auto* given = static_cast<const Info*>(info);
        const Id native =
            given == nullptr ? of().H5VLget_connector_id_by_value(native_value) : invalid_id;
        const Id under = given == nullptr ? native : given->under;
        const Status status = of().H5VLintrospect_get_cap_flags(
            given == nullptr ? nullptr : given->under_info, under, flags);
        if (native >= 0) of().H5VLclose(native);
        *flags &= no_threads;
        return status;
    }

    static const Connector table;
};

template <unsigned number>
const Connector Slot<number>::table = {
    structure_version,
    our_value,
    "tailrace",
    1,
    0x0000001ffffffffcU,  // of the connector itself: all but threads and its own asynchronous calls
    initialize,
    terminate,
    {sizeof(Info), copy_info, compare_info, free_info, info_to_text, from_text},
    wrap_calls,
    attribute_calls,
    dataset_calls,
    datatype_calls,
    {create, open, file_get, specific, file_optional, file_close},
    group_calls,
    link_calls,
    object_calls,
    {get_class, get_flags, query_optional},
    request_calls,
    blob_calls,
    token_calls,
    passed<&Library::H5VLoptional>};

const Connector* const tables[most_libraries] = {&Slot<0>::table, &Slot<1>::table, &Slot<2>::table,
                                                 &Slot<3>::table};

}  // namespace
}  // namespace tailrace::hooks::vol

// What HDF5 asks a plugin for.
extern "C" {
__attribute__((visibility("default"))) int H5PLget_plugin_type();
__attribute__((visibility("default"))) const void* H5PLget_plugin_info();

int H5PLget_plugin_type() { return tailrace::hooks::vol::abi::plugin_type_connector; }

const void* H5PLget_plugin_info() {
    namespace vol = tailrace::hooks::vol;
    const int number = vol::library_of(__builtin_return_address(0));
    // Something that is no HDF5 we know: it gets a table that no library accepts.
    static const vol::Connector none = {};
    if (number >= 0) return vol::tables[number];
    const void* native = vol::native_of_older(__builtin_return_address(0));
    return native != nullptr ? native : &none;
}
}
