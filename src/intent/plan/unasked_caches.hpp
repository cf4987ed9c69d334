// SPDX-License-Identifier: Apache-2.0
// Chunk caches that libraries on top of HDF5 ask for although nobody chose one.
#pragma once

#include <cstdint>

namespace tailrace::intent::plan {

struct ChunkCache {
    std::uint64_t slots = 0, bytes = 0;
    double preemption = 0;
};

/// Whether netCDF-C or PyTables asks for this cache by itself. It differs from HDF5's default, and
/// yet it is no choice of the program: a plan may have another, though none that holds less.
/// [local]
/// @param chunk_bytes  of the dataset; 0: the cache is that of all datasets of a file
[[nodiscard]] bool nobody_chose(const ChunkCache& cache, std::uint64_t chunk_bytes) noexcept;

}  // namespace tailrace::intent::plan
