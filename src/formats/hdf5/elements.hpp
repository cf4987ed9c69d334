// SPDX-License-Identifier: Apache-2.0
// What an element of an object is in the file and in memory: a number, or a compound of those that
// lie along the object's last dimension (core::Object::members), which the file then has not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/schema.hpp"
#include "core/sink.hpp"
#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// Refuses members that do not fit the last dimension.  [local]
/// @throws core::Error{Code::bad_input}
void check_members(const core::Object& object);

/// Extents, limits or a chunk of the object as the file has them.  [local]
[[nodiscard]] core::Extents in_file(const core::Object& object, core::Extents extents);
[[nodiscard]] h5::Id file_type_of(const core::Object& object);  ///< [local]
/// Type and members of a stored element; nothing where it is neither a number nor a compound of
/// numbers of one size, one behind the other.  [local]
[[nodiscard]] std::optional<core::Object> element_of(hid_t type, const std::string& where);

/// One piece, as H5Dwrite and H5Dread want it.
struct Selected {
    h5::Id type, in_memory, in_file;
};
/// @param in_file  the dataset's whole space
/// @param type     of the numbers in memory; members have their own there  [local]
[[nodiscard]] Selected selected(const core::Object& object, core::Scalar type,
                                const core::Box& place, const core::MemLayout& memory,
                                h5::Id in_file);
/// Of a rank that takes part with nothing.  [local]
[[nodiscard]] Selected selected_nothing(const core::Object& object, h5::Id in_file);

}  // namespace tailrace::formats::hdf5
