// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/calls/older.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "hooks/vol/library/library.hpp"
#include "hooks/vol/record/recorder.hpp"

namespace tailrace::hooks::vol {
namespace {

/// The structure of a connector in HDF5 1.12 (616 bytes in all of its releases). Only its begin
/// matters here; the library takes a copy.
struct OldConnector {
    unsigned version;
    int value;
    const char* name;
    unsigned capabilities;
    Status (*initialize)(Id);
    Status (*terminate)();
    void* rest[72];
};
static_assert(sizeof(OldConnector) == 616);

/// What is asked of it, by functions that the later ones have too.
struct Old {
    Status (*version)(unsigned*, unsigned*, unsigned*) = nullptr;
    Id (*id_of)(const char*) = nullptr;
    Status (*close)(Id) = nullptr;
    Status (*connector)(void*, Id, int, const OldConnector**) = nullptr;
};

bool is_1_12(void* handle, Old& found, unsigned version[3]) {
    return look_up(handle, "H5get_libversion", found.version) &&
           look_up(handle, "H5VLget_connector_id_by_name", found.id_of) &&
           look_up(handle, "H5VLclose", found.close) &&
           look_up(handle, "H5VLintrospect_get_conn_cls", found.connector) &&
           found.version(&version[0], &version[1], &version[2]) >= 0 && version[0] == 1 &&
           version[1] == 12;
}

const OldConnector* native_of(const Old& library) {
    const Id id = library.id_of("native");
    if (id < 0) return nullptr;
    const OldConnector* found = nullptr;
    int object = 0;  // it has to be one, and is not looked at
    const Status status = library.connector(&object, id, level_current, &found);
    library.close(id);
    const bool known = status >= 0 && found != nullptr && found->version == 0 &&
                       found->name != nullptr && strcmp(found->name, "native") == 0;
    return known ? found : nullptr;
}

void tell(const unsigned version[3], bool parallel, const char* path) {
    if (recorder::on()) recorder::library(version, parallel, path);
    if (!recorder::applying()) return;  // what was recorded says the version itself
    char line[640];
    snprintf(line, sizeof line,
             "HDF5 %u.%u.%u (%.300s) is too old for the connector, which needs 1.14: of the plan "
             "only hints for MPI-IO reach its files, by the MPI-IO hook; the program runs as it is",
             version[0], version[1], version[2], path);
    recorder::say(line);
}

OldConnector given[most_libraries];
std::atomic<unsigned> used{0};

}  // namespace

const void* native_of_older(const void* code) {
    // Nobody asked for a connector: the library is looking for one for a file that it cannot open,
    // and a second native one would change what it says of it.
    if (getenv("HDF5_VOL_CONNECTOR") == nullptr) return nullptr;  // NOLINT(concurrency-mt-unsafe)
    Dl_info where{};
    if (dladdr(code, &where) == 0 || where.dli_fname == nullptr) return nullptr;
    void* handle = handle_of(where.dli_fname);
    Old library;
    unsigned version[3] = {0, 0, 0};
    if (handle == nullptr || !is_1_12(handle, library, version)) return nullptr;
    const OldConnector* native = native_of(library);
    const unsigned number = native != nullptr ? used.fetch_add(1) : most_libraries;
    if (number >= most_libraries) return nullptr;
    OldConnector& made = given[number];
    made = *native;
    made.name = "tailrace";
    made.terminate = nullptr;  // it is for the one that the library made itself
    tell(version, dlsym(handle, "H5Pget_dxpl_mpio") != nullptr, where.dli_fname);
    return &made;
}

}  // namespace tailrace::hooks::vol
