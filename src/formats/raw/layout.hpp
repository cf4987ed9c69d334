// SPDX-License-Identifier: Apache-2.0
// Where each element of a raw container lies (docs/reference/raw_container.md). No I/O.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/schema.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::raw {

/// An object with its place in the file.
struct Placed {
    core::Object object;
    core::Extents dims;
    core::Extents chunk;       ///< empty: contiguous
    std::uint64_t offset = 0;  ///< bytes
    std::uint64_t bytes = 0;   ///< taken in the file, padding of chunks included
};

/// A part of a box that lies in one row-major array of the file: the whole object, or one chunk.
struct Block {
    std::uint64_t file_base = 0;  ///< byte where that array begins
    core::Extents file_dims;
    core::Extents file_offset;   ///< of the block in that array
    core::Extents piece_offset;  ///< of the block in the box
    core::Extents count;
};

/// Objects one after another, each at a multiple of the alignment.
class Layout {
public:
    /// @param alignment_bytes  0 counts as 1
    Layout(Chunks chunks, std::uint64_t alignment_bytes);

    /// Places further objects; all or none of them.  [local]
    /// @returns their ids
    /// @throws core::Error{bad_input | unsupported}
    std::vector<core::ObjectId> add(std::span<const core::Object> objects);
    [[nodiscard]] const std::vector<Placed>& objects() const noexcept {  ///< [local]
        return x_objects;
    }
    /// First byte behind all objects.  [local]
    [[nodiscard]] std::uint64_t data_end() const noexcept { return x_end; }

private:
    Chunks x_chunks;
    std::uint64_t x_alignment, x_end = 0;
    std::vector<Placed> x_objects;
};

/// Checks an object for all raw formats: kinds, fill, sizes.  [local]
/// @throws core::Error{bad_input | unsupported}
void check_object(const core::Object& object);

/// Checks the arguments of one piece.  [local]
/// @throws core::Error{bad_input | wrong_call} naming the object and the box
void check_write(const core::Write& piece, std::span<const Placed> objects);
void check_read(const core::Read& piece, std::span<const Placed> objects);  ///< [local]

/// Blocks of `box`, in ascending order of their place in the file.  [local]
template <class Visit>
void for_each_block(const Placed& object, const core::Box& box, Visit&& visit);

/// Number of blocks of `box`.  [local]
[[nodiscard]] std::uint64_t count_blocks(const Placed& object, const core::Box& box);

/// How a box of memory lies there: extents of the array and where the box begins in it.
struct MemoryArray {
    core::Extents dims, offset;
    MemoryArray(const core::Box& box, const core::MemLayout& memory);
};

/// Longest runs that are contiguous both in the array `a_dims` and in the array `b_dims`, of a
/// block of `count` elements that begins at `a_offset` and `b_offset`; visit(index in a, index in
/// b, elements), ascending.  [local]
template <class Visit>
void for_each_common_run(const core::Extents& count, const core::Extents& a_dims,
                         const core::Extents& a_offset, const core::Extents& b_dims,
                         const core::Extents& b_offset, Visit&& visit);

/// Runs of a piece: visit(byte in the file, byte in memory, bytes).  [local]
template <class Visit>
void for_each_piece_run(const Placed& object, const core::Box& box, const core::MemLayout& memory,
                        Visit&& visit);

// --- implementation of the templates ---------------------------------------------------------

/// Counts `position` up in a grid of `extents`, last dimension fastest; false after the last.
inline bool next_position(core::Extents& position, std::span<const std::uint64_t> extents) {
    for (std::size_t d = extents.size(); d-- > 0;) {
        if (++position[d] < extents[d]) return true;
        position[d] = 0;
    }
    return false;
}

template <class Visit>
void for_each_block(const Placed& object, const core::Box& box, Visit&& visit) {
    if (box.empty()) return;
    const std::size_t rank = box.rank();
    if (object.chunk.empty()) {
        visit(Block{object.offset, object.dims, box.offset, core::Extents(rank, 0), box.count});
        return;
    }
    core::Extents first(rank), touched(rank), grid(rank), at(rank, 0);
    std::uint64_t chunk_bytes = core::size_of(object.object.type);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::uint64_t chunk = object.chunk[d];
        first[d] = box.offset[d] / chunk;
        touched[d] = (box.offset[d] + box.count[d] - 1) / chunk - first[d] + 1;
        grid[d] = (object.dims[d] + chunk - 1) / chunk;
        chunk_bytes *= chunk;
    }
    do {
        Block block{0, object.chunk, core::Extents(rank), core::Extents(rank), core::Extents(rank)};
        std::uint64_t index = 0;
        for (std::size_t d = 0; d < rank; ++d) {
            const std::uint64_t number = first[d] + at[d];
            const std::uint64_t begin = std::max(box.offset[d], number * object.chunk[d]);
            const std::uint64_t end =
                std::min(box.offset[d] + box.count[d], (number + 1) * object.chunk[d]);
            block.file_offset[d] = begin - number * object.chunk[d];
            block.piece_offset[d] = begin - box.offset[d];
            block.count[d] = end - begin;
            index = index * grid[d] + number;
        }
        block.file_base = object.offset + index * chunk_bytes;
        visit(block);
    } while (next_position(at, touched));
}

template <class Visit>
void for_each_common_run(const core::Extents& count, const core::Extents& a_dims,
                         const core::Extents& a_offset, const core::Extents& b_dims,
                         const core::Extents& b_offset, Visit&& visit) {
    const std::size_t rank = count.size();
    // Dimensions from `inner` on lie contiguously in both arrays: all behind it are whole there.
    std::size_t inner = rank;
    std::uint64_t run = 1;
    while (inner > 0) {
        --inner;
        run *= count[inner];
        if (count[inner] != a_dims[inner] || count[inner] != b_dims[inner]) break;
    }
    const std::span outer(count.data(), inner);
    core::Extents at(inner, 0);
    do {
        std::uint64_t a = 0, b = 0;
        for (std::size_t d = 0; d < rank; ++d) {
            const std::uint64_t step = d < inner ? at[d] : 0;
            a = a * a_dims[d] + a_offset[d] + step;
            b = b * b_dims[d] + b_offset[d] + step;
        }
        visit(a, b, run);
    } while (next_position(at, outer));
}

template <class Visit>
void for_each_piece_run(const Placed& object, const core::Box& box, const core::MemLayout& memory,
                        Visit&& visit) {
    const MemoryArray array(box, memory);
    const std::uint64_t size = core::size_of(object.object.type);
    for_each_block(object, box, [&](const Block& block) {
        core::Extents in_memory = array.offset;
        for (std::size_t d = 0; d < in_memory.size(); ++d) in_memory[d] += block.piece_offset[d];
        for_each_common_run(block.count, block.file_dims, block.file_offset, array.dims, in_memory,
                            [&](std::uint64_t file, std::uint64_t mem, std::uint64_t n) {
                                visit(block.file_base + file * size, mem * size, n * size);
                            });
    });
}

}  // namespace tailrace::formats::raw
