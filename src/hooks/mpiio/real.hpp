// SPDX-License-Identifier: Apache-2.0
// The functions of MPI behind ours, found at run time: nothing here is linked with an MPI library.
#pragma once

#include <stdint.h>

#include <atomic>

#include "hooks/mpiio/abi.hpp"

namespace tailrace::hooks::mpiio {

/// The next definition of `name` after this library; where MPI was loaded out of sight (a Python
/// module's own dependency) the loaded MPI library's. nullptr where there is none.  [local]
void* find_next(const char* name);

/// One function, looked up at its first call and kept.
template <typename Function>
class Real;

template <typename Result, typename... Arguments>
class Real<Result(Arguments...)> {
public:
    constexpr explicit Real(const char* name) : x_name(name) {}
    /// An error where there is no such function: it cannot be, somebody called it.
    Result operator()(Arguments... arguments) {
        void* next = found();
        if (next == nullptr) return Result{err_here};
        return reinterpret_cast<Result (*)(Arguments...)>(next)(arguments...);
    }
    [[nodiscard]] bool is_there() { return found() != nullptr; }

private:
    void* found() {
        void* next = x_next.load(std::memory_order_relaxed);
        if (next != nullptr) return next;
        next = find_next(x_name);
        x_next.store(next, std::memory_order_relaxed);
        return next;
    }

    const char* x_name;
    std::atomic<void*> x_next{nullptr};
};

/// Bytes of `count` elements of a type.  [local]
uint64_t bytes_of(Count count, Wide type);

}  // namespace tailrace::hooks::mpiio
