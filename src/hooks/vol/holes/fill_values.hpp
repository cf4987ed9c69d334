// SPDX-License-Identifier: Apache-2.0
// Writes the fill value of a dataset into elements that nobody has written.
#pragma once

#include "hooks/vol/holes/written_bits.hpp"
#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

/// Extents of a dataset.
struct Array {
    uint32_t rank;
    uint64_t dims[most_dimensions];
    uint64_t elements;
};

/// Asks for the extents; false where there are none.  [local]
bool measure(Object& dataset, Array& array);

/// Whether elements of a type lie in the file as they lie in memory, without anything they point
/// to.  [local]
bool lies_plain(const Library& of, Id type);

/// Writes the fill value wherever `written` has no bit. Elements beside, in the same few MiB, are
/// read and written back.  [independent]
/// @param written  nullptr: nothing was written
Status fill_missing(Object& dataset, const Array& array, const WrittenBits* written);
/// The same, and nothing beside is read or written: other ranks may have, and this one need not
/// see yet what.  [independent]
Status fill_exactly(Object& dataset, const Array& array, const WrittenBits& written);

}  // namespace tailrace::hooks::vol
