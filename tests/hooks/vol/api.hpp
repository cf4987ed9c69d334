// SPDX-License-Identifier: Apache-2.0
// A program that calls much of HDF5 and prints what each call answered: a line per check. Under the
// connector the lines have to be those of a run without it.
#pragma once

#include <hdf5.h>

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace api {

struct Context {
    std::FILE* out = nullptr;
    hid_t access = H5P_DEFAULT;    ///< for files
    hid_t creation = H5P_DEFAULT;  ///< for files: without times
    hid_t transfer = H5P_DEFAULT;  ///< for what has to be collective where the file is parallel
    bool parallel = false;
    int rank = 0;
};

inline Context context;

/// One line: the name of the check, then what was seen, in the order of the braces:
/// `line{"H5Dread", H5Dread(...), hash(...)}`. Identifiers and pointers are no values.
struct line {
    template <typename... Values>
    explicit line(const char* name, Values... values) {
        std::fprintf(context.out, "%s:", name);
        (std::fprintf(context.out, " %lld", static_cast<long long>(values)), ...);
        std::fprintf(context.out, "\n");
        std::fflush(context.out);
    }
};
inline void text(const char* name, const std::string& value) {
    std::fprintf(context.out, "%s: %s\n", name, value.c_str());
}
/// An identifier, of which only good or bad is said. Bad ones tell what the error stack holds.
hid_t id(const char* name, hid_t value);
/// The innermost error on the stack, as major and minor text; "none".
std::string last_error();
/// A hash of bytes, to say what was read.
long long hash(const void* data, std::size_t bytes);

/// A creation list without times, so that files can be compared byte by byte.
hid_t dataset_list();
hid_t group_list();
hid_t space(std::vector<hsize_t> dims, std::vector<hsize_t> largest = {});

void files();
void groups_and_links();
void objects();
void datasets();
void selections();
void attributes();
void types_and_references();
void others();
void optional();
void errors();
void older_handlers();
void names_and_indexes();
void deprecated();

}  // namespace api
