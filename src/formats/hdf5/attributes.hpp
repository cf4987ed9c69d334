// SPDX-License-Identifier: Apache-2.0
// Attributes: scalars, arrays and compounds of them.
#pragma once

#include "core/schema.hpp"
#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// Refuses what could not be stored: no name, an object that is not there, members of a compound
/// that overlap or do not fit its size.  [local]
/// @throws core::Error{Code::bad_input}
void check_attribute(const core::Attribute& attribute, bool object_known);

/// Writes one attribute; its object exists. Replaces one of the same name. Collective where the
/// file was opened by several ranks, with equal values on all.
/// @throws core::Error
void write_attribute(const h5::Id& file, const core::Attribute& attribute);

/// That a file which others have made has an attribute of this value.  [local]
/// @throws core::Error
void check_same_attribute(const h5::Id& file, const core::Attribute& attribute,
                          const std::filesystem::path& name);

}  // namespace tailrace::formats::hdf5
