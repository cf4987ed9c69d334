// SPDX-License-Identifier: Apache-2.0
// Our side of every object that a program has open: what is below it, and what it is recorded as.
#pragma once

#include <atomic>

// Of the C library, since 2.32; what it says of older ones: there may be threads.
extern "C"
    __attribute__((weak)) char __libc_single_threaded;  // NOLINT(bugprone-reserved-identifier)

#include "hooks/vol/library/library.hpp"
#include "hooks/vol/record/recorder.hpp"

namespace tailrace::intent::plan {
struct PlanSetting;
}

namespace tailrace::hooks::vol {

constexpr int kinds = 16;

struct DirectChunks;
struct FilePlan;
struct OpenDriver;
struct TransferPlan;

struct Under;

/// A count that several threads may change. While there is one, no locked instruction is paid for:
/// every call of HDF5 changes one twice.
class Count {
public:
    void set(unsigned value) { x_value.store(value); }
    [[nodiscard]] unsigned get() const { return x_value.load(std::memory_order_relaxed); }
    void add() { change(1); }
    /// What it was before.
    unsigned take() { return change(~0U); }

private:
    unsigned change(unsigned by) {
        if (!alone()) return x_value.fetch_add(by);
        const unsigned before = get();
        x_value.store(before + by, std::memory_order_relaxed);
        return before;
    }
    static bool alone();

    std::atomic<unsigned> x_value;
};

/// What the library keeps during a call, to wrap what it makes itself in it.
struct WrapContext {
    Under* under;
    FileEntry* file;
    void* inner;   ///< that of the connector below; HDF5's own has none
    bool unnamed;  ///< see Object
};

/// The connector below, shared by all objects of one open file.
struct Under {
    Library* library;
    Id connector;
    bool native;          ///< HDF5's own connector
    WrapContext context;  ///< the one for all calls on objects of its file, where it is native
    Count uses;
    Count open[kinds];          ///< objects of the file, by kind
    unsigned long file_number;  ///< 0: not known
    FilePlan* plan;             ///< nullptr: the plan has nothing for the file
    OpenDriver* driver;         ///< of a plan's, that the file is open with; nullptr: none
    bool of_ranks;              ///< under a plan: several processes may have the file open together
    bool reads_together;        ///< each read of metadata is a call of all ranks
};

/// What stands in a file access list for us. Without one HDF5's own connector is below.
struct Info {
    Library* library;
    Id under;
    void* under_info;
};

struct Object {
    Under* under;
    void* inner;            ///< the same object, as the connector below knows it
    int kind;               ///< one of kind_*; 0: a request
    FileEntry* file;        ///< nullptr: not recorded
    DatasetEntry* dataset;  ///< of datasets and their attributes
    char* path;             ///< within the file, from "/"; nullptr: not known
    bool unnamed;  ///< reached by a reference: HDF5 would look through the links for its name
    TransferPlan* transfers;  ///< what the plan has for a dataset's transfers; nullptr: nothing
    const DirectChunks*
        direct;            ///< its chunks are not those the program asked for; nullptr: they are
    uint64_t cache_bytes;  ///< of the chunk cache that the plan has given it; 0: none
    OpenCache* cache;      ///< the same, as it is counted; nullptr: it is not
    const intent::plan::PlanSetting* cache_setting;

    [[nodiscard]] Library& library() const { return *under->library; }
    [[nodiscard]] Id connector() const { return under->connector; }
};

inline bool Count::alone() {
    return &__libc_single_threaded != nullptr && __libc_single_threaded != 0;
}

inline Object& object_of(void* object) { return *static_cast<Object*>(object); }

/// A new Under that holds a reference to `connector`.  [local]
Under* hold(Library& library, Id connector);
void release(Under* under);

/// Wraps `inner`, an object in the same file as `beside`. nullptr without memory: the object below
/// stays open then, and the program is told that it was not opened.  [local]
/// @param name as the program gave it; nullptr: not known
Object* wrap(const Object& beside, void* inner, int kind, const Location* location,
             const char* name);
Object* wrap(Under* under, FileEntry* file, void* inner, int kind);
/// The path of a child of `beside`; nullptr: not known. The caller frees it.
char* child_path(const Object& beside, const char* name);
/// The path of what `location` names, seen from `base`; nullptr: not known. The caller frees it.
char* path_at(const Object& base, const Location& location);
/// Frees ours, not what is below.  [local]
void drop(Object* object);

/// Puts ours round a request that the connector below started.  [local]
void wrap_request(Under* under, void** request);

/// Keeps the error stack as the failed call below left it, whatever is called until the end.
class ErrorsKept {
public:
    explicit ErrorsKept(const Library& library)
        : x_library(library), x_stack(library.H5Eget_current_stack()) {}
    ~ErrorsKept() {
        if (x_stack >= 0) x_library.H5Eset_current_stack(x_stack);
    }
    ErrorsKept(const ErrorsKept&) = delete;
    ErrorsKept& operator=(const ErrorsKept&) = delete;

private:
    const Library& x_library;
    Id x_stack;
};

}  // namespace tailrace::hooks::vol
