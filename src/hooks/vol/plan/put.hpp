// SPDX-License-Identifier: Apache-2.0
// Puts settings of a plan on copies of property lists. What differs from the library's default is
// the program's own and stays.
#pragma once

#include "hooks/vol/objects/object.hpp"
#include "hooks/vol/plan/choices.hpp"
#include "hooks/vol/plan/open_drivers.hpp"

namespace tailrace::hooks::vol {

struct FilePlan;

inline constexpr const char* program_set_it = "the program set it itself";
inline constexpr const char* not_taken = "the library does not take it";
inline constexpr const char* only_serial = "not for a file of several ranks";
inline constexpr const char* not_collective = "the transfer is not collective";
inline constexpr const char* only_parallel = "only for files opened with MPI-IO";

/// A copy that settings are put on.
struct Put {
    const Library& of;
    Choices& choices;
    Id list;      ///< ours
    Id standard;  ///< the library's default list of this kind
};

/// Nothing but the library's default may be changed.
struct OnlyDefaults {
    bool operator()(const uint64_t*) const { return false; }
};

/// Settles the settings of `keys`, which one call makes: `ask(list, numbers)` fills in what is
/// there, `set(list, numbers)` puts it back with those of the plan changed. `unasked(numbers)`:
/// they differ from the default, and yet they are no choice of the program.
template <size_t count, typename Ask, typename Set, typename Unasked = OnlyDefaults>
void put(Put& on, const Key (&keys)[count], Ask ask, Set set, Unasked unasked = {}) {
    Choice* chosen[count];
    bool any = false;
    for (size_t at = 0; at < count; ++at) {
        chosen[at] = on.choices.open(keys[at]);
        any = any || chosen[at] != nullptr;
    }
    if (!any) return;
    uint64_t own[count] = {};
    uint64_t usual[count] = {};
    const bool asked = ask(on.list, own) >= 0 && ask(on.standard, usual) >= 0;
    bool same = true;
    for (size_t at = 0; at < count; ++at) same = same && own[at] == usual[at];
    same = same || unasked(static_cast<const uint64_t*>(own));
    spool::Became became = spool::became_kept;
    const char* reason = program_set_it;
    if (!asked) {
        became = spool::became_unavailable;
        reason = not_taken;
    } else if (same) {
        for (size_t at = 0; at < count; ++at)
            if (chosen[at] != nullptr) own[at] = chosen[at]->number;
        const bool good = set(on.list, static_cast<const uint64_t*>(own)) >= 0;
        became = good ? spool::became_applied : spool::became_refused;
        reason = good ? nullptr : not_taken;
    }
    for (Choice* choice : chosen) {
        if (choice == nullptr) continue;
        choice->became = became;
        choice->reason = reason != nullptr ? reason : choice->changed;
    }
}

/// Of a file creation list.  [local]
/// @param members  it is cut into members by the family driver
void put_file_creation(Put& on, bool parallel, bool members);
/// What is known of a file that is to be created or opened.
struct OneFile {
    bool parallel;  ///< with MPI-IO
    bool paged;     ///< it is to have the strategy "page"
    bool created;
    bool written;     ///< it is created, or opened for writing
    bool swmr;        ///< one process writes while others read
    Size user_block;  ///< bytes in front of a new file
    const char* path;
    const OpenDriver* driver;  ///< of a plan's, that it is open with already; nullptr: none
};
/// Of a file access list, all but hints.
void put_file_access(Put& on, const OneFile& file);

/// What is known of a dataset that is to be created.
struct NewDataset {
    const FilePlan& file;
    plan::Surroundings around;
    bool can_grow;
    bool variable;   ///< elements of variable length
    bool plain;      ///< elements lie in the file as they lie in memory
    bool committed;  ///< their type is an object of the file
    bool in_file;    ///< it lies in the file itself; asked for files of several ranks
    uint64_t bytes;
};
/// Of a dataset creation list.  [local]
void put_dataset_creation(Put& on, const NewDataset& what);
/// The chunk cache that a file's list asks for, for all its datasets.
struct FileCache {
    bool chosen;     ///< by the program
    uint64_t least;  ///< bytes of one that nobody chose: a plan's holds no less
    uint64_t bytes;  ///< of the one that is in force without a plan
};
/// Of a dataset; where it has no chunks, those of an element.
struct ChunkBytes {
    uint64_t in_memory;    ///< as a program counts them
    uint64_t most_stored;  ///< at most so many in the file
};
/// Holds back the chunk cache of a dataset whose chunk is larger than the cache that is there
/// without the plan. How HDF5 reads a chunk depends on whether the cache could hold it, and where
/// ranks read together all have to do so alike; but one of them may have the dataset open already,
/// or no memory for the plan's cache. All see the same here: the chunk, and the program's lists.
void hold_cache_of_ranks(Put& on, FileCache of_file, ChunkBytes chunk);
/// Of a dataset access list.
/// @param of_ranks  ranks may read it together: the cache holds a chunk, as without the plan
void put_dataset_access(Put& on, FileCache of_file, ChunkBytes chunk, bool of_ranks);
/// Of a transfer list.
void put_transfer(Put& on, bool writes);

/// While we try, the library prints nothing, and its error stack stays as it was.
class Quiet {
public:
    explicit Quiet(const Library& library) : x_library(library), x_kept(library) {
        // To ask for a handler of H5Eset_auto1 by the newer function is an error, which it hears.
        unsigned newer = 1;
        x_older = library.H5Eauto_is_v2 != nullptr && library.H5Eget_auto1 != nullptr &&
                  library.H5Eset_auto1 != nullptr && library.H5Eauto_is_v2(0, &newer) >= 0 &&
                  newer == 0;
        x_asked = (x_older ? library.H5Eget_auto1(&x_function, &x_data)
                           : library.H5Eget_auto2(0, &x_function, &x_data)) >= 0;
        if (x_asked) set(nullptr, nullptr);
    }
    ~Quiet() {
        if (x_asked) set(x_function, x_data);
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    void set(void* function, void* data) const {
        if (x_older)
            x_library.H5Eset_auto1(function, data);
        else
            x_library.H5Eset_auto2(0, function, data);
    }

    const Library& x_library;
    ErrorsKept x_kept;
    void* x_function = nullptr;
    void* x_data = nullptr;
    bool x_older;  ///< the handler is one of H5Eset_auto1
    bool x_asked;
};

/// What the library wants around calls of a connector that come from outside of any call of it.
class Context {
public:
    explicit Context(const Library& library, bool wanted = true);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    [[nodiscard]] bool good() const { return x_open; }

private:
    const Library& x_library;
    void* x_context = nullptr;
    bool x_open = false;
};

/// A call of its own within a call of the program. The library reads each setting of a transfer
/// list once per call, and a second try with another list would go with those of the first.
class CallOfItsOwn {
public:
    explicit CallOfItsOwn(const Library& library);
    ~CallOfItsOwn();
    CallOfItsOwn(const CallOfItsOwn&) = delete;
    CallOfItsOwn& operator=(const CallOfItsOwn&) = delete;

private:
    const Library& x_library;
    void* x_state;
    Context x_context;
};

}  // namespace tailrace::hooks::vol
