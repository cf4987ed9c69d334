// SPDX-License-Identifier: Apache-2.0
// The chunk caches that a plan has given to datasets: each counts once, however many handles of its
// dataset are open, kept ones too.
#pragma once

#include "hooks/vol/library/library.hpp"
#include "hooks/vol/objects/identity.hpp"

namespace tailrace::hooks::vol {

/// The cache of one dataset.
struct OpenCache {
    OpenCache* next;
    OpenCache** before;
    Library* library;
    Identity identity;
    uint64_t bytes;
    unsigned uses;
};

/// That of a dataset which is open; nullptr: none of a plan's.  [local]
OpenCache* open_cache_of(const Object& dataset);
/// One more handle of `dataset`, whose cache of `bytes` is new where it has none yet. nullptr
/// without memory, or where it cannot be told which dataset it is: it is not counted.  [local]
OpenCache* use_cache(const Object& dataset, uint64_t bytes);
OpenCache* use_cache(OpenCache* cache);
void release_cache(OpenCache* cache);

}  // namespace tailrace::hooks::vol
