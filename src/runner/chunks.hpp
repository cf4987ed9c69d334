// SPDX-License-Identifier: Apache-2.0
// Chunks, as far as they are the same for every kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/box.hpp"
#include "runner/plan.hpp"

namespace tailrace::runner {

/// Refuses a chunk whose bytes HDF5 could not keep in 32 bits.  [local]
/// @throws core::Error{bad_input} at the key `chunk`
void check_chunk_size(const core::Config& config, const core::Extents& chunk,
                      std::uint64_t element_bytes);

/// Takes `chunk` away, with a note, where the layout has none in this format; and refuses filters
/// without chunks.  [local]
/// @param usage  what a person adds: "`chunk X Y Z`, with the domain of a rank"
/// @throws core::Error{missing_key} at the key that asked for the filters
void settle_chunk(Plan& plan, std::optional<core::Extents>& chunk, const std::string& usage);

/// Elements of `dims` rounded up to whole chunks; `chunk` may be empty: contiguous.  [local]
[[nodiscard]] core::Extents padded(core::Extents dims, const core::Extents& chunk);

}  // namespace tailrace::runner
