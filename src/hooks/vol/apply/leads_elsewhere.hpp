// SPDX-License-Identifier: Apache-2.0
// What HDF5 opens by itself it opens with the driver of the file that leads there: behind a small
// file in memory, files of any size would be in memory too. No list that a connector can change
// has a say in it, so the file is looked through before.
#pragma once

#include <stddef.h>

namespace tailrace::hooks::vol {

/// Whether the file may have external links or virtual datasets; true where it cannot be read.
/// [local]
bool leads_elsewhere(const char* path);

/// Whether `bytes` at `block` begin as a link message of HDF5 for an external link does.  [local]
bool is_external_link(const unsigned char* block, size_t bytes);
/// Whether a global heap may hold the mapping of a virtual dataset.  [local]
bool may_hold_mapping(const unsigned char* heap, size_t bytes);

}  // namespace tailrace::hooks::vol
