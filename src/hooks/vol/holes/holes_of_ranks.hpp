// SPDX-License-Identifier: Apache-2.0
// New datasets of files of several ranks that the library writes no fill values into, because the
// plan says so: each rank notes what it writes, and where all flush or close the file together they
// tell the first one, which fills what none of them has written.
//
// Until then what nobody has written has no fill value. Rule 59 is for programs that were seen not
// to read before, and only where the run is the one that was proven.
#pragma once

#include "hooks/vol/library/library.hpp"
#include "hooks/vol/objects/object.hpp"
#include "hooks/vol/plan/plan.hpp"

namespace tailrace::hooks::vol {

struct NewDataset;

/// Whether a setting of the plan asks for it in this file: then the ranks have to be kept.
/// [local]
bool plan_asks_ranks_to_fill(const char* path);

/// Why such a dataset cannot be counted, the same on all ranks; nullptr: it can.  [local]
const char* why_ranks_do_not_count(const NewDataset& what, const plan::PlanSetting& setting,
                                   uint64_t elements);

/// Begins to count, for a dataset that was created without fill values.  [local]
void count_holes_of_ranks(Object& dataset, const plan::PlanSetting& setting);

/// After a write that succeeded.  [local]
void note_written_by_rank(size_t count, void** objects, const Id* file_spaces);
/// A dataset is read, or an object flushed by itself: by one rank, which cannot ask the others.
/// [local]
void note_seen_by_rank(Object& dataset);
/// The same of all of a file.  [local]
void note_all_seen_by_rank(const Under& file);
/// Whether a dataset that the program closes stays open below, to be filled: it is not to be
/// dropped then.  [local]
bool stays_for_ranks(const Object& dataset);
/// Whether it is the one that a dataset will be filled by.  [local]
bool is_counted_by_ranks(const Object& dataset);

/// Before a file is flushed or closed, or an object of it copied: nothing is left to be filled, and
/// nothing counted.
/// @return negative, on all ranks, where something could not be filled: the call must fail.  Once:
/// the same call goes on after that as it is.  [collective]
Status fill_holes_of_ranks(Under& file);
/// Before the library closes itself: later it cannot convert what is filled.  [collective]
void fill_all_of_ranks(Library& of);

}  // namespace tailrace::hooks::vol
