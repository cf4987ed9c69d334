// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/layout.hpp"

#include <algorithm>
#include <bit>

#include "core/checked.hpp"
#include "core/error.hpp"

namespace tailrace::formats::raw {

using core::Code;
using core::Error;

// The container is little endian and nothing is converted on the way.
static_assert(std::endian::native == std::endian::little);

namespace {

std::string join(const core::Extents& extents) {
    std::string text;
    for (std::uint64_t n : extents) text += (text.empty() ? "" : " x ") + std::to_string(n);
    return text.empty() ? "scalar" : text;
}

void check_chunk(const core::Object& object, const core::Extents& dims,
                 const core::Extents& chunk) {
    const std::string seen = "chunk " + join(chunk) + " of an object of " + join(dims);
    if (chunk.size() != dims.size())
        throw Error(Code::bad_input, seen + " has the wrong number of dimensions", object.path,
                    "give " + std::to_string(dims.size()) + " extents");
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (chunk[d] == 0 || chunk[d] > dims[d])
            throw Error(Code::bad_input,
                        seen + ": extent " + std::to_string(chunk[d]) + " of dimension " +
                            std::to_string(d) + " is not between 1 and " + std::to_string(dims[d]),
                        object.path, "make the chunk fit into the object");
}

std::uint64_t bytes_in_file(const core::Object& object, const core::Extents& dims,
                            const core::Extents& chunk) {
    std::uint64_t bytes = core::size_of(object.type);
    for (std::size_t d = 0; d < dims.size(); ++d) {
        std::uint64_t extent = dims[d];
        if (!chunk.empty())
            extent = core::checked_mul((dims[d] - 1) / chunk[d] + 1, chunk[d], object.path);
        bytes = core::checked_mul(bytes, extent, object.path);
    }
    // File offsets are signed.
    if (bytes > static_cast<std::uint64_t>(INT64_MAX))
        throw Error(Code::bad_input, "it takes " + std::to_string(bytes) + " bytes", object.path,
                    "make it smaller than 2^63 bytes");
    return bytes;
}

template <class Piece>
void check_piece(const Piece& piece, std::span<const Placed> objects) {
    if (piece.object >= objects.size())
        throw Error(Code::wrong_call,
                    "object " + std::to_string(piece.object) + " is not defined, there are " +
                        std::to_string(objects.size()),
                    "", "define it first");
    const Placed& object = objects[piece.object];
    const std::string where = object.object.path + " " + piece.place.text();
    if (!piece.place.inside(object.dims))
        throw Error(Code::bad_input, "the box does not lie in the object of " + join(object.dims),
                    where, "write boxes inside of the object");
    if (piece.place.empty()) return;
    if (piece.type != object.object.type)
        throw Error(Code::bad_input,
                    "elements are " + std::string(core::name(piece.type)) + " in memory and " +
                        std::string(core::name(object.object.type)) + " in the file",
                    where, "this format converts nothing: use the same type, or format hdf5");
    if (piece.data == nullptr)
        throw Error(Code::bad_input, "there is no memory for the box", where,
                    "give a buffer, or an empty box");
    const core::MemLayout& memory = piece.memory;
    if (memory.dims.empty() && memory.offset.empty()) return;
    const core::Box inside{memory.offset, piece.place.count};
    if (!inside.inside(memory.dims))
        throw Error(
            Code::bad_input,
            "the box " + inside.text() + " does not lie in the memory of " + join(memory.dims),
            where, "check MemLayout::dims and MemLayout::offset");
    (void)core::checked_mul(core::checked_product(memory.dims, where),
                            core::size_of(object.object.type), where);
}

}  // namespace

void check_object(const core::Object& object) {
    if (object.path.size() < 2 || object.path.front() != '/')
        throw Error(Code::bad_input, "\"" + object.path + "\" is not the path of an object", "",
                    "begin it with / and a name");
    if (object.kind == core::Kind::record)
        throw Error(Code::unsupported, "raw files cannot hold an object that grows", object.path,
                    "give it its full size, or use format hdf5");
    for (const core::Extent& extent : object.dims)
        if (extent.unlimited)
            throw Error(Code::unsupported, "raw files cannot hold an unlimited dimension",
                        object.path, "give it its full size, or use format hdf5");
    if (object.fill.set && object.fill.as<double>() != 0)
        throw Error(Code::unsupported,
                    "raw files fill unwritten elements with 0, not with " + object.fill.text(),
                    object.path, "write all elements, or use format hdf5");
    (void)object.bytes();
}

Layout::Layout(Chunks chunks, std::uint64_t alignment_bytes)
    : x_chunks(std::move(chunks)), x_alignment(std::max<std::uint64_t>(alignment_bytes, 1)) {}

std::vector<core::ObjectId> Layout::add(std::span<const core::Object> objects) {
    std::vector<Placed> placed = x_objects;
    std::vector<core::ObjectId> ids;
    std::uint64_t end = x_end;
    for (const core::Object& object : objects) {
        check_object(object);
        const bool twice = std::any_of(placed.begin(), placed.end(), [&](const Placed& other) {
            return other.object.path == object.path;
        });
        if (twice)
            throw Error(Code::bad_input, "the object is defined twice", object.path,
                        "give each object its own path");
        Placed one{object, object.sizes(), {}, 0, 0};
        if (const auto chunk = x_chunks.find(object.path); chunk != x_chunks.end()) {
            check_chunk(object, one.dims, chunk->second);
            one.chunk = chunk->second;
        }
        const std::uint64_t steps = end / x_alignment + (end % x_alignment != 0 ? 1 : 0);
        one.offset = core::checked_mul(steps, x_alignment, object.path);
        one.bytes = object.bytes() == 0 ? 0 : bytes_in_file(object, one.dims, one.chunk);
        end = core::checked_add(one.offset, one.bytes, object.path);
        ids.push_back(static_cast<core::ObjectId>(placed.size()));
        placed.push_back(std::move(one));
    }
    x_objects = std::move(placed);
    x_end = end;
    return ids;
}

void check_write(const core::Write& piece, std::span<const Placed> objects) {
    check_piece(piece, objects);
}

void check_read(const core::Read& piece, std::span<const Placed> objects) {
    check_piece(piece, objects);
}

std::uint64_t count_blocks(const Placed& object, const core::Box& box) {
    if (box.empty()) return 0;
    std::uint64_t blocks = 1;
    for (std::size_t d = 0; d < object.chunk.size(); ++d)
        blocks *= (box.offset[d] + box.count[d] - 1) / object.chunk[d] -
                  box.offset[d] / object.chunk[d] + 1;
    return blocks;
}

MemoryArray::MemoryArray(const core::Box& box, const core::MemLayout& memory)
    : dims(memory.dims.empty() ? box.count : memory.dims),
      offset(memory.dims.empty() ? core::Extents(box.rank(), 0) : memory.offset) {}

}  // namespace tailrace::formats::raw
