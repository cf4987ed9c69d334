// SPDX-License-Identifier: Apache-2.0
// Fields in the layout of the file, and the pieces in which blocks travel there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/sink.hpp"
#include "server/buffer/buffers.hpp"

namespace tailrace::server {

/// Cuts a box into boxes of at most `most_bytes` each (one element, if that is larger), which
/// follow each other in the packed box: piece k begins where piece k - 1 ends. Nothing for an empty
/// box. [local]
[[nodiscard]] std::vector<core::Box> pieces_of(const core::Box& box, std::uint64_t element_bytes,
                                               std::uint64_t most_bytes);

/// Copies elements [first, first + count) of the packed box that `from` holds in `memory`.  [local]
/// @param box     what `from` holds; only its extents matter
/// @param memory  how the box lies there; empty: packed
void pack(const core::Box& box, const core::MemLayout& memory, std::uint64_t element_bytes,
          const std::byte* from, std::uint64_t first, std::span<std::byte> to);

/// One record of a variable: blocks of ranks go straight to their place, row-major.
class Slab {
public:
    /// @throws core::Error{Code::no_space} naming `variable` if there is no memory
    Slab(core::Extents extents, std::uint64_t element_bytes, std::string variable,
         const Buffers& buffers = {});

    /// Puts a packed block to its place.  [local]
    /// @throws core::Error{Code::bad_input} naming the variable if it lies outside, has other bytes
    /// than its extents say, or if more elements came than there are
    void place(const core::Box& block, std::span<const std::byte> packed);
    /// Gives elements that nobody sent a value, of element_bytes bytes.  [local]
    /// @returns how many there were
    std::uint64_t fill(std::span<const std::byte> value);

    /// What was placed.  [local]
    [[nodiscard]] const std::vector<core::Box>& blocks() const noexcept { return x_blocks; }
    /// Whether that is all of it.  [local]
    [[nodiscard]] bool is_whole() const noexcept { return x_placed == x_elements; }
    [[nodiscard]] const core::Extents& extents() const noexcept { return x_extents; }
    [[nodiscard]] std::uint64_t element_bytes() const noexcept { return x_element_bytes; }
    [[nodiscard]] std::span<const std::byte> data() const noexcept {
        return {x_data.get(), static_cast<std::size_t>(x_elements * x_element_bytes)};
    }

private:
    [[nodiscard]] core::Error problem(const std::string& message) const;

    core::Extents x_extents;
    std::uint64_t x_element_bytes, x_elements, x_placed = 0;
    std::string x_variable;
    Buffers::Memory x_data;  // not set at first: each byte is written once
    std::vector<core::Box> x_blocks;
};

}  // namespace tailrace::server
