// SPDX-License-Identifier: Apache-2.0
// The HDF5 libraries of this process: one or, in a Python program, several, each with its own copy
// of every function. Which one calls is known by where the plugin is asked from.
#pragma once

#include <dlfcn.h>

#include "hooks/vol/library/abi.hpp"
#include "hooks/vol/library/one_thread.hpp"

namespace tailrace::hooks::vol {

struct DatasetEntry;
struct Under;
struct OpenCache;
struct OpenDriver;
struct Counted;
struct Unfilled;

using namespace abi;  // NOLINT(google-build-using-namespace): the words of all files of this folder
using RequestNotify = Status (*)(void*, int);
using AtClose = void (*)(void*);

/// A collective transfer whose list will tell how it was done, once the library has returned from
/// it. The list is held until then.
struct Pending {
    Id list = invalid_id;
    bool written = false;
    unsigned count = 0;
    DatasetEntry* datasets[8] = {};
};

/// The datasets whose elements are counted: see holes.hpp. Each library has its own lock, which
/// protects these.
struct Holes {
    Counted* all = nullptr;
    unsigned count = 0;
    uint64_t elements = 0;
    OneThread thread;  ///< that has made all calls of the library since something is counted
};

/// The functions of one libhdf5 that we call, and what is asked of it once.
struct Library {
// NOLINTBEGIN(bugprone-macro-parentheses): what these make are declarations
#define NEEDED(result, name, arguments) result(*name) arguments = nullptr;
#define OPTIONAL(result, name, arguments) result(*name) arguments = nullptr;
// NOLINTEND(bugprone-macro-parentheses)
#include "hooks/vol/library/hdf5_functions.def"
#undef NEEDED
#undef OPTIONAL
    const void* base = nullptr;  ///< where it is loaded
    const char* path = nullptr;
    unsigned version[3] = {0, 0, 0};
    bool has_had_files = false;  ///< since it began
    // Its default lists: what H5P_DEFAULT arrives as. invalid_id until start().
    Id default_transfer = invalid_id;
    Id default_file_access = invalid_id;
    Id default_file_creation = invalid_id;
    Id default_dataset_creation = invalid_id;
    Id default_dataset_access = invalid_id;
    Id default_group_access = invalid_id;
    void* handle = nullptr;
    Pending pending;
    /// A list of ours for the last transfer that came with one of the program's. The library looks
    /// at it after our callback has returned, so it goes at the next one.
    Id held_transfer = invalid_id;
    unsigned transfers_running = 0;
    /// The files that keep caches of datasets, the memory of all of which counts.
    Under* keeping = nullptr;
    bool ends_known = false;  ///< we are told before it closes itself
    bool ending = false;      ///< it does
    /// The chunk caches that a plan has given to datasets that are open or kept, and their bytes.
    OpenCache* open_caches = nullptr;
    uint64_t open_cache_bytes = 0;
    /// The files that are open with a driver of a plan's, and the bytes of those in memory, when
    /// they were opened.
    OpenDriver* open_drivers = nullptr;
    uint64_t core_bytes = 0;
    Holes holes;
    Unfilled* unfilled = nullptr;  ///< the same of files of several ranks: see holes_of_ranks.hpp
};
constexpr unsigned most_libraries = 4;

/// Number of the library that holds `code`, an address in it; negative where it lacks what we need
/// or there are too many.  [local]
int library_of(const void* code);
Library& library(unsigned number);
/// The loaded library of this path, where it has HDF5's connectors; else the program, which may
/// have HDF5 in itself.  [local]
void* handle_of(const char* path);
/// Whether `function` was found.  [local]
template <typename Function>
bool look_up(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
}

/// Where a variable of the library is. A program that names one (H5P_FILE_ACCESS_DEFAULT,
/// H5FD_MPIO) has it in itself, and the library goes by that one; nullptr: there is none.  [local]
const void* variable_of(const Library& library, const char* name);

/// Looks up ids that are only there once the library has been initialised.  [local]
void start(Library& library);

}  // namespace tailrace::hooks::vol
