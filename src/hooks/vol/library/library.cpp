// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/library/library.hpp"

#include <dlfcn.h>

#include <atomic>

#include "hooks/common/in_child.hpp"
#include "hooks/common/locked.hpp"

namespace tailrace::hooks::vol {
namespace {

Library libraries[most_libraries];
std::atomic<unsigned> known{0};
std::atomic_flag busy = ATOMIC_FLAG_INIT;
// A library that was being looked up is none of those that are known, and is looked up anew.
const InChild in_child{[] { busy.clear(); }};

/// The functions of the library at `where`.
bool fill(Library& found, const Dl_info& where) {
    found.handle = handle_of(where.dli_fname);
    if (found.handle == nullptr) return false;
    bool complete = true;
#define NEEDED(result, name, arguments) \
    complete = look_up(found.handle, #name, found.name) && complete;
#define OPTIONAL(result, name, arguments) look_up(found.handle, #name, found.name);
#include "hooks/vol/library/hdf5_functions.def"
#undef NEEDED
#undef OPTIONAL
    found.base = where.dli_fbase;
    found.path = where.dli_fname;
    return complete;
}

Id value_of(const Library& library, const char* variable) {
    const auto* address = static_cast<const Id*>(variable_of(library, variable));
    return address != nullptr ? *address : invalid_id;
}

}  // namespace

void* handle_of(const char* path) {
    void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr && dlsym(handle, "H5VLfile_create") != nullptr) return handle;
    return dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
}

Library& library(unsigned number) { return libraries[number]; }

const void* variable_of(const Library& library, const char* name) {
    constexpr char some_function[] = "H5get_libversion";
    const bool for_all = dlsym(RTLD_DEFAULT, some_function) == dlsym(library.handle, some_function);
    return dlsym(for_all ? RTLD_DEFAULT : library.handle, name);
}

int library_of(const void* code) {
    Dl_info where{};
    if (dladdr(code, &where) == 0 || where.dli_fname == nullptr) return -1;
    const Locked held(busy);
    int answer = -1;
    const unsigned count = known.load(std::memory_order_relaxed);
    for (unsigned number = 0; number < count; ++number) {
        if (libraries[number].base == where.dli_fbase) answer = static_cast<int>(number);
    }
    if (answer < 0 && count < most_libraries && fill(libraries[count], where)) {
        known.store(count + 1, std::memory_order_release);
        answer = static_cast<int>(count);
    }
    return answer;
}

void start(Library& of) {
    of.H5get_libversion(&of.version[0], &of.version[1], &of.version[2]);
    of.default_transfer = value_of(of, "H5P_LST_DATASET_XFER_ID_g");
    of.default_file_access = value_of(of, "H5P_LST_FILE_ACCESS_ID_g");
    of.default_file_creation = value_of(of, "H5P_LST_FILE_CREATE_ID_g");
    of.default_dataset_creation = value_of(of, "H5P_LST_DATASET_CREATE_ID_g");
    of.default_dataset_access = value_of(of, "H5P_LST_DATASET_ACCESS_ID_g");
    of.default_group_access = value_of(of, "H5P_LST_GROUP_ACCESS_ID_g");
}

}  // namespace tailrace::hooks::vol
