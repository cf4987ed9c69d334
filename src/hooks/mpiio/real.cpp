// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/real.hpp"

#include <dlfcn.h>

#include "hooks/common/mpi_library.hpp"

namespace tailrace::hooks::mpiio {

void* find_next(const char* name) {
    void* next = dlsym(RTLD_NEXT, name);
    return next != nullptr ? next : find_in_mpi(name);
}

uint64_t bytes_of(Count count, Wide type) {
    static constinit Real<int(Wide, Count*)> type_size{"PMPI_Type_size_x"};
    Count bytes = 0;
    if (count <= 0 || type_size(type, &bytes) != success || bytes < 0) return 0;
    return static_cast<uint64_t>(count) * static_cast<uint64_t>(bytes);
}

}  // namespace tailrace::hooks::mpiio
