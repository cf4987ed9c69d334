// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/datatype.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace tailrace::formats::mpiio {

using comm::check;
using core::Box;
using core::Extents;
using raw::Block;

namespace {

constexpr std::uint64_t portion_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t portion_blocks = 65536;
constexpr std::uint64_t long_run_bytes = std::uint64_t{1} << 20;

std::uint64_t index_of(const Extents& position, const Extents& dims) {
    return core::linear_index(position, dims);
}

/// `count` elements out of an array of `dims`, from its first element on; not committed.
Datatype array_type(const Extents& count, const Extents& dims, std::uint64_t element_bytes) {
    std::size_t inner = count.size();
    std::uint64_t run = element_bytes;
    std::uint64_t stride = element_bytes;  // bytes from one index of dimension `inner` to the next
    while (inner > 0) {
        --inner;
        run *= count[inner];
        if (inner > 0) stride *= dims[inner];
        if (count[inner] != dims[inner]) break;
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &type), "MPI_Type_contiguous");
    Datatype made(type);
    for (std::size_t d = inner; d-- > 0;) {
        if (count[d] > 1) {
            check(MPI_Type_create_hvector(static_cast<int>(count[d]), 1,
                                          static_cast<MPI_Aint>(stride), made.get(), &type),
                  "MPI_Type_create_hvector");
            made = Datatype(type);
        }
        stride *= dims[d];
    }
    return made;
}

/// Several blocks at their displacements; equal blocks share a type.
Datatype struct_of(const std::vector<std::pair<std::uint64_t, const Datatype*>>& blocks,
                   std::uint64_t begin) {
    std::vector<int> lengths(blocks.size(), 1);
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    for (const auto& [place, type] : blocks) {
        places.push_back(static_cast<MPI_Aint>(place) - static_cast<MPI_Aint>(begin));
        types.push_back(type->get());
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_struct(static_cast<int>(blocks.size()), lengths.data(), places.data(),
                                 types.data(), &type),
          "MPI_Type_create_struct");
    return Datatype(type);
}

/// The type of all blocks of a portion in one of the two arrays: `dims_of` and `place_of` (bytes)
/// say how a block lies there.
template <class DimsOf, class PlaceOf>
std::pair<std::uint64_t, Datatype> shape_of(const Portion& portion, DimsOf&& dims_of,
                                            PlaceOf&& place_of) {
    const raw::Placed& object = *portion.object;
    const std::uint64_t size = core::size_of(object.object.type);
    std::map<Extents, Datatype> types;
    std::vector<std::pair<std::uint64_t, const Datatype*>> blocks;
    raw::for_each_block(object, portion.box, [&](const Block& block) {
        auto found = types.find(block.count);
        if (found == types.end())
            found = types.emplace(block.count, array_type(block.count, dims_of(block), size)).first;
        blocks.emplace_back(place_of(block), &found->second);
    });
    const std::uint64_t begin = std::min_element(blocks.begin(), blocks.end())->first;
    Datatype all = blocks.size() == 1 ? std::move(types.begin()->second) : struct_of(blocks, begin);
    MPI_Datatype committed = all.get();
    check(MPI_Type_commit(&committed), "MPI_Type_commit");
    return {begin, std::move(all)};
}

/// True where the elements of `count` lie in one run of an array of `dims`.
bool is_run(const Extents& count, const Extents& dims) {
    std::size_t d = count.size();
    while (d > 0 && count[d - 1] == dims[d - 1]) --d;
    if (d > 0) --d;  // the slowest dimension of the run may be cut
    return std::all_of(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(d),
                       [](std::uint64_t n) { return n == 1; });
}

void describe(Portion& portion) {
    const raw::Placed& object = *portion.object;
    const std::uint64_t size = core::size_of(object.object.type);
    std::uint64_t end = 0;
    bool first = true;
    portion.one_run = true;
    raw::for_each_block(object, portion.box, [&](const Block& block) {
        const std::uint64_t begin =
            block.file_base + index_of(block.file_offset, block.file_dims) * size;
        portion.one_run =
            portion.one_run && is_run(block.count, block.file_dims) && (first || begin == end);
        if (first) portion.file_begin = begin;
        first = false;
        const std::uint64_t elements = Box{{}, block.count}.volume();
        end = begin + elements * size;
        portion.runs += block.count.empty() ? 1 : elements / block.count.back();
    });
}

/// Bytes of the longest run of a box in the file.
std::uint64_t run_bytes(const raw::Placed& object, const Box& box) {
    const Extents& dims = object.chunk.empty() ? object.dims : object.chunk;
    std::uint64_t bytes = core::size_of(object.object.type);
    for (std::size_t d = dims.size(); d-- > 0;) {
        bytes *= std::min(box.count[d], dims[d]);
        if (box.count[d] < dims[d]) break;
    }
    return bytes;
}

/// The slowest dimension with more than one element, and where to cut it (at a chunk's edge if
/// there is one).
std::pair<std::size_t, std::uint64_t> place_to_cut(const raw::Placed& object, const Box& box) {
    std::size_t d = 0;
    while (box.count[d] < 2) ++d;
    std::uint64_t at = box.count[d] / 2;
    if (!object.chunk.empty()) {
        const std::uint64_t edge = (box.offset[d] + at) / object.chunk[d] * object.chunk[d];
        if (edge > box.offset[d]) at = edge - box.offset[d];
    }
    return {d, at};
}

/// Bytes that follow one another in the file and in memory.
struct Run {
    std::uint64_t file = 0;
    std::byte* memory = nullptr;
    std::uint64_t bytes = 0;
};

