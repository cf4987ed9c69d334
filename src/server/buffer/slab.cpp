// SPDX-License-Identifier: Apache-2.0
#include "server/buffer/slab.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/checked.hpp"
#include "core/units.hpp"

namespace tailrace::server {

std::vector<core::Box> pieces_of(const core::Box& box, std::uint64_t element_bytes,
                                 std::uint64_t most_bytes) {
    std::vector<core::Box> pieces;
    if (box.empty()) return pieces;
    // Dimensions behind `axis` are whole in each piece, those before it have one position each.
    std::uint64_t inner = element_bytes;
    std::size_t axis = box.rank();
    while (axis > 0 && inner * box.count[axis - 1] <= most_bytes) inner *= box.count[--axis];
    if (axis == 0) return {box};
    --axis;
    const std::uint64_t thick = std::max<std::uint64_t>(1, most_bytes / inner);
    core::Box piece = box;
    std::fill_n(piece.count.begin(), axis, 1);
    for (;;) {
        for (std::uint64_t begin = 0; begin < box.count[axis]; begin += thick) {
            piece.offset[axis] = box.offset[axis] + begin;
            piece.count[axis] = std::min(thick, box.count[axis] - begin);
            pieces.push_back(piece);
        }
        std::size_t d = axis;
        for (; d > 0; --d) {
            if (++piece.offset[d - 1] < box.offset[d - 1] + box.count[d - 1]) break;
            piece.offset[d - 1] = box.offset[d - 1];
        }
        if (d == 0) return pieces;
    }
}

/// Past the caches, if there is a way: another core reads it next, and the lines of `to` need not
/// be fetched first. A third faster than memcpy for megabytes.
static void copy_for_another(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
    constexpr std::size_t line = 64, least = 131072;
    if (bytes >= least) {
        const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % line;
        std::memcpy(to, from, head);
        std::size_t at = head;
        for (; at + line <= bytes; at += line) {
            const auto* source = reinterpret_cast<const __m128i*>(from + at);
            auto* target = reinterpret_cast<__m128i*>(to + at);
            const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                          c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
            _mm_stream_si128(target, a);
            _mm_stream_si128(target + 1, b);
            _mm_stream_si128(target + 2, c);
            _mm_stream_si128(target + 3, d);
        }
        _mm_sfence();  // before whatever tells the reader
        std::memcpy(to + at, from + at, bytes - at);
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

void pack(const core::Box& box, const core::MemLayout& memory, std::uint64_t element_bytes,
          const std::byte* from, std::uint64_t first, std::span<std::byte> to) {
    if (to.empty()) return;
    if (memory.dims.empty()) {
        copy_for_another(to.data(), from + first * element_bytes, to.size());
        return;
    }
    const std::uint64_t last = first + to.size() / element_bytes;
    core::for_each_run({memory.offset, box.count}, memory.dims,
                       [&](std::uint64_t in_array, std::uint64_t in_box, std::uint64_t run) {
                           const std::uint64_t begin = std::max(first, in_box);
                           const std::uint64_t end = std::min(last, in_box + run);
                           if (begin >= end) return;
                           copy_for_another(to.data() + (begin - first) * element_bytes,
                                            from + (in_array + begin - in_box) * element_bytes,
                                            (end - begin) * element_bytes);
                       });
}

Slab::Slab(core::Extents extents, std::uint64_t element_bytes, std::string variable,
           const Buffers& buffers)
    : x_extents(std::move(extents)),
      x_element_bytes(element_bytes),
      x_elements(core::checked_product(x_extents, variable)),
      x_variable(std::move(variable)) {
    const std::uint64_t bytes = core::checked_mul(x_elements, element_bytes, x_variable);
    try {
        x_data = buffers.take(bytes);
    } catch (const std::bad_alloc&) {
        throw core::Error(core::Code::no_space,
                          "the server has no memory for " + core::bytes_text(bytes), x_variable,
                          memory_remedy);
    }
}

core::Error Slab::problem(const std::string& message) const {
    return {core::Code::bad_input, message, x_variable,
            "each rank puts its own part of the global array, and no two ranks the same element"};
}

/// Two boxes with elements.
static bool overlap(const core::Box& one, const core::Box& other) {
    if (one.empty()) return false;
    for (std::size_t i = 0; i < one.count.size(); ++i)
        if (one.offset[i] >= other.offset[i] + other.count[i] ||
            other.offset[i] >= one.offset[i] + one.count[i])
            return false;
    return true;
}

void Slab::place(const core::Box& block, std::span<const std::byte> packed) {
    if (!block.inside(x_extents))
        throw problem("the block " + block.text() + " lies outside of " +
                      core::Box{core::Extents(x_extents.size(), 0), x_extents}.text());
    const std::uint64_t elements = block.volume();
    if (packed.size() != elements * x_element_bytes)
        throw problem("the block " + block.text() + " has " + std::to_string(packed.size()) +
                      " bytes instead of " + std::to_string(elements * x_element_bytes));
    if (elements > x_elements - x_placed)
        throw problem("blocks overlap: with " + block.text() +
                      " there are more elements than the " + std::to_string(x_elements) +
                      " of the variable");
    for (const core::Box& other : x_blocks)
        if (overlap(block, other))
            throw problem("blocks overlap: " + block.text() + " and " + other.text());
    x_placed += elements;
    if (elements > 0) x_blocks.push_back(block);
    core::for_each_run(
        block, x_extents, [&](std::uint64_t in_array, std::uint64_t in_box, std::uint64_t run) {
            std::memcpy(x_data.get() + in_array * x_element_bytes,
                        packed.data() + in_box * x_element_bytes, run * x_element_bytes);
        });
}

std::uint64_t Slab::fill(std::span<const std::byte> value) {
    if (x_placed == x_elements) return 0;
    std::vector<bool> there(x_elements);
    for (const core::Box& block : x_blocks)
        core::for_each_run(block, x_extents,
                           [&](std::uint64_t in_array, std::uint64_t, std::uint64_t run) {
                               for (std::uint64_t i = 0; i < run; ++i) there[in_array + i] = true;
                           });
    std::uint64_t holes = 0;
    for (std::uint64_t i = 0; i < x_elements; ++i) {
        if (there[i]) continue;
        std::memcpy(x_data.get() + i * x_element_bytes, value.data(), x_element_bytes);
        ++holes;
    }
    return holes;
}

}  // namespace tailrace::server
