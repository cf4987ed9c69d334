// SPDX-License-Identifier: Apache-2.0
// Datasets whose chunks or filters are not those that the program asked for, since the plan changed
// them when they were created. Known for the life of the process, by the path and, in files of one
// process, by the place in the file: one that is opened again, under whatever name, has the chunks
// of the plan still. In files of several ranks looking for a place may be a call that all have to
// make.
#pragma once

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

/// What the program asked for.
struct DirectChunks {
    DirectChunks* next_by_path;
    DirectChunks* next_by_token;
    uint64_t path_hash;   ///< 0: by this name there is another dataset now
    uint64_t token_hash;  ///< 0: not known
    uint64_t file_hash;
    uint64_t number;                           ///< in the order of their making
    bool gone;                                 ///< its dataset was deleted, or its file made anew
    char* path;                                ///< in the file
    const intent::plan::PlanSetting* setting;  ///< of the shape; else of the filters
    bool shape;                                ///< the chunks have another shape
    uint32_t rank;                             ///< of the program's chunk; 0: it asked for none
    uint32_t filters;                          ///< the program's own
    uint32_t added;                            ///< a bit for each filter of the plan
    uint64_t chunk[most_dimensions];
};

/// How many more datasets may be changed: what they were is remembered, and memory has a bound.
/// [local]
uint64_t room_for_direct_chunks();

/// An entry for a dataset that was just created, to be filled in; nullptr: no memory.  [local]
DirectChunks* add_changed(const Object& dataset);
/// A dataset was just created as the program wants it: what was known of its name and its place is
/// of one that is gone, or has another name now.  [local]
void forget_changed(const Object& dataset);
/// Of a dataset that was opened; nullptr: it is as the program asked for.  [local]
const DirectChunks* find_changed(const Object& dataset);
/// A file was made anew: what was known of the one before is gone.  [local]
void forget_changed_in(const char* file);
/// Objects get another name, and may lose theirs.
void note_names_changed();
/// An object was moved within a file, with all below it.  [local]
void note_moved(const Object& from, const char* from_name, const Object& to, const char* to_name);
/// An object was copied, with all below it.  [local]
void note_copied(const Object& from, const char* from_name, const Object& to, const char* to_name);

}  // namespace tailrace::hooks::vol
