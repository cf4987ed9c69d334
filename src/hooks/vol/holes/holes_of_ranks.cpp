// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes/holes_of_ranks.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/holes/fill_values.hpp"
#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/holes/selected.hpp"
#include "hooks/vol/holes/written_places.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {

/// A dataset that is counted. Several objects may stand for it.
struct Unfilled {
    Unfilled* next;
    Object* owner;  ///< the one it was created as, which stays open below
    bool closed;    ///< by the program
    bool seen;      ///< by this rank, before it was known what is missing
    Identity identity;
    Array array;
    WrittenPlaces places;
    const plan::PlanSetting* setting;
};

namespace {

constexpr uint64_t most_elements = uint64_t{1} << 29;  // 64 MiB of bits, where they are needed
constexpr uint64_t most_in_all = uint64_t{1} << 31;
constexpr uint64_t most_counted = 1024;

constexpr const char* not_filled =
    "elements that no rank has written could not get their fill value";

/// The one that an object was created as.
Unfilled* owned_by(const Object& dataset) {
    Unfilled* at = dataset.library().unfilled;
    while (at != nullptr && at->owner != &dataset) at = at->next;
    return at;
}

/// Which one a dataset is, by whatever open of its file; nullptr: none.
Unfilled* unfilled_of(Object& dataset) {
    Unfilled* const all = dataset.library().unfilled;
    if (all == nullptr || dataset.kind != kind_dataset) return nullptr;
    if (Unfilled* const owned = owned_by(dataset)) return owned;
    Identity identity{};
    const ErrorsKept kept(dataset.library());
    const bool known = identify(dataset, identity);
    for (Unfilled* at = all; at != nullptr; at = at->next) {
        if (!known) at->places.lose();  // it may be any of them
        if (known && at->identity.is(identity)) return at;
    }
    return nullptr;
}

void note(const Unfilled& one, spool::Became became, const char* value, const char* reason) {
    const Object& dataset = *one.owner;
    note_outcome(*one.setting,
                 {dataset.under->plan->path, dataset.path != nullptr ? dataset.path : ""}, became,
                 value, reason);
}

void say(const Unfilled& one, const char* what) {
    char line[900];
    const Object& dataset = *one.owner;
    snprintf(line, sizeof line,
             "%.400s: %.250s: %s; take the setting \"fill_time\" out of the plan",
             dataset.under->plan->path, dataset.path != nullptr ? dataset.path : "", what);
    recorder::say(line);
}

void say_failed(const Unfilled& one) {
    say(one, not_filled);
    note(one, spool::became_failed, "", not_filled);
}

/// Closes what was only open for us.
void forget(Unfilled* one) {
    Object* const owner = one->owner;
    if (one->closed) {
        const Quiet quiet(owner->library());
        owner->library().H5VLdataset_close(owner->inner, owner->connector(),
                                           owner->library().default_transfer, nullptr);
        drop(owner);
    }
    one->places.end();
    free(one);
}

/// What a rank tells about a dataset: how it says it, and how much there is of it.
struct Told {
    uint64_t is_bits;
    uint64_t count;
    uint64_t lost;
    uint64_t seen;
};
constexpr int told_numbers = sizeof(Told) / sizeof(uint64_t);

/// Numbers in a message: places are told whole.
uint64_t numbers_at_once(bool bits, uint32_t rank) {
    const uint64_t of_place = bits ? 1 : WrittenPlaces::numbers_of_place(rank);
    return Ranks::most_numbers - Ranks::most_numbers % of_place;
}

bool tell(const Ranks& ranks, const Unfilled& one) {
    const WrittenPlaces& places = one.places;
    const uint64_t told[] = {places.is_bits() ? 1U : 0U, places.count(), places.lost() ? 1U : 0U,
                             one.seen ? 1U : 0U};
    bool good = ranks.send(told, told_numbers, 0);
    const uint64_t step = numbers_at_once(places.is_bits(), one.array.rank);
    for (uint64_t at = 0; at < places.count(); at += step) {
        const uint64_t left = places.count() - at;
        good = ranks.send(places.numbers() + at, static_cast<int>(left < step ? left : step), 0) &&
               good;
    }
    return good;
}

/// What is left to be filled, on the first rank.
struct Sum {
    WrittenBits bits{};
    bool known = true;  ///< all has been told
    bool seen = false;
};

void hear(const Ranks& ranks, int from, const Unfilled& one, Sum& sum) {
    uint64_t numbers[Ranks::most_numbers];
    Told told{};
    if (!ranks.receive(numbers, told_numbers, from)) {
        sum.known = false;
        return;
    }
    memcpy(&told, numbers, sizeof told);
    sum.known = sum.known && told.lost == 0;
    sum.seen = sum.seen || told.seen != 0;
    const uint64_t step = numbers_at_once(told.is_bits != 0, one.array.rank);
    bool good = true;
    for (uint64_t at = 0; at < told.count; at += step) {
        const uint64_t left = told.count - at;
        const int now = static_cast<int>(left < step ? left : step);
        // Whatever goes wrong, all that is sent has to be received.
        good = ranks.receive(numbers, now, from) && good;
        if (!good || sum.bits.words() == nullptr) continue;
        if (told.is_bits != 0) {
            sum.bits.add_words(at, numbers, static_cast<uint64_t>(now));
        } else {
            WrittenPlaces::add_to(sum.bits, numbers, static_cast<uint64_t>(now), one.array.rank);
        }
    }
    sum.known = sum.known && good;
}

/// On the first rank: hears all others, and fills what none of them has written.
Status sum_up(const Ranks& ranks, const Unfilled& one) {
    Sum sum;
    if (!sum.bits.begin(one.array.dims, one.array.rank)) sum.known = false;
    if (sum.bits.words() != nullptr) {
        if (one.places.is_bits())
            sum.bits.add_words(0, one.places.numbers(), one.places.count());
        else
            WrittenPlaces::add_to(sum.bits, one.places.numbers(), one.places.count(),
                                  one.array.rank);
    }
    sum.known = sum.known && !one.places.lost();
    sum.seen = one.seen;
    for (int from = 1; from < static_cast<int>(ranks.count()); ++from) hear(ranks, from, one, sum);
    Status status = 0;
    if (sum.bits.words() == nullptr) {
        status = -1;
    } else if (sum.bits.missing() > 0) {
        status = sum.known ? fill_exactly(*one.owner, one.array, sum.bits) : -1;
        char value[64];
        snprintf(value, sizeof value, "%llu elements",
                 static_cast<unsigned long long>(sum.bits.missing()));
        if (status >= 0)
            note(one, spool::became_applied, value, "left out by all ranks, and filled");
        if (status >= 0 && sum.seen) {
            say(one,
                "it was read or flushed by itself before elements that no rank has written "
                "got their fill value");
            note(one, spool::became_failed, value,
                 "read or flushed by itself before they got their fill value");
        }
    }
    sum.bits.end();
    return status;
}

/// All ranks, with the same dataset.
Status settle(const Ranks& ranks, const Unfilled& one) {
    const bool first = ranks.here() == 0;
    const bool good = first ? sum_up(ranks, one) >= 0 : tell(ranks, one);
    if (ranks.all(good)) return 0;
    say_failed(one);
    return -1;
}

/// Takes those of a file out of the list.
Unfilled* take_all(Under& file) {
    Unfilled* taken = nullptr;
    Unfilled** end = &taken;
    for (Unfilled** at = &file.library->unfilled; *at != nullptr;) {
        Unfilled* const one = *at;
        if (one->owner->under != &file) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->next = nullptr;
        *end = one;
        end = &one->next;
    }
    file.plan->unfilled = file.plan->unfilled_elements = 0;
    return taken;
}

/// Whether all ranks have counted the same, and everything: one may have had no memory.
bool have_the_same(const Ranks& ranks, const Unfilled* all, bool uncounted) {
    uint64_t mixed = 0xcbf29ce484222325U;
    for (const Unfilled* at = all; at != nullptr; at = at->next)
        for (const unsigned char byte : at->identity.token) mixed = (mixed ^ byte) * 0x100000001b3U;
    const uint64_t own[] = {mixed, ~mixed, uncounted ? 0U : 1U};
    uint64_t least[3] = {};
    return ranks.smallest(own, least, 3) && least[0] == ~least[1] && least[2] == 1;
}

Unfilled* begin(Object& dataset, const plan::PlanSetting& setting) {
    auto* made = static_cast<Unfilled*>(calloc(1, sizeof(Unfilled)));
    if (made == nullptr) return nullptr;
    const ErrorsKept kept(dataset.library());
    if (!measure(dataset, made->array) || !identify(dataset, made->identity)) {
        free(made);
        return nullptr;
    }
    made->owner = &dataset;
    made->setting = &setting;
    made->places.begin(made->array.dims, made->array.rank);
    return made;
}

}  // namespace

