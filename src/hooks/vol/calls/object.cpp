// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/objects/object.hpp"

#include <stdlib.h>
#include <string.h>

#include "hooks/vol/plan/open_caches.hpp"
#include "hooks/vol/plan/open_drivers.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

/// `name` as seen from `base`, a path in the file; nullptr where that is not known.
char* joined(const char* base, const char* name) {
    if (name == nullptr) return nullptr;
    const bool absolute = name[0] == '/';
    if (!absolute && base == nullptr) return nullptr;
    const size_t before = absolute ? 0 : strlen(base);
    auto* path = static_cast<char*>(malloc(before + strlen(name) + 3));
    if (path == nullptr) return nullptr;
    size_t used = 0;
    // Slashes are made one, "." is left out: "//a/./b/" is "/a/b".
    for (const char* part : {absolute ? "" : base, name}) {
        for (const char* at = part; *at != '\0';) {
            while (*at == '/') ++at;
            const char* end = at;
            while (*end != '\0' && *end != '/') ++end;
            const auto bytes = static_cast<size_t>(end - at);
            if (bytes > 0 && !(bytes == 1 && *at == '.')) {
                path[used++] = '/';
                memcpy(path + used, at, bytes);
                used += bytes;
            }
            at = end;
        }
    }
    if (used == 0) path[used++] = '/';
    path[used] = '\0';
    return path;
}

/// Whether the library does not know by which name it has come to what it opened.
bool is_unnamed(const Object& beside, const Location& location, const char* name) {
    if (location.way == way_token) return true;
    if (location.way == way_name) name = location.by_name.name;
    if (location.way == way_self && name == nullptr) return true;  // it was made without one
    return beside.unnamed && (name == nullptr || name[0] != '/');
}

}  // namespace

Under* hold(Library& library, Id connector) {
    auto* under = static_cast<Under*>(calloc(1, sizeof(Under)));
    if (under == nullptr) return nullptr;
    library.H5Iinc_ref(connector);
    under->library = &library;
    under->connector = connector;
    int value = ~native_value;
    under->native = library.H5VLget_value(connector, &value) >= 0 && value == native_value;
    under->context.under = under;
    under->uses.set(1);
    return under;
}

void release(Under* under) {
    if (under->uses.take() != 1) return;
    let_go_of_caches(*under);
    forget(under->plan);
    release_driver(under->driver);
    {
        const ErrorsKept kept(*under->library);
        under->library->H5Idec_ref(under->connector);
    }
    free(under);
}

Object* wrap(Under* under, FileEntry* file, void* inner, int kind) {
    // Not calloc, which does not take what was freed just before: one of these goes with each open.
    auto* made = static_cast<Object*>(malloc(sizeof(Object)));
    if (made == nullptr) return nullptr;
    *made = {};
    under->uses.add();
    made->under = under;
    made->inner = inner;
    made->kind = kind >= 0 && kind < kinds ? kind : 0;
    under->open[made->kind].add();
    made->file = file;
    return made;
}

Object* wrap(const Object& beside, void* inner, int kind, const Location* location,
             const char* name) {
    Object* made = wrap(beside.under, beside.file, inner, kind);
    const bool wanted = beside.file != nullptr || beside.under->plan != nullptr;
    if (made == nullptr) return made;
    made->unnamed = location != nullptr && is_unnamed(beside, *location, name);
    if (!wanted) return made;
    if (location != nullptr && location->way == way_self) made->path = joined(beside.path, name);
    if (location != nullptr && name == nullptr) made->path = path_at(beside, *location);
    return made;
}

char* child_path(const Object& beside, const char* name) { return joined(beside.path, name); }

char* path_at(const Object& base, const Location& location) {
    return location.way == way_name ? joined(base.path, location.by_name.name) : nullptr;
}

void drop(Object* object) {
    Under* under = object->under;
    under->open[object->kind].take();
    release_cache(object->cache);
    free(object->path);
    free(object->transfers);
    free(object);
    release(under);
}

void wrap_request(Under* under, void** request) {
    if (request == nullptr || *request == nullptr) return;
    Object* made = wrap(under, nullptr, *request, 0);
    if (made != nullptr) *request = made;
}

}  // namespace tailrace::hooks::vol
