// SPDX-License-Identifier: Apache-2.0
// The HDF5 libraries of this process, found at run time: a program may have one, in its global
// scope or not, and a Python process one per package.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tailrace::declaring {

using Id = std::int64_t;

/// The functions of one libhdf5 that are called here, in our words.
struct Hdf5 {
    int (*H5get_libversion)(unsigned*, unsigned*, unsigned*) = nullptr;
    int (*H5free_memory)(void*) = nullptr;
    int (*H5Eget_auto2)(Id, void**, void**) = nullptr;
    int (*H5Eset_auto2)(Id, void*, void*) = nullptr;
    Id (*H5Pget_class)(Id) = nullptr;
    char* (*H5Pget_class_name)(Id) = nullptr;
    int (*H5Pclose_class)(Id) = nullptr;
    int (*H5Pexist)(Id, const char*) = nullptr;
    int (*H5Pget_size)(Id, const char*, std::size_t*) = nullptr;
    int (*H5Pget)(Id, const char*, void*) = nullptr;
    int (*H5Premove)(Id, const char*) = nullptr;
    int (*H5Pinsert2)(Id, const char*, std::size_t, void*, void*, void*, void*, void*, void*,
                      void*) = nullptr;
    void* handle = nullptr;
};

/// A property list that somebody hands over, and the library that it is of.
struct List {
    Hdf5 hdf5;
    Id id = -1;
    std::string list_class;  ///< "file access", ...
    bool standard = false;   ///< one of the library's default lists
};

/// Finds the library that knows the list.  [local]
/// @param handle  of dlopen, to look in; nullptr: all of the process, those for all to see first
/// @throws core::Error{Code::unsupported} where there is no HDF5; {bad_input} where no library, or
/// more than one, knows such a list
[[nodiscard]] List find_list(Id id, void* handle);

/// Nothing that fails in its life prints an error stack.
class Quiet {
public:
    explicit Quiet(const Hdf5& hdf5);
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    const Hdf5& x_hdf5;
    void* x_function = nullptr;
    void* x_data = nullptr;
    bool x_off = false;
};

}  // namespace tailrace::declaring
