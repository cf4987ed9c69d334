// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/chunk_share.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"
#include "formats/sink/pieces.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Box;
using core::Extents;
using core::Write;

/// Calls `visit(offset)` for every chunk that `box` meets.
template <class Visit>
void for_each_chunk(const Box& box, const Extents& chunk, Visit&& visit) {
    Extents first = box.offset, counts(box.rank());
    std::uint64_t number = 1;
    for (std::size_t d = 0; d < first.size(); ++d) {
        counts[d] = (box.offset[d] + box.count[d] - 1) / chunk[d] - box.offset[d] / chunk[d] + 1;
        first[d] = box.offset[d] / chunk[d] * chunk[d];
        number *= counts[d];
    }
    for (std::uint64_t i = 0; i < number; ++i) {
        Extents offset = core::grid_position(i, counts);
        for (std::size_t d = 0; d < offset.size(); ++d) offset[d] = first[d] + offset[d] * chunk[d];
        visit(offset);
    }
}

/// The same on all ranks: neighbouring chunks go to different ones.
std::size_t owner_of(const ChunkGrid& grid, const Extents& offset, int ranks) {
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < offset.size(); ++d) {
        const std::uint64_t count = grid.dims[d] / grid.chunk[d] + 1;
        index = index * count + offset[d] / grid.chunk[d];
    }
    return static_cast<std::size_t>(index % static_cast<std::uint64_t>(ranks));
}

}  // namespace

Box ChunkGrid::inside(const Extents& offset) const {
    return core::intersect({offset, chunk}, {Extents(dims.size()), dims});
}

bool ChunkGrid::whole(const Extents& offset) const { return Box{offset, chunk}.inside(dims); }

std::vector<std::byte> elements_of(const Write& piece, const Box& part, core::Scalar type,
                                   const Convert& convert) {
    const std::uint64_t from = core::size_of(piece.type), to = core::size_of(type);
    const std::uint64_t count = part.volume();
    std::vector<std::byte> data(static_cast<std::size_t>(count * std::max(from, to)));
    PartInMemory(piece.place, part, piece.memory).pack(piece.data, from, data.data());
    convert(data.data(), count, piece.type, type);
    data.resize(static_cast<std::size_t>(count * to));
    return data;
}

Shares share(std::span<const ChunkGrid> grids, std::span<const std::vector<const Write*>> pieces,
             int ranks, const Convert& convert) {
    Shares shares;
    shares.parts.resize(static_cast<std::size_t>(ranks));
    for (std::size_t object = 0; object < pieces.size(); ++object) {
        const ChunkGrid& grid = grids[object];
        for (const Write* piece : pieces[object])
            for_each_chunk(piece->place, grid.chunk, [&](const Extents& offset) {
                const Box part = core::intersect({offset, grid.chunk}, piece->place);
                if (part == grid.inside(offset)) {
                    shares.mine.push_back({{static_cast<core::ObjectId>(object), offset}, piece});
                    return;
                }
                shares.any_part = true;
                core::ByteWriter out(shares.parts[owner_of(grid, offset, ranks)]);
                out.number(object);
                out.numbers(offset);
                out.numbers(part.offset);
                out.numbers(part.count);
                out.bytes(elements_of(*piece, part, grid.type, convert));
            });
    }
    return shares;
}

std::map<ChunkName, std::vector<ChunkPart>> parts_by_chunk(
    std::span<const ChunkGrid> grids, std::span<const std::vector<std::byte>> packed) {
    std::map<ChunkName, std::vector<ChunkPart>> chunks;
    for (const auto& text : packed) {
        core::ByteReader in(text);
        while (!in.at_end()) {
            ChunkName name;
            name.object = static_cast<core::ObjectId>(in.number());
            const std::size_t rank = grids[name.object].chunk.size();
            name.offset = in.numbers(rank);
            Box place;
            place.offset = in.numbers(rank);
            place.count = in.numbers(rank);
            const std::uint64_t bytes = place.volume() * core::size_of(grids[name.object].type);
            chunks[name].push_back({std::move(place), in.bytes(bytes)});
        }
    }
    return chunks;
}

void lay(const ChunkGrid& grid, const ChunkName& name, const ChunkPart& part,
         std::span<std::byte> chunk) {
    const std::uint64_t size = core::size_of(grid.type);
    Box in_chunk = part.place;
    for (std::size_t d = 0; d < in_chunk.rank(); ++d) in_chunk.offset[d] -= name.offset[d];
    core::for_each_run(
        in_chunk, grid.chunk, [&](std::uint64_t at, std::uint64_t in_box, std::uint64_t n) {
            std::memcpy(chunk.data() + at * size, part.elements.data() + in_box * size, n * size);
        });
}

}  // namespace tailrace::formats::hdf5
