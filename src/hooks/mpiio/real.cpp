// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/real.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/common/session.hpp"
#include "hooks/common/spooling.hpp"

namespace tailrace::hooks::mpiio {
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

void* find_beside(const char* name) {
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

}  // namespace

void* find_next(const char* name) {
    void* next = dlsym(RTLD_NEXT, name);
    return next != nullptr ? next : find_beside(name);
}

bool understood() {
    enum : int { not_asked, yes, no };
    static std::atomic<int> answer{not_asked};
    if (answer.load(std::memory_order_relaxed) != not_asked) return answer.load() == yes;
    static constinit Real<int(char*, int*)> get_version{"PMPI_Get_library_version"};
    char text[most_version_bytes + 1] = {};
    int length = 0;
    const bool known = get_version(text, &length) == MPI_SUCCESS;
    text[strcspn(text, "\n\t")] = '\0';
    const bool open_mpi = strstr(text, "Open MPI") != nullptr;
#ifdef OPEN_MPI
    const bool good = known && open_mpi;
    constexpr char built_for[] = "Open MPI";
#else
    const bool good = known && !open_mpi;
    constexpr char built_for[] = "MPICH and its kin";
#endif
    if (answer.exchange(good ? yes : no) == not_asked && !good) {
        const char* rank = getenv(open_mpi ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK");  // NOLINT
        char line[256];
        const int bytes = snprintf(
            line, sizeof line, "tailrace: %s: the hook was built for %s, the program uses %.80s\n",
            session::on() ? "MPI-IO is not recorded" : "no hints are set by MPI-IO", built_for,
            text);
        if ((rank == nullptr || strcmp(rank, "0") == 0) && bytes > 0)
            spooling::to_standard_error(line, strnlen(line, sizeof line));
    }
    return good;
}

bool is_null(MPI_Info info) {
#ifdef OPEN_MPI
    // A program may hold a copy of the object, which then is the one that all use.
    static std::atomic<void*> of_program{nullptr};
    static std::atomic<void*> of_library{nullptr};
    if (of_library.load() == nullptr) {
        of_program.store(dlsym(RTLD_DEFAULT, "ompi_mpi_info_null"));
        of_library.store(find_next("ompi_mpi_info_null"));
    }
    const void* object = static_cast<void*>(info);
    return object == nullptr || object == of_program.load() || object == of_library.load() ||
           of_library.load() == nullptr;
#else
    return info == MPI_INFO_NULL;
#endif
}

uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
    static constinit Real<int(MPI_Datatype, MPI_Count*)> type_size{"PMPI_Type_size_x"};
    MPI_Count bytes = 0;
    if (count <= 0 || type_size(type, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
    return static_cast<uint64_t>(count) * static_cast<uint64_t>(bytes);
}

}  // namespace tailrace::hooks::mpiio
