// SPDX-License-Identifier: Apache-2.0
// Who encodes which chunk of a batch: a rank that holds one whole keeps it; the pieces of others
// go to one rank each, packed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/sink.hpp"

namespace tailrace::formats::hdf5 {

/// A chunk of a file.
struct ChunkName {
    core::ObjectId object = 0;
    core::Extents offset;  ///< of its first element
    friend auto operator<=>(const ChunkName&, const ChunkName&) = default;
};

/// What the ranks need to know of an object.
struct ChunkGrid {
    core::Extents dims;
    core::Extents chunk;
    core::Scalar type = core::Scalar::f32;

    /// The elements of a chunk that lie within the object.  [local]
    [[nodiscard]] core::Box inside(const core::Extents& offset) const;
    /// The chunk lies within the object with all its elements.  [local]
    [[nodiscard]] bool whole(const core::Extents& offset) const;
};

/// A chunk of which this rank has all elements that there are, in one piece.
struct WholeChunk {
    ChunkName name;
    const core::Write* piece = nullptr;
};

/// Elements of one chunk in the type of the file, packed.
struct ChunkPart {
    core::Box place;
    std::span<const std::byte> elements;
};

/// What this rank does with its pieces.
struct Shares {
    std::vector<WholeChunk> mine;
    std::vector<std::vector<std::byte>> parts;  ///< packed, by the rank that encodes them
    bool any_part = false;
};

/// Converts packed elements of a piece to the type of its object, in place: data, count, type of
/// the piece, type of the object.
using Convert = std::function<void(std::byte*, std::uint64_t, core::Scalar, core::Scalar)>;

/// Elements of `part`, a box within the piece, packed in the type of the file.  [local]
[[nodiscard]] std::vector<std::byte> elements_of(const core::Write& piece, const core::Box& part,
                                                 core::Scalar type, const Convert& convert);

/// Cuts the pieces of this rank along chunks.  [local]
[[nodiscard]] Shares share(std::span<const ChunkGrid> grids,
                           std::span<const std::vector<const core::Write*>> pieces, int ranks,
                           const Convert& convert);

/// The parts that came from all ranks, by chunk; they point into `packed`.  [local]
[[nodiscard]] std::map<ChunkName, std::vector<ChunkPart>> parts_by_chunk(
    std::span<const ChunkGrid> grids, std::span<const std::vector<std::byte>> packed);

/// Puts `part` into the packed elements of its chunk.  [local]
void lay(const ChunkGrid& grid, const ChunkName& name, const ChunkPart& part,
         std::span<std::byte> chunk);

}  // namespace tailrace::formats::hdf5
