// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/cache_memory.hpp"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

#include "core/memory_groups.hpp"

namespace tailrace::hooks::vol {
namespace {

/// Of the node, where a launcher says so. Processes that a program starts by itself are not known
/// of each other.
uint64_t ranks_of_node() {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
        const char* text = getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
        const int count = text != nullptr ? atoi(text) : 0;
        if (count > 1) return static_cast<uint64_t>(count);
    }
    // srun without either: "4(x2),3", of which the largest counts.
    uint64_t ranks = 1;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): only read
    for (const char* at = getenv("SLURM_STEP_TASKS_PER_NODE"); at != nullptr;) {
        const int count = atoi(at);
        if (count > 1 && static_cast<uint64_t>(count) > ranks) ranks = static_cast<uint64_t>(count);
        at = strchr(at, ',');
        if (at != nullptr) ++at;
    }
    return ranks;
}

uint64_t memory_of_node() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return 0;
    const uint64_t all = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
    const uint64_t of_groups = core::group_memory_limit();
    return of_groups < all ? of_groups : all;
}

uint64_t memory_of_process() {
    const uint64_t shared = memory_of_node() / ranks_of_node();
    rlimit own{};
    const bool bounded = getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY;
    return bounded && own.rlim_cur < shared ? own.rlim_cur : shared;
}

}  // namespace

uint64_t memory_for_caches() {
    constexpr uint64_t not_asked = ~uint64_t{0};
    static std::atomic<uint64_t> known{not_asked};  // asked for at each dataset
    uint64_t bytes = known.load(std::memory_order_relaxed);
    if (bytes == not_asked) known.store(bytes = memory_of_process() / 4, std::memory_order_relaxed);
    return bytes;
}

}  // namespace tailrace::hooks::vol
