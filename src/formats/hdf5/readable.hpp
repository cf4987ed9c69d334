// SPDX-License-Identifier: Apache-2.0
// What keeps a process from reading a dataset, found out when the file is opened.
#pragma once

#include <string>

#include "formats/hdf5/beneath.hpp"
#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// What one rank alone could miss in the middle of a collective read, where the others would wait
/// for it: the filters, and, with `load_index`, the index of the chunks, which is in memory
/// afterwards.
/// [collective] with `load_index` and a parallel driver, else [local]
/// @throws core::Error
[[nodiscard]] Readable prepare_to_read(const h5::Id& dataset, const std::string& path,
                                       bool load_index);

}  // namespace tailrace::formats::hdf5
