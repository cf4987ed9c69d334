// SPDX-License-Identifier: Apache-2.0
// Programs that open a dataset anew for each read, as h5py's file["d"][...] does: the chunk cache
// that the plan gives it would end with each close. In files that are only read it stays open below
// until the program closes the file.
#pragma once

#include "hooks/vol/object.hpp"

namespace tailrace::hooks::vol {

/// A dataset that the program has closed.
struct KeptCache {
    void* inner;
    char* path;
    uint64_t bytes;  ///< of its cache
};
/// Those of an open file, the oldest first.
struct KeptCaches {
    KeptCache all[16];
    size_t count;
    unsigned files;  ///< how often the program has the file open; objects may outlive that
    bool allowed;    ///< it is only read, by one process
};

/// A quarter of the memory, shared by the ranks of the node; 0: not known.  [local]
uint64_t memory_for_caches();

/// Whether a dataset that the program closes stays open below. Then what is below is no longer the
/// object's.  [local]
bool keep_cache(Object& dataset, void** request);
/// Notes down that a dataset which has been opened goes on with the cache that was kept.  [local]
void note_kept_cache(const Object& dataset);
/// Closes those of the file.  [local]
void let_go_of_caches(Under& under);

}  // namespace tailrace::hooks::vol
