// SPDX-License-Identifier: Apache-2.0
// Pieces of arrays as the libraries over MPI-IO want them: checked, cut, packed. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/schema.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// Checks the arguments of one piece; where a dimension grows it may reach to `unlimited`.  [local]
/// @throws core::Error{Code::bad_input} naming the object and the box
void check_write(const core::Write& piece, const core::Object& object, std::uint64_t unlimited);
void check_read(const core::Read& piece, const core::Object& object);  ///< [local]

/// Slabs of at most `most_elements`, slowest dimension first, in order.  [local]
[[nodiscard]] std::vector<core::Box> cut_box(const core::Box& box, std::uint64_t most_elements);

/// Where a part of a piece lies in memory.
class PartInMemory {
public:
    /// @param part  lies inside of `whole`, the box of the piece
    PartInMemory(const core::Box& whole, const core::Box& part, const core::MemLayout& memory);
    /// Its elements follow one another in memory.  [local]
    [[nodiscard]] bool contiguous() const;
    [[nodiscard]] std::uint64_t first_element() const;  ///< [local]
    /// Copies the elements, packed.  [local]
    void pack(const std::byte* memory, std::uint64_t element_bytes, std::byte* packed) const;
    void unpack(const std::byte* packed, std::uint64_t element_bytes, std::byte* memory) const;

private:
    core::Extents x_dims;
    core::Box x_box;  ///< in the array of the memory
};

}  // namespace tailrace::formats
