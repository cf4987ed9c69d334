// SPDX-License-Identifier: Apache-2.0
// Programs that open a dataset anew for each read, as h5py's file["d"][...] does: the chunk cache
// that the plan gives it would end with each close. In files that are only read it stays open below
// until the program closes the file.
#pragma once

#include "hooks/vol/objects/object.hpp"
#include "hooks/vol/plan/open_caches.hpp"

namespace tailrace::hooks::vol {

/// A dataset that the program has closed.
struct KeptCache {
    void* inner;
    char* path;
    OpenCache* cache;
};
/// Those of an open file, the oldest first.
struct KeptCaches {
    KeptCache all[16];
    size_t count;
    unsigned files;   ///< how often the program has the file open; objects may outlive that
    unsigned ending;  ///< closes that are under way: they close what is open, too
    bool allowed;     ///< nobody writes it in this process, and no rank opens it with others
    Under* next;      ///< the next file that keeps any
};

/// Whether datasets of a file that was opened with `access` to be read may be kept: HDF5's own
/// connector is below, nobody in this process has it open for writing, nor asks for less memory.
/// [local]
bool may_keep_caches(const Object& file, Id access);

/// Whether all that is kept goes before HDF5 closes itself: what is below can be closed no more
/// then, and HDF5 waits for it in vain.  [local]
bool ends_before(Library& library);
/// HDF5 has begun, possibly once more.  [local]
void begin_keeping(Library& library);

/// Of caches that nothing but what is kept here has any more.  [local]
uint64_t bytes_only_kept(const Library& library);
/// Lets go of the oldest ones until `bytes` more fit into `most`, with all that there are.  [local]
void make_room_for_cache(Library& library, uint64_t bytes, uint64_t most);
/// Whether a dataset that the program closes stays open below. Then what is below is no longer the
/// object's.  [local]
bool keep_cache(Object& dataset, void** request);
/// Notes down that a dataset which has been opened goes on with the cache that was kept.  [local]
void note_kept_cache(const Object& dataset);
/// Closes those of the file; of all files of the library; of the file, and keeps none in it again.
/// [local]
void let_go_of_caches(Under& under);
void let_go_of_all_caches(Library& library);
void no_more_caches(Under& under);
/// The program has closed the file once.  [local]
void count_closed(Under& under);

/// A close of the file: what it keeps goes, and nothing that is closed meanwhile is kept.
class CachesEnd {
public:
    explicit CachesEnd(Under& under);
    ~CachesEnd();
    CachesEnd(const CachesEnd&) = delete;
    CachesEnd& operator=(const CachesEnd&) = delete;

private:
    KeptCaches* x_kept;
};

}  // namespace tailrace::hooks::vol
