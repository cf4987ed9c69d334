// SPDX-License-Identifier: Apache-2.0
// The plan at a transfer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "hooks/vol/apply/proven.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

bool said_refused = false;
constexpr Key of_collective_calls[] = {Key::collective_io, Key::chunk_io, Key::chunk_io_chunks,
                                       Key::chunk_io_percent};

/// Settings of a transfer in one direction.
void choose(Choices& choices, const Object& dataset, bool writes) {
    plan::Found found;
    const TransferPlan& has = *dataset.transfers;
    const auto other = static_cast<uint16_t>(writes ? Key::read_mode : Key::write_mode);
    for (size_t at = 0; at < has.count; ++at)
        if (has.settings[at]->key != other) found.settings[found.count++] = has.settings[at];
    choices.choose(found, {}, {plan::Level::transfer});
    if (!dataset.under->plan->proven) choices.hold_collective(not_proven);
    if (!dataset.under->plan->parallel) {
        for (const Key key : {Key::write_mode, Key::read_mode})
            choices.settle(key, spool::became_held, only_parallel);
        for (const Key key : of_collective_calls)
            choices.settle(key, spool::became_held, only_parallel);
    }
}

/// A list of the file that was made of these numbers; nullptr: there is none yet.
const TunedList* find_list(const FilePlan& file, const uint64_t* numbers, size_t bytes) {
    for (const TunedList* list = file.lists; list != nullptr; list = list->next)
        if (memcmp(list->numbers, numbers, bytes) == 0) return list;
    return nullptr;
}

/// A copy of `own` with the settings; negative where there is nothing to put on it.
Id tuned_copy(const Library& of, Choices& choices, Id own, bool writes) {
    const Quiet quiet(of);
    const Id list = of.H5Pcopy(own);
    if (list < 0) return list;
    Put on{of, choices, list, of.default_transfer};
    put_transfer(on, writes);
    if (choices.any_applied()) return list;
    of.H5Pclose(list);
    return invalid_id;
}

/// What became of the settings when a list was made that is there already.
void settle_as_on(const TunedList& list, Choices& choices) {
    if (list.numbers[1] != transfer_collective) {
        for (const Key key : of_collective_calls)
            choices.settle(key, spool::became_held, not_collective);
    }
    for (Choice& choice : choices)
        if (choice.became == 0) choice.became = spool::became_applied;
}

/// What makes a tuned list.
struct Numbers {
    uint64_t all[7];
};
Numbers numbers_of(Choices& choices, bool writes) {
    Numbers numbers{};
    numbers.all[0] = writes ? 1 : 0;
    size_t at = 1;
    for (const Key key :
         {writes ? Key::write_mode : Key::read_mode, Key::collective_io, Key::chunk_io,
          Key::chunk_io_chunks, Key::chunk_io_percent, Key::conversion_buffer_bytes}) {
        const Choice* choice = choices.open(key);
        numbers.all[at] = choice != nullptr ? choice->number : ~uint64_t{0};
        ++at;
    }
    return numbers;
}

/// The list that stands for the library's default one in transfers of this dataset: made once for
/// all that want the same.
const TunedList* standard_list(Library& of, Choices& choices, Object& dataset, bool writes) {
    FilePlan& file = *dataset.under->plan;
    const Numbers numbers = numbers_of(choices, writes);
    const TunedList* known = find_list(file, numbers.all, sizeof numbers.all);
    if (known != nullptr) {
        settle_as_on(*known, choices);
        return known;
    }
    const Id list = tuned_copy(of, choices, of.default_transfer, writes);
    if (list < 0) return nullptr;
    auto* made = static_cast<TunedList*>(calloc(1, sizeof(TunedList)));
    if (made == nullptr) {
        of.H5Pclose(list);
        return nullptr;
    }
    made->list = list;
    memcpy(made->numbers, numbers.all, sizeof numbers.all);
    made->next = file.lists;
    file.lists = made;
    return made;
}

bool has_plan(const Object& dataset) {
    return dataset.transfers != nullptr && dataset.under->plan != nullptr;
}

void note(const Choices& choices, const Object& dataset) {
    choices.note({dataset.under->plan->path, dataset.path != nullptr ? dataset.path : ""});
}

}  // namespace

