// SPDX-License-Identifier: Apache-2.0
#include "process_hdf5.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"

namespace tailrace::declaring {

namespace {

using core::Code;
using core::Error;

template <class Function>
bool look_up(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
}

/// Whether a whole HDF5, of a version with ids of 64 bits, is reached by a handle.
bool fill(void* handle, Hdf5& found) {
    found.handle = handle;
    const bool complete = look_up(handle, "H5get_libversion", found.H5get_libversion) &&
                          look_up(handle, "H5free_memory", found.H5free_memory) &&
                          look_up(handle, "H5Eget_auto2", found.H5Eget_auto2) &&
                          look_up(handle, "H5Eset_auto2", found.H5Eset_auto2) &&
                          look_up(handle, "H5Pget_class", found.H5Pget_class) &&
                          look_up(handle, "H5Pget_class_name", found.H5Pget_class_name) &&
                          look_up(handle, "H5Pclose_class", found.H5Pclose_class) &&
                          look_up(handle, "H5Pexist", found.H5Pexist) &&
                          look_up(handle, "H5Pget_size", found.H5Pget_size) &&
                          look_up(handle, "H5Pget", found.H5Pget) &&
                          look_up(handle, "H5Premove", found.H5Premove) &&
                          look_up(handle, "H5Pinsert2", found.H5Pinsert2);
    if (!complete) return false;
    unsigned version[3] = {};
    found.H5get_libversion(&version[0], &version[1], &version[2]);
    return version[0] > 1 || version[1] >= 10;
}

/// Names of what is loaded; libraries that are called hdf5 first.
std::vector<std::string> loaded() {
    std::vector<std::string> names;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
                static_cast<std::vector<std::string>*>(data)->emplace_back(info->dlpi_name);
            return 0;
        },
        &names);
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) {
        return name.find("hdf5", name.rfind('/')) != std::string::npos;
    });
    return names;
}

/// All libraries of the process, each once, the one for all to see first.
std::vector<Hdf5> all_of_process() {
    std::vector<Hdf5> all;
    const auto take = [&](void* handle) {
        Hdf5 found;
        if (!fill(handle, found)) return;
        const bool known = std::any_of(all.begin(), all.end(), [&](const Hdf5& one) {
            return one.H5Pinsert2 == found.H5Pinsert2;
        });
        if (!known) all.push_back(found);
    };
    take(RTLD_DEFAULT);
    for (const std::string& name : loaded()) {
        void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) continue;
        take(handle);
        dlclose(handle);  // it was loaded before and stays so
    }
    return all;
}

/// The class of a list; empty where the library has no such list.
std::string class_of(const Hdf5& hdf5, Id id) {
    const Quiet quiet(hdf5);
    const Id its_class = hdf5.H5Pget_class(id);
    if (its_class < 0) return {};
    char* name = hdf5.H5Pget_class_name(its_class);
    std::string text = name != nullptr ? name : "";
    if (name != nullptr) hdf5.H5free_memory(name);
    hdf5.H5Pclose_class(its_class);
    return text;
}

bool is_default(const Hdf5& hdf5, Id id) {
    for (const char* name :
         {"H5P_LST_FILE_ACCESS_ID_g", "H5P_LST_FILE_CREATE_ID_g", "H5P_LST_DATASET_CREATE_ID_g",
          "H5P_LST_DATASET_ACCESS_ID_g", "H5P_LST_DATASET_XFER_ID_g"}) {
        const auto* value = static_cast<const Id*>(dlsym(hdf5.handle, name));
        if (value != nullptr && *value == id) return true;
    }
    return false;
}

bool take(const Hdf5& hdf5, Id id, List& list) {
    std::string list_class = class_of(hdf5, id);
    if (list_class.empty()) return false;
    list = {hdf5, id, std::move(list_class), is_default(hdf5, id)};
    return true;
}

}  // namespace

List find_list(Id id, void* handle) {
    std::vector<Hdf5> all;
    if (handle != nullptr) {
        Hdf5 found;
        if (fill(handle, found)) all.push_back(found);
    } else {
        all = all_of_process();
    }
    if (all.empty())
        throw Error(Code::unsupported, "there is no HDF5 of version 1.10 or newer in this process",
                    "tailrace_intent",
                    "load or link HDF5 first (in Python: import h5py), as a shared library");
    List list;
    unsigned known = 0;
    for (const Hdf5& hdf5 : all) {
        const bool global = &hdf5 == &all.front() && hdf5.handle == RTLD_DEFAULT;
        if (!take(hdf5, id, list)) continue;
        if (global) return list;  // the one that the program itself calls
        ++known;
    }
    if (known > 1)
        throw Error(Code::bad_input,
                    std::to_string(known) + " HDF5 libraries of this process have a list " +
                        std::to_string(id),
                    "tailrace_intent",
                    "say which one is meant: tailrace_intent_use; in Python give the list itself");
    if (known == 0)
        throw Error(
            Code::bad_input,
            "HDF5 has no property list " + std::to_string(id) + (id == 0 ? " (H5P_DEFAULT)" : ""),
            "tailrace_intent", "make one by H5Pcreate, and use it in H5Fcreate and the like");
    return list;
}

Quiet::Quiet(const Hdf5& hdf5) : x_hdf5(hdf5) {
    constexpr Id default_stack = 0;
    if (hdf5.H5Eget_auto2(default_stack, &x_function, &x_data) < 0) return;
    x_off = hdf5.H5Eset_auto2(default_stack, nullptr, nullptr) >= 0;
}

Quiet::~Quiet() {
    constexpr Id default_stack = 0;
    if (x_off) x_hdf5.H5Eset_auto2(default_stack, x_function, x_data);
}

}  // namespace tailrace::declaring
