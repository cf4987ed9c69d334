// SPDX-License-Identifier: Apache-2.0
// Programs that write whole chunks themselves (H5Dwrite_chunk), where the plan has given the
// dataset other chunks or filters than the program asked for: its bytes are those of a chunk that
// is not there.
#pragma once

#include "hooks/vol/plan.hpp"
#include "hooks/vol/put.hpp"

namespace tailrace::hooks::vol {

/// What the program asked for. Known by the path of file and dataset, for the life of the process:
/// a dataset that is closed and opened again has the chunks of the plan still.
struct DirectChunks {
    DirectChunks* next;
    uint64_t hash;
    const plan::PlanSetting* setting;  ///< of the shape; else of the filters
    bool changed;                      ///< false: it was made once more, as the program wants it
    bool shape;                        ///< the chunks have another shape
    uint32_t rank;                     ///< of the program's chunk; 0: it asked for none
    uint32_t filters;                  ///< the program's own
    uint32_t added;                    ///< a bit for each filter of the plan
    uint64_t chunk[most_dimensions];
};

/// Bytes of a whole chunk that is written: HDF5 1 fills the lower half only.  [local]
uint64_t bytes_of(const Library& of, const ChunkWrite& chunk);
/// How many more datasets may be changed: what they were is remembered, and memory has a bound.
/// [local]
uint64_t room_for_direct_chunks();
/// Whether the program's own chunks or filters were changed on a list.  [local]
bool changes_chunks(const Choices& choices);
/// Remembers what the plan changed of a dataset that was created.
/// @param own  the program's creation list
/// @param made  the list it was created with
void note_direct_chunks(Object& dataset, const Choices& choices, Id own, Id made);
/// Looks that up for one that was opened.
void find_direct_chunks(Object& dataset);

/// A chunk that the program writes as it lies, to a dataset whose chunks or filters the plan
/// changed: its elements are written, or the call fails and it is said why.
Status write_direct_chunk(Object& dataset, Optional* arguments, Id transfer, void** request);

}  // namespace tailrace::hooks::vol
