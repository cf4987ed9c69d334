// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/calls/filter_folders.hpp"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {
namespace {

/// Of most builds; `tailrace` puts it behind our own folder.
constexpr const char* usual_folder = "/usr/local/hdf5/lib/plugin";

/// What stands before the last slash; false where it is too long.
bool folder_of(const char* path, char (&folder)[PATH_MAX]) {
    const char* const slash = strrchr(path, '/');
    const size_t bytes = slash != nullptr ? static_cast<size_t>(slash - path) : 0;
    if (bytes == 0 || bytes >= sizeof folder) return false;
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    return true;
}

/// Whether HDF5_PLUGIN_PATH is there for us alone. What a user names is all that HDF5 looks at.
bool only_ours_is_named() {
    const char* const named = getenv("HDF5_PLUGIN_PATH");  // NOLINT(concurrency-mt-unsafe)
    char own[PATH_MAX];
    Dl_info here{};
    if (named == nullptr ||
        dladdr(reinterpret_cast<const void*>(&only_ours_is_named), &here) == 0 ||
        here.dli_fname == nullptr || !folder_of(here.dli_fname, own))
        return false;
    const size_t bytes = strlen(own);
    if (strncmp(named, own, bytes) != 0) return false;
    const char* const rest = named + bytes;
    return rest[0] == '\0' || (rest[0] == ':' && strcmp(rest + 1, usual_folder) == 0);
}

/// Looks through what is loaded.
struct Search {
    const void* base = nullptr;  ///< of an HDF5
    const char* text = nullptr;  ///< that may stand in it
    bool stands_there = false;
    char of_netcdf4[PATH_MAX] = {};  ///< the folder of the Python package netCDF4
};

bool stands_in(const dl_phdr_info& loaded, const char* text) {
    for (int number = 0; number < loaded.dlpi_phnum; ++number) {
        const ElfW(Phdr)& part = loaded.dlpi_phdr[number];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0) continue;
        const auto* const bytes =
            reinterpret_cast<const char*>(loaded.dlpi_addr + part.p_vaddr);  // NOLINT
        if (memmem(bytes, part.p_filesz, text, strlen(text) + 1) != nullptr) return true;
    }
    return false;
}

int look_at(dl_phdr_info* loaded, size_t /*bytes*/, void* search) {
    auto& found = *static_cast<Search*>(search);
    if (found.text != nullptr) {
        if (reinterpret_cast<const void*>(loaded->dlpi_addr) == found.base)  // NOLINT
            found.stands_there = stands_in(*loaded, found.text);
    } else if (strstr(loaded->dlpi_name, "/netCDF4/_netCDF4.") != nullptr) {
        folder_of(loaded->dlpi_name, found.of_netcdf4);
    }
    return 0;
}

/// Whether the folder is there, and the library was built with it as the one to look into.
bool is_its_own(const Library& of, const char* folder) {
    if (access(folder, X_OK) != 0) return false;
    Search search;
    search.base = of.base;
    search.text = folder;
    dl_iterate_phdr(look_at, &search);
    return search.stands_there;
}

void add(const Library& of, const char* folder) {
    unsigned count = 0;
    char known[PATH_MAX];
    if (of.H5PLsize(&count) < 0) return;
    for (unsigned number = 0; number < count; ++number)
        if (of.H5PLget(number, known, sizeof known) > 0 && strcmp(known, folder) == 0) return;
    of.H5PLappend(folder);
}

void keep_own(const Library& of) {
    char prefix[PATH_MAX];
    char folder[PATH_MAX];
    const bool known = of.path != nullptr && folder_of(of.path, folder);
    if (!known || !folder_of(folder, prefix)) prefix[0] = '\0';
    const char* const starts[] = {"/usr/local/hdf5", "/usr/local", prefix};
    const char* const ends[] = {"/lib/plugin", "/lib/hdf5/plugin"};
    for (const char* const start : starts) {
        for (const char* const end : ends) {
            const int bytes = snprintf(folder, sizeof folder, "%.4000s%s", start, end);
            if (bytes > 0 && start[0] != '\0' && is_its_own(of, folder)) add(of, folder);
        }
    }
}

/// The wheel of netCDF4 brings filters, and names their folder when it is imported, if there is no
/// HDF5_PLUGIN_PATH yet: to its own HDF5, and to all that begin later in the process.
void keep_of_netcdf4(const Library& of) {
    Search search;
    dl_iterate_phdr(look_at, &search);
    if (search.of_netcdf4[0] == '\0') return;
    char folder[PATH_MAX];
    char asked_for[PATH_MAX];
    snprintf(folder, sizeof folder, "%.4000s/plugins", search.of_netcdf4);
    snprintf(asked_for, sizeof asked_for, "%.4050s/lib__nczhdf5filters.so", folder);
    if (access(asked_for, F_OK) == 0) add(of, folder);
}

}  // namespace

void keep_filter_folders(const Library& library) {
    if (library.H5PLappend == nullptr || library.H5PLsize == nullptr ||
        library.H5PLget == nullptr || !only_ours_is_named())
        return;
    const ErrorsKept kept(library);
    keep_own(library);
    keep_of_netcdf4(library);
}

}  // namespace tailrace::hooks::vol
