// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix/real.hpp"

#include <dlfcn.h>

namespace tailrace::hooks::posix {

void* find_next(const char* name, const char* library) {
    void* next = dlsym(RTLD_NEXT, name);
    if (next != nullptr || library == nullptr) return next;
    // A library that only a dlopened plugin needs is not in the global order. It is loaded, since
    // somebody called us: take it from there.
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    next = dlsym(handle, name);
    dlclose(handle);
    return next;
}

namespace real {
#define TAILRACE_REAL(result, name, arguments) constinit Real<result arguments> name{#name};
#include "hooks/posix/real_functions.def"
#undef TAILRACE_REAL
}  // namespace real

void find_all() {
#define TAILRACE_REAL(result, name, arguments) (void)real::name.address();
#include "hooks/posix/real_functions.def"
#undef TAILRACE_REAL
}

}  // namespace tailrace::hooks::posix
