// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/plan/open_caches.hpp"

#include <stdlib.h>

#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/objects/linked.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {

OpenCache* open_cache_of(const Object& dataset) {
    Library& of = dataset.library();
    if (of.open_caches == nullptr) return nullptr;
    Identity identity{};
    const Quiet quiet(of);
    if (!identify(dataset, identity)) return nullptr;
    for (OpenCache* at = of.open_caches; at != nullptr; at = at->next)
        if (at->identity.is(identity)) return at;
    return nullptr;
}

OpenCache* use_cache(const Object& dataset, uint64_t bytes) {
    if (OpenCache* there = open_cache_of(dataset)) return use_cache(there);
    Library& of = dataset.library();
    auto* made = static_cast<OpenCache*>(calloc(1, sizeof(OpenCache)));
    if (made == nullptr) return nullptr;
    const Quiet quiet(of);
    if (!identify(dataset, made->identity)) {
        free(made);
        return nullptr;
    }
    made->library = &of;
    made->bytes = bytes;
    made->uses = 1;
    put_in(of.open_caches, *made);
    of.open_cache_bytes += bytes;
    return made;
}

OpenCache* use_cache(OpenCache* cache) {
    if (cache != nullptr) ++cache->uses;
    return cache;
}

void release_cache(OpenCache* cache) {
    if (cache == nullptr || --cache->uses > 0) return;
    take_out(*cache);
    cache->library->open_cache_bytes -= cache->bytes;
    free(cache);
}

}  // namespace tailrace::hooks::vol
