// SPDX-License-Identifier: Apache-2.0
// New datasets that the library writes no fill values into, because the plan says so: which
// elements the program writes is counted here, a bit for each, and those that it leaves out get
// their fill value before anybody can see them.
#pragma once

#include "hooks/vol/library/library.hpp"
#include "hooks/vol/plan/plan.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {

constexpr uint64_t fill_never = 1;  ///< the word of the plan's key, as HDF5 counts it

/// A second thread has come to work with the library: its datasets are filled, and none is counted
/// any more. At a fork nobody could say whether the other one is within the library, or holds its
/// lock; now this thread holds it.
void end_counting(Library& of);
/// At every call of the library, whatever it is about. Nothing of this costs anything while no
/// dataset is counted.
inline void note_thread(Library& of) {
    if (of.holes.count != 0 && of.holes.thread.is_second()) end_counting(of);
}

/// Why the elements of a dataset that is to be created cannot be counted; nullptr: they can.
/// @param creation  its list, with what the plan has put on it  [local]
const char* why_not_counted(const Library& of, Id creation, const NewDataset& what,
                            const plan::PlanSetting& setting);
inline constexpr const char* too_many_counted = "too many datasets are counted already";
inline constexpr const char* too_many_elements = "it has more elements than are counted";

/// Begins to count, for a dataset that was created without fill values. Where that is not possible
/// after all, all elements get their fill value at once.  [local]
void count_holes(Object& dataset, const plan::PlanSetting& setting);

/// Before a transfer: after it there are no holes left in datasets that are read, nor in those of
/// which it is not known what will be written.  [independent]
/// @return negative where fill values could not be written: the call must fail
Status before_read(size_t count, void** objects);
Status before_write(size_t count, void** objects, const Id* file_spaces, const void* request);
/// After a write that succeeded.  [local]
void after_write(size_t count, void** objects, const Id* file_spaces);

/// Before a dataset is closed, flushed, or asked for something that shows what it holds.
/// @param closes  where that fails once more after the program has heard of it, the dataset may go
/// as it is
Status fill_holes(Object& dataset, bool closes);
/// Before a file is flushed, closed, copied from or otherwise looked at as a whole.
Status fill_holes_in_file(const Object& any, bool closes);
/// Before something is read or copied by way of `on`, in whatever file of its library it lies.
/// @return negative where something could not be filled; 0 all the same where `on` is in a file of
/// several ranks: the call may be a collective one, which none must leave alone. The failure is
/// said, and met again when the dataset that it is about is closed.
Status fill_all_holes(const Object& on, bool closes = false);

}  // namespace tailrace::hooks::vol
