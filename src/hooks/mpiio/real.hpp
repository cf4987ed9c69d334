// SPDX-License-Identifier: Apache-2.0
// The functions of MPI behind ours, found at run time: nothing here is linked with an MPI library.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <stdint.h>

#include <atomic>

namespace tailrace::hooks::mpiio {

/// A handle as a register holds it. Whichever MPI the program uses, it goes on whole: those of Open
/// MPI are addresses, those of MPICH and its kin numbers of 32 bits.
using Wide = uintptr_t;

/// The handle, where the program's MPI is understood().
template <typename Handle>
Handle as(Wide wide) {
    return (Handle)wide;
}

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
    /// MPI_ERR_INTERN where there is no such function: it cannot be, somebody called it.
    Result operator()(Arguments... arguments) {
        void* next = found();
        if (next == nullptr) return Result{MPI_ERR_INTERN};
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

/// What any MPI may write of its version: those of MPICH write more than Open MPI's header says.
constexpr unsigned most_version_bytes = 16384;
/// Whether the program's MPI is of the kind that this library was built for: handles differ. Where
/// it is not, that is said once.  [local]
bool understood();

/// Whether it is MPI_INFO_NULL, which may be the address of an object in the library.  [local]
bool is_null(MPI_Info info);

/// Bytes of `count` elements of a type.  [local]
uint64_t bytes_of(MPI_Count count, MPI_Datatype type);

}  // namespace tailrace::hooks::mpiio