bool plan_asks_ranks_to_fill(const char* path) {
    const plan::PlanView& of = plan_of_process();
    if (plan::match_of(of, path) == 0) return false;
    for (const plan::PlanEntry& entry : of.entries()) {
        for (const plan::PlanSetting& setting : of.settings(entry))
            if (setting.key == static_cast<uint16_t>(Key::fill_time) &&
                setting.cls == static_cast<uint16_t>(plan::Class::collective))
                return true;
    }
    return false;
}

const char* why_ranks_do_not_count(const NewDataset& what, const plan::PlanSetting& setting,
                                   uint64_t elements) {
    const FilePlan& file = what.file;
    if (setting.cls != static_cast<uint16_t>(plan::Class::collective))
        return "in a file of several ranks only by a rule that was proven for the run";
    if (file.subfiled) return "not with subfiles";
    if (!file.together.are_there()) return "the ranks cannot tell each other what they write";
    if (file.kept.files == 0) return "the program has closed the file";
    // That is to be closed when the program closes it.
    if (!what.in_file) return "a link or a mount may lead to another file, or groups are not there";
    if (file.unfilled >= most_counted) return too_many_counted;
    if (elements > most_elements || file.unfilled_elements + elements > most_in_all)
        return too_many_elements;
    return nullptr;
}

