// SPDX-License-Identifier: Apache-2.0
// The places of chunks in a file that rank 0 alone has open in HDF5.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "formats/hdf5/batch.hpp"
#include "formats/hdf5/chunk_driver.hpp"
#include "formats/hdf5/chunk_share.hpp"

namespace tailrace::formats::hdf5 {

/// A chunk that wants a place.
struct ChunkWish {
    ChunkName name;
    std::uint32_t filter_mask = 0;
    std::uint64_t bytes = 0;
};

/// A chunk that is stored already.
struct StoredChunk {
    StoragePlace place;
    std::uint32_t filter_mask = 0;
};

/// Rank 0 enters the chunks of all ranks into the file's index and tells each where to write.
/// [collective]
/// @param seen    the chunks of this batch that have a place; kept on rank 0
/// @param failed  first Error of this rank, if there is none yet; nothing is asked for then
/// @returns one entry per wish, empty where it could not be met
[[nodiscard]] std::vector<std::optional<StoragePlace>> place_chunks(
    const comm::Comm& comm, std::span<const Dataset> datasets, ChunkDriver& driver,
    std::span<const ChunkWish> wishes, std::set<ChunkName>& seen,
    std::optional<core::Error>& failed);

/// Where chunks lie that were stored before.  [collective]
/// @returns one entry per name, empty where the chunk is not there
[[nodiscard]] std::vector<std::optional<StoredChunk>> find_chunks(
    const comm::Comm& comm, std::span<const Dataset> datasets, std::span<const ChunkName> names,
    std::optional<core::Error>& failed);

}  // namespace tailrace::formats::hdf5
