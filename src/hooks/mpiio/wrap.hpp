// SPDX-License-Identifier: Apache-2.0
// How a function of MPI is defined here. The profiling name is defined as well: the Fortran
// libraries of Open MPI call that one.
#pragma once

#include "hooks/mpiio/real.hpp"
#include "hooks/mpiio/recorder.hpp"

namespace tailrace::hooks::mpiio {

/// Stands in a call from its begin to its end. A call within a call (a library's own, the profiling
/// name behind the plain one) is not counted again.
class Call {
public:
    Call();
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    [[nodiscard]] bool counts() const { return x_counts; }
    [[nodiscard]] Took took() const { return {x_start_ns, session::now()}; }

private:
    bool x_counts;
    int64_t x_start_ns;
};

inline Handle handle_of(File file) { return (Handle)file; }

}  // namespace tailrace::hooks::mpiio

/// Defines the exported `symbol`; `real` is the one behind it.
#define TAILRACE_DEFINE(symbol, parameters, ...)                                             \
    extern "C" __attribute__((visibility("default"),                                         \
                              used)) int tailrace_wrap_##symbol parameters __asm__(#symbol); \
    extern "C" int tailrace_wrap_##symbol parameters {                                       \
        static constinit tailrace::hooks::mpiio::Real<int parameters> real{#symbol};         \
        __VA_ARGS__                                                                          \
    }
#define TAILRACE_DEFINE_BOTH(name, parameters, ...)      \
    TAILRACE_DEFINE(MPI_##name, parameters, __VA_ARGS__) \
    TAILRACE_DEFINE(PMPI_##name, parameters, __VA_ARGS__)
