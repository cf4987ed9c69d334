// SPDX-License-Identifier: Apache-2.0
// The functions that ours stand in front of: the next definition in the order of symbol lookup.
#pragma once

#include <aio.h>
#include <errno.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include <atomic>

struct io_uring;
struct io_uring_cqe;
struct __kernel_timespec;

namespace tailrace::hooks::posix {

/// Address of the next `name` after this object; `library` is asked where it was loaded out of
/// sight (a plugin's own dependency). nullptr where there is none.  [local]
void* find_next(const char* name, const char* library);

/// One such function, looked up at its first call and kept. Constant-initialised: usable before
/// any constructor ran.
template <typename Function>
class Real;

template <typename Result, typename... Arguments>
class Real<Result(Arguments...)> {
public:
    constexpr explicit Real(const char* name, const char* library = nullptr)
        : x_name(name), x_library(library) {}

    Result operator()(Arguments... arguments) {
        using Function = Result(Arguments...);
        void* next = address();
        if (next == nullptr) {
            errno = ENOSYS;
            return static_cast<Result>(-1);
        }
        return reinterpret_cast<Function*>(next)(arguments...);
    }
    void* address() {
        void* next = x_next.load(std::memory_order_relaxed);
        if (next == nullptr) {
            next = find_next(x_name, x_library);
            x_next.store(next, std::memory_order_relaxed);
        }
        return next;
    }

private:
    const char* x_name;
    const char* x_library;
    std::atomic<void*> x_next{nullptr};
};

namespace real {
#define TAILRACE_REAL(result, name, arguments) extern Real<result arguments> name;
#include "hooks/posix/real_functions.def"
#undef TAILRACE_REAL
// open() and openat() take their mode as a variable argument; on every ABI we build for that is
// passed like a fixed one.
}  // namespace real

/// Looks all of them up, so that no later call does it inside a signal handler.  [local]
void find_all();

}  // namespace tailrace::hooks::posix