void count_holes_of_ranks(Object& dataset, const plan::PlanSetting& setting) {
    Unfilled* const made = begin(dataset, setting);
    if (made == nullptr) {
        dataset.under->plan->uncounted = true;  // all ranks will hear of it
        note_outcome(setting,
                     {dataset.under->plan->path, dataset.path != nullptr ? dataset.path : ""},
                     spool::became_failed, "", not_filled);
        return;
    }
    made->next = dataset.library().unfilled;
    dataset.library().unfilled = made;
    ++dataset.under->plan->unfilled;
    dataset.under->plan->unfilled_elements += made->array.elements;
}

void note_written_by_rank(size_t count, void** objects, const Id* file_spaces) {
    for (size_t at = 0; at < count; ++at) {
        Object& dataset = object_of(objects[at]);
        Unfilled* const one = unfilled_of(dataset);
        if (one != nullptr)
            add_selected(dataset.library(), file_spaces[at], one->array, one->places);
    }
}

void note_seen_by_rank(Object& dataset) {
    Unfilled* const one = unfilled_of(dataset);
    if (one != nullptr) one->seen = true;
}

void note_all_seen_by_rank(const Under& file) {
    for (Unfilled* at = file.library->unfilled; at != nullptr; at = at->next)
        if (at->owner->under == &file) at->seen = true;
}

bool is_counted_by_ranks(const Object& dataset) { return owned_by(dataset) != nullptr; }

bool stays_for_ranks(const Object& dataset) {
    Unfilled* const one = owned_by(dataset);
    if (one != nullptr) one->closed = true;
    return one != nullptr;
}

Status fill_holes_of_ranks(Under& file) {
    if (file.plan == nullptr) return 0;
    const bool can = file.plan->together.are_there();
    if (!can && file.plan->unfilled == 0 && !file.plan->uncounted) return 0;
    file.uses.add();  // for what the datasets hold
    Unfilled* all = take_all(file);
    const bool same = can && have_the_same(file.plan->together, all, file.plan->uncounted);
    file.plan->uncounted = false;
    Status worst = same ? 0 : -1;
    while (all != nullptr) {
        Unfilled* const one = all;
        all = one->next;
        if (!same)
            say_failed(*one);
        else if (settle(file.plan->together, *one) < 0)
            worst = -1;
        forget(one);
    }
    release(&file);
    return worst;
}

void fill_all_of_ranks(Library& of) {
    while (of.unfilled != nullptr) {
        const Context context(of);
        if (!context.good()) return;
        const Quiet quiet(of);
        fill_holes_of_ranks(*of.unfilled->owner->under);
    }
}

}  // namespace tailrace::hooks::vol
