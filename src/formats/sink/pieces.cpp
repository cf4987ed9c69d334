// SPDX-License-Identifier: Apache-2.0
#include "formats/sink/pieces.hpp"

#include <algorithm>
#include <cstring>

#include "core/checked.hpp"
#include "core/error.hpp"

namespace tailrace::formats {

using core::Box;
using core::Code;
using core::Error;

namespace {

void check_memory(const core::MemLayout& memory, const Box& place, const void* data,
                  const std::string& where) {
    if (data == nullptr)
        throw Error(Code::bad_input, "a piece with elements has no memory", where,
                    "pass the address of its first element");
    if (memory.dims.empty()) return;
    const Box inside{memory.offset, place.count};
    if (memory.offset.size() != memory.dims.size() || memory.dims.size() != place.count.size() ||
        !inside.inside(memory.dims))
        throw Error(Code::bad_input, "its memory layout does not hold the box " + place.text(),
                    where, "give extents and offset of the array that holds the box");
}

void check_place(const Box& box, const core::Extents& limits, const std::string& where,
                 const char* doing) {
    if (box.rank() != limits.size() || box.offset.size() != box.count.size())
        throw Error(Code::bad_input,
                    "the box " + box.text() + " has not its " + std::to_string(limits.size()) +
                        " dimensions",
                    where, "give one offset and count per dimension");
    if (!box.empty() && !box.inside(limits))
        throw Error(
            Code::bad_input, "the box " + box.text() + " reaches outside", where,
            std::string(doing) + " inside " + Box{core::Extents(limits.size()), limits}.text());
}

/// Members are stored and read as they are: bytes of another type would be taken for them.
void check_type(core::Scalar type, const core::Object& object) {
    if (object.members.empty() || type == object.type) return;
    throw Error(Code::bad_input, "its members cannot be given in the type of a piece", object.path,
                "give the piece the type of the object");
}

}  // namespace

void check_write(const core::Write& piece, const core::Object& object, std::uint64_t unlimited) {
    core::Extents limits = object.sizes();
    for (std::size_t d = 0; d < limits.size(); ++d)
        if (object.dims[d].unlimited) limits[d] = unlimited;
    check_place(piece.place, limits, object.path, "write");
    if (piece.place.empty()) return;
    check_type(piece.type, object);
    (void)core::checked_mul(piece.place.volume(), core::size_of(object.type), object.path);
    check_memory(piece.memory, piece.place, piece.data, object.path);
}

void check_read(const core::Read& piece, const core::Object& object) {
    check_place(piece.place, object.sizes(), object.path, "read");
    if (piece.place.empty()) return;
    check_type(piece.type, object);
    check_memory(piece.memory, piece.place, piece.data, object.path);
}

std::vector<Box> cut_box(const Box& box, std::uint64_t most_elements) {
    if (box.empty() || box.volume() <= most_elements) return {box};
    // The first dimension that can be cut; all before it have one element.
    std::size_t d = 0;
    while (d + 1 < box.rank() && box.count[d] == 1) ++d;
    const std::uint64_t row = box.volume() / box.count[d];
    const std::uint64_t rows = std::max<std::uint64_t>(most_elements / row, 1);
    std::vector<Box> all;
    for (std::uint64_t begin = 0; begin < box.count[d]; begin += rows) {
        Box slab = box;
        slab.offset[d] += begin;
        slab.count[d] = std::min(rows, box.count[d] - begin);
        const std::vector<Box> finer = cut_box(slab, most_elements);
        all.insert(all.end(), finer.begin(), finer.end());
    }
    return all;
}

PartInMemory::PartInMemory(const Box& whole, const Box& part, const core::MemLayout& memory)
    : x_dims(memory.dims.empty() ? whole.count : memory.dims), x_box(part) {
    for (std::size_t d = 0; d < x_box.rank(); ++d)
        x_box.offset[d] =
            part.offset[d] - whole.offset[d] + (memory.dims.empty() ? 0 : memory.offset[d]);
}

bool PartInMemory::contiguous() const {
    std::size_t d = x_box.rank();
    while (d > 0 && x_box.count[d - 1] == x_dims[d - 1]) --d;
    // One dimension may be a part of its own; before that there must be one element each.
    for (std::size_t before = 0; before + 1 < d; ++before)
        if (x_box.count[before] != 1) return false;
    return true;
}

std::uint64_t PartInMemory::first_element() const {
    return core::linear_index(x_box.offset, x_dims);
}

void PartInMemory::pack(const std::byte* memory, std::uint64_t element_bytes,
                        std::byte* packed) const {
    core::for_each_run(x_box, x_dims, [&](std::uint64_t from, std::uint64_t to, std::uint64_t n) {
        std::memcpy(packed + to * element_bytes, memory + from * element_bytes, n * element_bytes);
    });
}

void PartInMemory::unpack(const std::byte* packed, std::uint64_t element_bytes,
                          std::byte* memory) const {
    core::for_each_run(x_box, x_dims, [&](std::uint64_t to, std::uint64_t from, std::uint64_t n) {
        std::memcpy(memory + to * element_bytes, packed + from * element_bytes, n * element_bytes);
    });
}

}  // namespace tailrace::formats