/// In the order of the file.
std::vector<Run> runs_of(std::span<const Portion> portions) {
    std::vector<Run> runs;
    for (const Portion& one : portions)
        raw::for_each_piece_run(*one.object, one.box, one.memory,
                                [&](std::uint64_t file, std::uint64_t memory, std::uint64_t bytes) {
                                    runs.push_back({file, one.data + memory, bytes});
                                });
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.file < b.file; });
    return runs;
}

bool overlap(std::span<const Run> runs) {
    return std::adjacent_find(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
               return a.file + a.bytes > b.file;
           }) != runs.end();
}

/// The bytes of runs at the places that `place_of` says; those that follow one another are one
/// block.
template <class PlaceOf>
Datatype type_of(std::span<const Run> runs, PlaceOf&& place_of) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (const Run& run : runs) {
        const MPI_Aint place = place_of(run);
        if (places.empty() || places.back() + lengths.back() != place) {
            places.push_back(place);
            lengths.push_back(0);
        }
        lengths.back() += static_cast<int>(run.bytes);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hindexed(static_cast<int>(places.size()), lengths.data(), places.data(),
                                   MPI_BYTE, &type),
          "MPI_Type_create_hindexed");
    Datatype made(type);
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return made;
}

}  // namespace

Datatype::~Datatype() {
    if (x_owned) MPI_Type_free(&x_type);
}

Datatype::Datatype(Datatype&& other) noexcept
    : x_type(std::exchange(other.x_type, MPI_BYTE)), x_owned(std::exchange(other.x_owned, false)) {}

Datatype& Datatype::operator=(Datatype&& other) noexcept {
    if (this != &other) {
        if (x_owned) MPI_Type_free(&x_type);
        x_type = std::exchange(other.x_type, MPI_BYTE);
        x_owned = std::exchange(other.x_owned, false);
    }
    return *this;
}

void cut_piece(const raw::Placed& object, std::byte* data, const Box& box,
               const core::MemLayout& memory, bool single_runs, std::vector<Portion>& portions) {
    if (box.empty()) return;
    const std::uint64_t bytes = box.volume() * core::size_of(object.object.type);
    if (bytes <= portion_bytes && raw::count_blocks(object, box) <= portion_blocks) {
        Portion portion{&object, data, box, memory, bytes};
        describe(portion);
        if (portion.one_run || !single_runs || run_bytes(object, box) < long_run_bytes) {
            portions.push_back(std::move(portion));
            return;
        }
    }
    const auto [d, at] = place_to_cut(object, box);
    const raw::MemoryArray array(box, memory);
    Box low = box;
    Box high = box;
    low.count[d] = at;
    high.offset[d] += at;
    high.count[d] -= at;
    core::MemLayout behind{array.dims, array.offset};
    behind.offset[d] += at;
    cut_piece(object, data, low, {array.dims, array.offset}, single_runs, portions);
    cut_piece(object, data, high, behind, single_runs, portions);
}

std::vector<std::size_t> united_calls(std::span<const Portion> portions) {
    std::vector<std::size_t> calls;
    for (std::size_t first = 0, end = 0; first < portions.size(); first = end) {
        std::uint64_t bytes = 0, runs = 0;
        for (; end < portions.size(); ++end) {
            bytes += portions[end].bytes;
            runs += portions[end].runs;
            if (end > first && (bytes > portion_bytes || runs > portion_blocks)) break;
        }
        const std::size_t count = end - first;
        if (count > 1 && overlap(runs_of(portions.subspan(first, count))))
            calls.insert(calls.end(), count, 1);
        else
            calls.push_back(count);
    }
    return calls;
}

UnitedShape united_shape(std::span<const Portion> portions) {
    const comm::ErrorsReturn guard;
    const std::vector<Run> runs = runs_of(portions);
    const std::uint64_t begin = runs.front().file;
    std::byte* lowest = std::min_element(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
                            return std::less<>()(a.memory, b.memory);
                        })->memory;
    return {
        {begin,
         type_of(runs, [&](const Run& run) { return static_cast<MPI_Aint>(run.file - begin); })},
        {lowest, 1, type_of(runs, [&](const Run& run) {
             return reinterpret_cast<MPI_Aint>(run.memory) - reinterpret_cast<MPI_Aint>(lowest);
         })}};
}

FileShape file_shape(const Portion& portion) {
    const comm::ErrorsReturn guard;
    const std::uint64_t size = core::size_of(portion.object->object.type);
    auto [begin, type] = shape_of(
        portion, [](const Block& block) -> const Extents& { return block.file_dims; },
        [&](const Block& block) {
            return block.file_base + index_of(block.file_offset, block.file_dims) * size;
        });
    return {begin, std::move(type)};
}

MemoryShape memory_shape(const Portion& portion) {
    const comm::ErrorsReturn guard;
    const raw::Placed& object = *portion.object;
    const std::uint64_t size = core::size_of(object.object.type);
    const raw::MemoryArray array(portion.box, portion.memory);
    // In memory order is free, so a box that is one run there needs no type. Only where the file
    // takes its elements in the same order, though: not from several chunks.
    if (is_run(portion.box.count, array.dims) && raw::count_blocks(object, portion.box) == 1)
        return {portion.data + index_of(array.offset, array.dims) * size,
                static_cast<int>(portion.bytes),
                {}};
    auto [begin, type] = shape_of(
        portion, [&](const Block&) -> const Extents& { return array.dims; },
        [&](const Block& block) {
            Extents at = array.offset;
            for (std::size_t d = 0; d < at.size(); ++d) at[d] += block.piece_offset[d];
            return index_of(at, array.dims) * size;
        });
    return {portion.data + begin, 1, std::move(type)};
}

}  // namespace tailrace::formats::mpiio
