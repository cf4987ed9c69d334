// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/unasked_caches.hpp"

#include <algorithm>
#include <array>

namespace tailrace::intent::plan {

namespace {

constexpr std::uint64_t one_mib = 1048576;

/// netCDF-C: 4 MiB until 4.7, 16 MiB until 4.9.2, and 64 MiB since. The versions before gave a
/// dataset whose chunk is larger than that room for ten of its chunks, within 64 MiB.
bool of_netcdf(const ChunkCache& cache, std::uint64_t chunk_bytes) noexcept {
    constexpr std::array<std::uint64_t, 4> slots{1000, 1009, 4133, 4096};
    constexpr std::array<std::uint64_t, 4> bytes{4 * one_mib, 16 * one_mib, 32 * one_mib,
                                                 64 * one_mib};
    if (cache.preemption != 0.75 || std::ranges::find(slots, cache.slots) == slots.end())
        return false;
    if (std::ranges::find(bytes, cache.bytes) != bytes.end()) return true;
    return chunk_bytes > 0 && cache.bytes % 10 == 0 && cache.bytes / 10 == chunk_bytes;
}

/// PyTables: 2 MiB until 3.0, 16 MiB since.
bool of_pytables(const ChunkCache& cache) noexcept {
    return cache.slots == 521 && cache.preemption == 0 &&
           (cache.bytes == 2 * one_mib || cache.bytes == 16 * one_mib);
}

}  // namespace

bool nobody_chose(const ChunkCache& cache, std::uint64_t chunk_bytes) noexcept {
    return of_netcdf(cache, chunk_bytes) || of_pytables(cache);
}

}  // namespace tailrace::intent::plan
