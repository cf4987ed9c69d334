// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes/holes.hpp"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks/common/in_child.hpp"
#include "hooks/vol/holes/fill_values.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/holes/selected.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/objects/linked.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {

/// A dataset that is counted. Several objects may stand for it.
struct Counted {
    Counted* next;
    Counted** before;
    Object* owner;  ///< the one it was created as: open, since closing any of them ends this
    Identity identity;
    Array array;
    WrittenBits bits;
    const plan::PlanSetting* setting;
    pid_t process;  ///< that counts
    bool failed;    ///< it could not be filled
    bool told;      ///< by a call of the program that failed for it
};

namespace {

constexpr const char* none_written =
    "the library writes none into a contiguous dataset whose fill value is the default one";
constexpr uint64_t most_elements = uint64_t{1} << 29;  // 64 MiB of bits
constexpr uint64_t most_in_all = uint64_t{1} << 31;
constexpr unsigned most_counted = 1024;

Counted* begin(Object& dataset, const Array& array, const plan::PlanSetting& setting) {
    auto* made = static_cast<Counted*>(calloc(1, sizeof(Counted)));
    if (made == nullptr) return nullptr;
    made->owner = &dataset;
    made->array = array;
    made->setting = &setting;
    made->process = getpid();
    const ErrorsKept kept(dataset.library());
    if (!identify(dataset, made->identity) || !made->bits.begin(array.dims, array.rank)) {
        free(made);
        return nullptr;
    }
    Library& of = dataset.library();
    put_in(of.holes.all, *made);
    ++of.holes.count;
    of.holes.thread.is_second();  // a second one would have been noticed when its call began
    of.holes.elements += array.elements;
    return made;
}

void forget(Counted* counted) {
    Holes& holes = counted->owner->library().holes;
    take_out(*counted);
    if (--holes.count == 0) holes.thread.forget();
    holes.elements -= counted->array.elements;
    counted->bits.end();
    free(counted);
}

/// Which one a dataset is; nullptr: none. `known` false: it cannot be told.
Counted* counted_of(Object& dataset, bool& known) {
    known = true;
    if (dataset.kind != kind_dataset) return nullptr;
    Counted* const all = dataset.library().holes.all;
    for (Counted* at = all; at != nullptr; at = at->next)
        if (at->owner == &dataset) return at;
    Identity identity{};
    const ErrorsKept kept(dataset.library());
    known = identify(dataset, identity);
    for (Counted* at = all; known && at != nullptr; at = at->next)
        if (at->identity.is(identity)) return at;
    return nullptr;
}

void note(const Object& dataset, const plan::PlanSetting& setting, spool::Became became,
          const char* value, const char* reason) {
    note_outcome(setting, {dataset.under->plan->path, dataset.path != nullptr ? dataset.path : ""},
                 became, value, reason);
}

void say_failed(const Object& dataset) {
    char line[900];
    snprintf(line, sizeof line,
             "%.400s: %.300s: elements that the program left out could not get their fill value; "
             "take the setting \"fill_time\" out of the plan",
             dataset.under->plan->path, dataset.path != nullptr ? dataset.path : "");
    recorder::say(line);
}

void note_failed(const Object& dataset, const plan::PlanSetting& setting) {
    note(dataset, setting, spool::became_failed, "",
         "elements that the program left out could not get their fill value");
}

/// Who learns of it where a dataset cannot be filled.
enum class Heard : unsigned char {
    by_nobody,  ///< the call of the program goes on
    by_call,    ///< it fails
    by_close,  ///< it fails as well, unless another one has failed for this: then all goes as it is
};

/// Fills what is left; after that it is counted no longer.
Status settle(Counted* counted, Heard heard) {
    // Where it could not be filled before a fork, that is for the parent to do.
    const bool ours = counted->process == getpid();
    const uint64_t missing = ours ? counted->bits.missing() : 0;
    if (missing > 0 && fill_missing(*counted->owner, counted->array, &counted->bits) < 0) {
        if (!counted->failed) say_failed(*counted->owner);
        counted->failed = true;
        const bool again = counted->told;
        if (heard != Heard::by_nobody && !again) {
            counted->told = true;
            note_failed(*counted->owner, *counted->setting);
        }
        if (heard != Heard::by_close || !again) return -1;
    } else if (missing > 0) {
        char value[64];
        snprintf(value, sizeof value, "%llu elements", static_cast<unsigned long long>(missing));
        note(*counted->owner, *counted->setting, spool::became_applied, value,
             "left out by the program, and filled");
    }
    forget(counted);
    return 0;
}

/// Those of a library that `wanted` says.
template <typename Wanted>
Status settle_all(const Library& of, Wanted wanted, Heard heard) {
    Status worst = 0;
    for (Counted* at = of.holes.all; at != nullptr;) {
        Counted* const next = at->next;
        if (wanted(*at) && settle(at, heard) < 0) worst = -1;
        at = next;
    }
    return worst;
}

/// Fills, and sends it on its way to the file: what waits in a buffer when a child is forked would
/// be written by both.
void settle_and_flush(Counted* counted) {
    Object& owner = *counted->owner;
    if (settle(counted, Heard::by_nobody) < 0) return;
    const Quiet quiet(owner.library());
    DatasetSpecific flush{dataset_flush, {}};
    flush.flushed = invalid_id;
    owner.library().H5VLdataset_specific(owner.inner, owner.connector(), &flush,
                                         owner.library().default_transfer, nullptr);
}

/// A child that is forked has the file open too, and neither it nor its parent knows what the other
/// writes. So all is filled before, as without us. Only by the thread that works with the library:
/// for another one it may be within it. Then the parent fills at the close, as if there had been no
/// fork.
void fill_before_fork() {
    for (unsigned number = 0; number < most_libraries; ++number) {
        const Library& of = library(number);
        if (!of.holes.thread.is_this()) continue;
        for (Counted* at = of.holes.all; at != nullptr;) {
            Counted* const next = at->next;
            const Context context(of);
            if (context.good()) settle_and_flush(at);
            at = next;
        }
    }
}

/// A child fills nothing that was not filled before the fork: its parent does. Another thread may
/// have been changing the list.
const InChild in_child{[] {
    for (unsigned number = 0; number < most_libraries; ++number) {
        Holes& holes = library(number).holes;
        holes.all = nullptr;
        holes.count = 0;
        holes.elements = 0;
        holes.thread.begin_anew();
        library(number).unfilled = nullptr;
    }
}};

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
bool will_write(const Library& of, Id space, const Array& array, ElementSet& place, bool& all) {
    all = space == space_all;
    place.empty = false;
    if (all) return true;
    const Quiet quiet(of);
    const int type = of.H5Sget_select_type(space);
    place.empty = type == select_none;
    // Its extent may be another one than the dataset's.
    all = type == select_all &&
          of.H5Sget_select_npoints(space) == static_cast<int64_t>(array.elements);
    return place.empty || all || (type != select_all && is_regular_within(of, space, array, place));
}

}  // namespace

