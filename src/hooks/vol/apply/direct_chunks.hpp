// SPDX-License-Identifier: Apache-2.0
// Programs that write whole chunks themselves (H5Dwrite_chunk), where the plan has given the
// dataset other chunks or filters than the program asked for: its bytes are those of a chunk that
// is not there.
#pragma once

#include "hooks/vol/apply/changed_chunks.hpp"
#include "hooks/vol/plan/plan.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {

/// Bytes of a whole chunk that is written: HDF5 1 fills the lower half only.  [local]
uint64_t bytes_of(const Library& of, const ChunkWrite& chunk);
/// Whether the program's own chunks or filters were changed on a list.  [local]
bool changes_chunks(const Choices& choices);
/// Remembers what the plan changed of a dataset that was created.
/// @param own  the program's creation list
/// @param made  the list it was created with
void note_direct_chunks(Object& dataset, const Choices& choices, Id own, Id made);
/// Looks that up for one that was opened.
void find_direct_chunks(Object& dataset);
/// Whether a dataset has chunks by the plan alone: of one without, HDF5 changes no extent.  [local]
bool has_chunks_of_plan(const Object& dataset);

/// A chunk that the program writes as it lies, to a dataset whose chunks or filters the plan
/// changed: its elements are written, or the call fails and it is said why.
Status write_direct_chunk(Object& dataset, Optional* arguments, Id transfer, void** request);

}  // namespace tailrace::hooks::vol
