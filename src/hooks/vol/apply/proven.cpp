// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/proven.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tailrace::hooks::vol {
namespace {

/// Whether `version` is what the MPI says of itself, as the spool keeps it: up to the first comma.
bool is_mpi(const Library& library, const char* version) {
    using Ask = int (*)(char*, int*);
    void* found = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    if (found == nullptr) found = dlsym(library.handle, "MPI_Get_library_version");
    const auto ask = reinterpret_cast<Ask>(found);
    if (ask == nullptr) return false;
    static char text[16384];
    int bytes = 0;
    memset(text, 0, sizeof text);
    if (ask(text, &bytes) != 0) return false;
    text[strcspn(text, "\n,")] = '\0';
    return strcmp(text, version) == 0;
}

}  // namespace

bool versions_are_proven(const Library& library) {
    const char* proven = getenv("TAILRACE_PROVEN");  // NOLINT(concurrency-mt-unsafe): only read
    if (proven == nullptr || *proven == '\0') return true;
    char own[64];
    snprintf(own, sizeof own, "%u.%u.%u", library.version[0], library.version[1],
             library.version[2]);
    const size_t bytes = strlen(own);
    if (strncmp(proven, own, bytes) != 0) return false;
    return proven[bytes] == '\0' || (proven[bytes] == ';' && is_mpi(library, proven + bytes + 1));
}

}  // namespace tailrace::hooks::vol