void release_held(Library& library) {
    // One that is in use now is that of a transfer which called this one.
    if (library.transfers_running > 0) return;
    Id& held = library.held_transfer;
    if (held >= 0) {
        const ErrorsKept kept(library);
        library.H5Pclose(held);
    }
    held = invalid_id;
}

TransferTuning::TransferTuning(size_t count, void** objects, Id list, bool writes)
    : x_count(count), x_objects(objects), x_list(list), x_writes(writes) {
    size_t first = 0;
    while (first < count && !has_plan(object_of(objects[first]))) ++first;
    if (first == count) return;
    Object& dataset = object_of(objects[first]);
    // A call about several datasets has one list for all.
    if (count > 1 && !agree(dataset)) return;
    x_library = &dataset.library();
    x_dataset = &dataset;
    release_held(*x_library);
    ++x_library->transfers_running;
    tune(dataset);
}

/// Whether all datasets of the call are to be transferred like this one; if not, that is noted.
bool TransferTuning::agree(const Object& first) const {
    Choices choices;
    choose(choices, first, x_writes);
    const Numbers wanted = numbers_of(choices, x_writes);
    const auto same = [&](const Object& dataset) {
        if (!has_plan(dataset)) return false;
        choose(choices, dataset, x_writes);
        const Numbers numbers = numbers_of(choices, x_writes);
        return memcmp(wanted.all, numbers.all, sizeof wanted.all) == 0;
    };
    size_t alike = 0;
    while (alike < x_count && same(object_of(x_objects[alike]))) ++alike;
    if (alike == x_count) return true;
    for (size_t at = 0; at < x_count; ++at) {
        const Object& dataset = object_of(x_objects[at]);
        if (!has_plan(dataset)) continue;
        choose(choices, dataset, x_writes);
        for (const plan::KeyInfo& info : plan::keys())
            choices.settle(
                info.key, spool::became_held,
                "one call transfers several datasets, and the plan has the same only for "
                "some");
        note(choices, dataset);
    }
    return false;
}

/// What became of the one list holds for all datasets of the call, each with its own rules.
void TransferTuning::note_all(Choices& done) const {
    note(done, *x_dataset);
    for (size_t at = 0; at < x_count; ++at) {
        const Object& dataset = object_of(x_objects[at]);
        if (&dataset == x_dataset) continue;
        Choices own;
        choose(own, dataset, x_writes);
        for (Choice& choice : own) {
            for (const Choice& one : done) {
                if (choice.became != 0 || choice.setting->key != one.setting->key) continue;
                choice.became = one.became;
                choice.reason = one.reason;
            }
        }
        note(own, dataset);
    }
}

TransferTuning::~TransferTuning() {
    if (x_library != nullptr) --x_library->transfers_running;
}

void TransferTuning::tune(Object& dataset) {
    TransferPlan& has = *dataset.transfers;
    const bool standard = x_list == x_library->default_transfer;
    if (standard && has.idle[x_writes ? 1 : 0]) return;
    Choices choices;
    choose(choices, dataset, x_writes);
    if (standard) {
        const TunedList*& known = has.standard[x_writes ? 1 : 0];
        if (known == nullptr) {
            known = standard_list(*x_library, choices, dataset, x_writes);
            has.idle[x_writes ? 1 : 0] = known == nullptr;
        } else {
            settle_as_on(*known, choices);
        }
        if (known != nullptr) x_tuned = known->list;
    } else if (x_library->held_transfer < 0) {
        x_tuned = x_library->held_transfer = tuned_copy(*x_library, choices, x_list, x_writes);
    }
    // Alone a rank may only repeat what no other rank takes part in.
    int mode = 0;
    x_may_repeat = x_library->H5Pget_dxpl_mpio == nullptr ||
                   x_library->H5Pget_dxpl_mpio(x_list, &mode) < 0 || mode != transfer_collective;
    note_all(choices);
}

void TransferTuning::refused() {
    const FilePlan& file = *x_dataset->under->plan;
    const char* path = x_dataset->path != nullptr ? x_dataset->path : "";
    recorder::outcome({spool::became_refused, "", "transfer", file.path, path, "",
                       "the transfer failed, and was made again with the program's own list"});
    if (said_refused) return;
    said_refused = true;
    char line[900];
    snprintf(line, sizeof line,
             "%.400s: %.300s: a transfer failed with settings of the plan and is made again with "
             "the program's own",
             file.path, path);
    recorder::say(line);
}

}  // namespace tailrace::hooks::vol
