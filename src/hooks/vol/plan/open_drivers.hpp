// SPDX-License-Identifier: Apache-2.0
// The files that are open with a driver of the plan's. HDF5 shares an open file only between opens
// with one driver: another one would work on the same bytes on the disk and know nothing of what
// the first still has in memory.
#pragma once

#include "hooks/vol/library/library.hpp"

namespace tailrace::hooks::vol {

struct Object;

/// One file, however often it is open.
struct OpenDriver {
    OpenDriver* next;
    OpenDriver** before;
    Library* library;
    uint64_t device;
    uint64_t inode;
    uint64_t bytes;  ///< in Library::core_bytes
    bool in_memory;  ///< "core", else "direct"
    unsigned uses;
};

/// That of the file of this name; nullptr: it is not open with a driver of the plan's.  [local]
OpenDriver* open_driver_of(const Library& library, const char* path);
/// One more open of it. nullptr without memory: it is not known to others then.  [local]
OpenDriver* use_driver(Library& library, const char* path, bool in_memory);
void release_driver(OpenDriver* driver);

/// Whether this process has the file open in any way, whoever opened it: HDF5 itself opens what
/// links and virtual datasets lead to.  [local]
bool is_open_here(const char* path);

/// 0: it is not there, or nothing is known of it.  [local]
uint64_t bytes_of_file(const char* path);

/// Puts the driver on a list: "core", which writes into the file only with `store`, or "direct".
/// [local]
bool put_core(const Library& library, Id list, size_t increment, bool store);
bool put_direct(const Library& library, Id list);
/// Puts the library's own driver back on a list that the program is given of such a file: what it
/// opens with that is not the plan's concern.  [local]
void give_back_driver(const Library& library, Id list);
/// The handle of a file in memory as that of one which is not: a pointer to a descriptor.  [local]
Status descriptor_of(const Object& file, void** handle);

}  // namespace tailrace::hooks::vol
