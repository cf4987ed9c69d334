// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

namespace tailrace::hooks {
namespace {

constexpr unsigned most_candidates = 16;
/// Loaded libraries whose name says MPI. Only their names are taken in the visit: it holds a lock
/// of the loader.
struct Candidates {
    char* path[most_candidates];
    unsigned count;
};

int take_name(dl_phdr_info* info, size_t, void* found) {
    auto& all = *static_cast<Candidates*>(found);
    const char* slash = info->dlpi_name != nullptr ? strrchr(info->dlpi_name, '/') : nullptr;
    if (slash == nullptr || strncmp(slash, "/libmpi", 7) != 0) return 0;
    if (all.count < most_candidates) all.path[all.count++] = strdup(info->dlpi_name);
    return 0;
}

/// A handle of the library where it defines PMPI_File_open itself: libmpi.so.40, libmpich.so.12,
/// not libmpi_mpifh.so.40.
void* handle_of(const char* path) {
    void* handle = path != nullptr ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (handle == nullptr) return nullptr;
    void* own = dlsym(handle, "PMPI_File_open");
    Dl_info where{};
    if (own != nullptr && dladdr(own, &where) != 0 && strcmp(where.dli_fname, path) == 0) {
        return handle;  // kept open: its functions are kept
    }
    dlclose(handle);
    return nullptr;
}

}  // namespace

void* find_in_mpi(const char* name) {
    static std::atomic<void*> library{nullptr};
    void* handle = library.load();
    if (handle == nullptr) {
        Candidates all{};
        dl_iterate_phdr(take_name, &all);
        for (unsigned number = 0; number < all.count; ++number) {
            if (handle == nullptr) handle = handle_of(all.path[number]);
            free(all.path[number]);
        }
        library.store(handle);
    }
    return handle != nullptr ? dlsym(handle, name) : nullptr;
}

bool MpiVersion::ask() {
    constexpr char name[] = "PMPI_Get_library_version";
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == nullptr) found = find_in_mpi(name);
    int bytes = 0;
    memset(text, 0, sizeof text);
    if (found == nullptr || reinterpret_cast<int (*)(char*, int*)>(found)(text, &bytes) != 0) {
        return false;
    }
    text[strcspn(text, "\n,")] = '\0';
    return true;
}

}  // namespace tailrace::hooks