const char* why_not_counted(const Library& of, Id creation, const NewDataset& what,
                            const plan::PlanSetting& setting) {
    const Quiet quiet(of);
    int defined = fill_undefined;
    int time = fill_if_set;
    if (of.H5Pget_layout(creation) != layout_contiguous || of.H5Pget_external_count(creation) != 0)
        return "only the elements of contiguous datasets are counted";
    if (what.can_grow || what.around.dims.empty()) return "only for datasets of a fixed size";
    // The library tells of such a type only within a call about the file, and not at a fork.
    if (what.committed) return "its type is an object of the file";
    if (!what.plain) return "only for plain numbers and strings of a fixed length";
    if (of.H5Pfill_value_defined(creation, &defined) < 0 || defined == fill_undefined)
        return "the program asks for no fill values";
    // What the program leaves out stays a hole of the file there: zeros, and no bytes.
    if (defined == fill_default && of.H5Pget_fill_time(creation, &time) >= 0 && time == fill_if_set)
        return none_written;
    const uint64_t bytes = what.around.type_bytes;
    if (bytes == 0 || what.bytes == 0) return "the dataset is empty";
    const uint64_t elements = what.bytes / bytes;
    if (what.file.parallel) return why_ranks_do_not_count(what, setting, elements);
    if (of.holes.thread.are_several()) return "several threads work with HDF5";
    if (of.holes.count >= most_counted) return too_many_counted;
    if (elements > most_elements || of.holes.elements + elements > most_in_all)
        return too_many_elements;
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
    if (known && fill_missing(dataset, array, nullptr) >= 0) return;
    say_failed(dataset);
    note_failed(dataset, setting);
}

void end_counting(Library& of) {
    for (Counted* at = of.holes.all; at != nullptr;) {
        Counted* const next = at->next;
        settle_and_flush(at);
        at = next;
    }
}

Status fill_holes(Object& dataset, bool closes) {
    if (dataset.library().holes.count == 0) return 0;
    bool known = true;
    Counted* counted = counted_of(dataset, known);
    if (!known && fill_all_holes(dataset, closes) < 0) return -1;
    if (counted == nullptr) return 0;
    return settle(counted, closes ? Heard::by_close : Heard::by_call);
}

Status fill_holes_in_file(const Object& any, bool closes) {
    const auto in_file = [&](const Counted& one) {
        return one.identity.file_number == any.under->file_number;
    };
    return settle_all(any.library(), in_file, closes ? Heard::by_close : Heard::by_call);
}

Status fill_all_holes(const Object& on, bool closes) {
    const bool of_ranks = on.under->of_ranks;
    const Heard heard = of_ranks ? Heard::by_nobody : closes ? Heard::by_close : Heard::by_call;
    const auto each = [](const Counted&) { return true; };
    return settle_all(on.library(), each, heard) < 0 && !of_ranks ? -1 : 0;
}

Status before_read(size_t count, void** objects) {
    for (size_t at = 0; at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        if (dataset.library().holes.count == 0) return 0;
        if (fill_holes(dataset, false) < 0) return -1;
        // Below us the library reads the sources of a virtual dataset, which may be any.
        if (dataset.library().holes.count != 0 && is_virtual(dataset) &&
            fill_all_holes(dataset) < 0)
            return -1;
    }
    return 0;
}

Status before_write(size_t count, void** objects, const Id* file_spaces, const void* request) {
    for (size_t at = 0; at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        if (dataset.library().holes.count == 0) return 0;
        bool known = true;
        Counted* counted = counted_of(dataset, known);
        if (known && counted == nullptr) continue;
        ElementSet place;
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
    for (size_t at = 0; at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        if (dataset.library().holes.count == 0) return;
        bool known = true;
        Counted* counted = counted_of(dataset, known);
        if (counted == nullptr) continue;
        ElementSet place;
        bool all = false;
        if (!will_write(dataset.library(), file_spaces[at], counted->array, place, all)) continue;
        if (all)
            counted->bits.add_all();
        else if (!place.empty)
            counted->bits.add_place(place);
    }
}

}  // namespace tailrace::hooks::vol
