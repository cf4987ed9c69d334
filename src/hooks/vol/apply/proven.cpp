// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/proven.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/common/mpi_library.hpp"

namespace tailrace::hooks::vol {
namespace {

bool is_mpi(const char* version) {
    static MpiVersion mpi;
    return mpi.ask() && strcmp(mpi.text, version) == 0;
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
    return proven[bytes] == '\0' || (proven[bytes] == ';' && is_mpi(proven + bytes + 1));
}

}  // namespace tailrace::hooks::vol
