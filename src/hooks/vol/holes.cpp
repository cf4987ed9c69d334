// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes.hpp"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks/common/in_child.hpp"
#include "hooks/vol/calls.hpp"
#include "hooks/vol/fill_values.hpp"
#include "hooks/vol/tuning.hpp"

namespace tailrace::hooks::vol {

unsigned holes_counted = 0;
OneThread holes_thread;

namespace {

constexpr const char* none_written =
    "the library writes none into a contiguous dataset whose fill value is the default one";
constexpr uint64_t most_elements = uint64_t{1} << 29;  // 64 MiB of bits
constexpr uint64_t most_in_all = uint64_t{1} << 31;
constexpr unsigned most_counted = 1024;
uint64_t elements_in_all = 0;

/// A dataset that is counted, of any HDF5 library of this process. Several objects may stand for
/// it: its token tells which.
struct Counted {
    Counted* next;
    Counted** before;
    Object* owner;  ///< the one it was created as: open, since closing any of them ends this
    unsigned long file_number;  ///< as its library counts them
    unsigned char token[16];
    Array array;
    WrittenBits bits;
    const plan::PlanSetting* setting;
    pid_t process;  ///< that counts
    bool failed;

    [[nodiscard]] bool is_in(const Library& of) const { return &owner->library() == &of; }
    [[nodiscard]] bool is_in(const Library& of, unsigned long file) const {
        return is_in(of) && file_number == file;
    }
};
Counted* all_counted = nullptr;

Counted* begin(Object& dataset, const Array& array, const plan::PlanSetting& setting) {
    auto* made = static_cast<Counted*>(calloc(1, sizeof(Counted)));
    if (made == nullptr) return nullptr;
    made->owner = &dataset;
    made->array = array;
    made->setting = &setting;
    made->process = getpid();
    const ErrorsKept kept(dataset.library());
    if (!identify(dataset, &made->file_number, made->token) ||
        !made->bits.begin(array.dims, array.rank)) {
        free(made);
        return nullptr;
    }
    made->next = all_counted;
    made->before = &all_counted;
    if (made->next != nullptr) made->next->before = &made->next;
    all_counted = made;
    ++holes_counted;
    note_thread();
    elements_in_all += array.elements;
    return made;
}

void forget(Counted* counted) {
    *counted->before = counted->next;
    if (counted->next != nullptr) counted->next->before = counted->before;
    if (--holes_counted == 0) holes_thread.forget();
    elements_in_all -= counted->array.elements;
    counted->bits.end();
    free(counted);
}

/// Which one a dataset is; nullptr: none. `known` false: it cannot be told.
Counted* counted_of(Object& dataset, bool& known) {
    note_thread();
    known = true;
    if (dataset.kind != kind_dataset) return nullptr;
    for (Counted* at = all_counted; at != nullptr; at = at->next)
        if (at->owner == &dataset) return at;
    unsigned long number = 0;
    unsigned char token[16];
    const ErrorsKept kept(dataset.library());
    known = identify(dataset, &number, token);
    for (Counted* at = all_counted; known && at != nullptr; at = at->next)
        if (at->is_in(dataset.library(), number) && memcmp(at->token, token, sizeof token) == 0)
            return at;
    return nullptr;
}

void note(const Object& dataset, const plan::PlanSetting& setting, spool::Became became,
          const char* value, const char* reason) {
    note_outcome(setting, {dataset.under->plan->path, dataset.path != nullptr ? dataset.path : ""},
                 became, value, reason);
}

void say_failed(const Object& dataset, const plan::PlanSetting& setting) {
    char line[900];
    snprintf(line, sizeof line,
             "%.400s: %.300s: elements that the program left out could not get their fill value; "
             "take the setting \"fill_time\" out of the plan",
             dataset.under->plan->path, dataset.path != nullptr ? dataset.path : "");
    recorder::say(line);
    note(dataset, setting, spool::became_failed, "",
         "elements that the program left out could not get their fill value");
}

/// Fills what is left; after that it is counted no longer.
/// @param closes  the dataset is about to be closed: where that cannot be done once more, the
/// program has heard of it, and the dataset goes as it is
Status settle(Counted* counted, bool closes) {
    // Where it could not be filled before a fork, that is for the parent to do.
    const bool ours = counted->process == getpid();
    const uint64_t missing = ours ? counted->bits.missing() : 0;
    if (missing > 0 && fill_missing(*counted->owner, counted->array, &counted->bits) < 0) {
        if (!counted->failed) say_failed(*counted->owner, *counted->setting);
        const bool again = counted->failed;
        counted->failed = true;
        if (!closes || !again) return -1;
    } else if (missing > 0) {
        char value[64];
        snprintf(value, sizeof value, "%llu elements", static_cast<unsigned long long>(missing));
        note(*counted->owner, *counted->setting, spool::became_applied, value,
             "left out by the program, and filled");
    }
    forget(counted);
    return 0;
}

/// Those that `wanted` says.
template <typename Wanted>
Status settle_all(Wanted wanted, bool closes) {
    note_thread();
    Status worst = 0;
    for (Counted* at = all_counted; at != nullptr;) {
        Counted* const next = at->next;
        if (wanted(*at) && settle(at, closes) < 0) worst = -1;
        at = next;
    }
    return worst;
}

/// A child that is forked has the file open too, and neither it nor its parent knows what the other
/// writes. So all is filled before, as without us, and on its way to the file: what waits in a
/// buffer would be written by both. Where other threads work with us one of them may be within the
/// library, or hold its lock and wait for what this thread holds: then the parent fills at the
/// close, as if there had been no fork.
void fill_before_fork() {
    if (!holes_thread.is_this()) return;
    for (Counted* at = all_counted; at != nullptr;) {
        Counted* const next = at->next;
        Object& owner = *at->owner;
        const Context context(owner.library());
        if (context.good() && settle(at, false) >= 0) {
            const Quiet quiet(owner.library());
            DatasetSpecific flush{dataset_flush, {}};
            flush.flushed = invalid_id;
            owner.library().H5VLdataset_specific(owner.inner, owner.connector(), &flush,
                                                 owner.library().default_transfer, nullptr);
        }
        at = next;
    }
}

/// A child fills nothing that was not filled before the fork: its parent does. Another thread may
/// have been changing the list.
const InChild in_child{[] {
    all_counted = nullptr;
    holes_counted = 0;
    elements_in_all = 0;
    holes_thread.forget();
}};

/// Blocks in equal steps, all within the array.
bool regular(const Library& of, Id space, const Array& array, Place& place) {
    if (of.H5Sget_simple_extent_ndims(space) != static_cast<int>(array.rank)) return false;
    if (!regular_place(of, space, array.rank, place)) return false;
    for (uint32_t d = 0; d < array.rank; ++d) {
        const uint64_t end =
            place.start[d] + (place.count[d] - 1) * place.stride[d] + place.block[d];
        if (end > array.dims[d]) return false;
    }
    return true;
}

bool is_virtual(Object& dataset) {
    const Library& of = dataset.library();
    const Quiet quiet(of);
    const Id creation = ask_dataset(dataset, dataset.inner, dataset_get_creation);
    if (creation < 0) return true;  // it is not known to be none
    const int layout = of.H5Pget_layout(creation);
    of.H5Pclose(creation);
    return layout == layout_virtual;
}

/// What a write into `space` will write: false where that is not known.
bool will_write(const Library& of, Id space, const Array& array, Place& place, bool& all) {
    all = space == space_all;
    place.empty = false;
    if (all) return true;
    const Quiet quiet(of);
    const int type = of.H5Sget_select_type(space);
    place.empty = type == select_none;
    // Its extent may be another one than the dataset's.
    all = type == select_all &&
          of.H5Sget_select_npoints(space) == static_cast<int64_t>(array.elements);
    return place.empty || all || (type != select_all && regular(of, space, array, place));
}

}  // namespace

const char* why_not_counted(const Library& of, Id creation, const NewDataset& what) {
    const Quiet quiet(of);
    int defined = fill_undefined;
    int time = fill_if_set;
    if (what.parallel)
        return "whether all ranks together write every element is not counted at run time";
    if (of.H5Pget_layout(creation) != layout_contiguous || of.H5Pget_external_count(creation) != 0)
        return "only the elements of contiguous datasets are counted";
    if (what.can_grow || what.around.dims.empty()) return "only for datasets of a fixed size";
    if (!what.plain) return "only for plain numbers and strings of a fixed length";
    if (of.H5Pfill_value_defined(creation, &defined) < 0 || defined == fill_undefined)
        return "the program asks for no fill values";
    // What the program leaves out stays a hole of the file there: zeros, and no bytes.
    if (defined == fill_default && of.H5Pget_fill_time(creation, &time) >= 0 && time == fill_if_set)
        return none_written;
    if (holes_counted >= most_counted) return "too many datasets are counted already";
    const uint64_t bytes = what.around.type_bytes;
    if (bytes == 0 || what.bytes == 0) return "the dataset is empty";
    if (what.bytes / bytes > most_elements || elements_in_all + what.bytes / bytes > most_in_all)
        return "it has more elements than are counted";
    return nullptr;
}

void count_holes(Object& dataset, const plan::PlanSetting& setting) {
    static bool asked = false;
    if (!asked) pthread_atfork(fill_before_fork, nullptr, nullptr);
    asked = true;
    Array array{};
    const bool known = measure(dataset, array);
    if (known && begin(dataset, array, setting) != nullptr) return;
    // Nothing has been written yet: all of it gets its fill value, as without us.
    if (!known || fill_missing(dataset, array, nullptr) < 0) say_failed(dataset, setting);
}

Status fill_holes(Object& dataset, bool closes) {
    if (holes_counted == 0) return 0;
    bool known = true;
    Counted* counted = counted_of(dataset, known);
    if (!known && fill_all_holes(dataset) < 0 && !closes) return -1;
    return counted != nullptr ? settle(counted, closes) : 0;
}

Status fill_holes_in_file(const Object& any, bool closes) {
    const auto in_file = [&](const Counted& one) {
        return one.is_in(any.library(), any.under->file_number);
    };
    return holes_counted != 0 ? settle_all(in_file, closes) : 0;
}

Status fill_all_holes(const Object& on) {
    const auto in_library = [&](const Counted& one) { return one.is_in(on.library()); };
    return settle_all(in_library, false) < 0 && !on.under->of_ranks ? -1 : 0;
}

Status before_read(size_t count, void** objects) {
    for (size_t at = 0; holes_counted != 0 && at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        if (fill_holes(dataset, false) < 0) return -1;
        // Below us the library reads the sources of a virtual dataset, which may be any.
        if (holes_counted != 0 && is_virtual(dataset) && fill_all_holes(dataset) < 0) return -1;
    }
    return 0;
}

Status before_write(size_t count, void** objects, const Id* file_spaces, const void* request) {
    for (size_t at = 0; holes_counted != 0 && at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        bool known = true;
        Counted* counted = counted_of(dataset, known);
        if (known && counted == nullptr) continue;
        Place place;
        bool all = false;
        // What is still under way when we return, another call might overtake.
        if (known && request == nullptr &&
            will_write(dataset.library(), file_spaces[at], counted->array, place, all))
            continue;
        if (fill_holes(dataset, false) < 0) return -1;
    }
    return 0;
}

void after_write(size_t count, void** objects, const Id* file_spaces) {
    for (size_t at = 0; holes_counted != 0 && at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        bool known = true;
        Counted* counted = counted_of(dataset, known);
        if (counted == nullptr) continue;
        Place place;
        bool all = false;
        if (!will_write(dataset.library(), file_spaces[at], counted->array, place, all)) continue;
        if (all)
            counted->bits.add_all();
        else if (!place.empty)
            counted->bits.add_place(place);
    }
}

}  // namespace tailrace::hooks::vol
