// SPDX-License-Identifier: Apache-2.0
// The plan at a dataset that is created or opened.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <initializer_list>

#include "hooks/vol/apply/cache_memory.hpp"
#include "hooks/vol/apply/direct_chunks.hpp"
#include "hooks/vol/apply/proven.hpp"
#include "hooks/vol/holes/fill_values.hpp"
#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/plan/open_caches.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

bool said_refused = false;
/// 8 MiB of pointers.
constexpr uint64_t most_slots_of_ranks = 1048573;
constexpr unsigned most_unmatched = 256;  // of a process

/// Whether there may be something in an element that is stored elsewhere: text, a pointer in
/// memory, has twice its bytes in the file.
bool may_point(const Library& of, Id type) {
    if (type >= 0 && lies_plain(of, type)) return false;
    for (const int kind : {class_vlen, class_string, class_reference})
        if (type >= 0 && of.H5Tdetect_class(type, kind) != 0) return true;
    return false;
}

/// What the rules of a dataset look at; the numbers lie here.
struct Measured {
    uint64_t dims[most_dimensions];
    uint64_t largest[most_dimensions];
    uint64_t chunk[most_dimensions];
    plan::Surroundings around;
    uint64_t most_stored;  ///< bytes that an element may have in the file

    /// False where it has no extents that a plan is for.
    bool measure(const Library& of, const FilePlan& file, Id type, Id space) {
        const int rank = space >= 0 ? of.H5Sget_simple_extent_ndims(space) : -1;
        around.ranks = file.ranks;
        around.block_bytes = file.block_bytes;
        // Where ranks open together each has its own: see bound_cache().
        around.memory_bytes = file.parallel ? 0 : memory_for_caches();
        around.type_bytes = type >= 0 ? of.H5Tget_size(type) : 0;
        most_stored = plan::times(around.type_bytes, may_point(of, type) ? 2 : 1);
        if (rank < 1 || static_cast<uint32_t>(rank) > most_dimensions) return false;
        if (of.H5Sget_simple_extent_dims(space, dims, largest) < 0) return false;
        around.dims = {dims, static_cast<size_t>(rank)};
        around.max_dims = {largest, static_cast<size_t>(rank)};
        return true;
    }
    void take_chunk(const Library& of, Id creation) {
        around.chunk = {};
        if (creation < 0 || of.H5Pget_layout(creation) != layout_chunked) return;
        const int rank = of.H5Pget_chunk(creation, static_cast<int>(most_dimensions), chunk);
        if (rank > 0 && static_cast<size_t>(rank) == around.dims.size())
            around.chunk = {chunk, static_cast<size_t>(rank)};
    }
};

/// What stands for an object below, as one of ours beside `parent`.
Object seen_from(const Object& parent, void* inner, int kind) {
    Object look{};
    look.under = parent.under;
    look.inner = inner;
    look.kind = kind;
    return look;
}

bool lies_in_file(const Object& object) {
    Identity identity{};
    return identify(object, identity) && identity.file_number == object.under->file_number;
}

/// Notes the first few names that no entry is for: whoever reads that an entry met nothing wants to
/// know what there was instead.
void note_unmatched(const FilePlan& file, const char* path) {
    static std::atomic<unsigned> noted{0};
    if (noted.load(std::memory_order_relaxed) >= most_unmatched) return;
    noted.fetch_add(1, std::memory_order_relaxed);
    recorder::outcome({spool::became_unmatched, "", "", file.path, path, "", ""});
}

bool is_variable(const Library& of, Id type) {
    const int kind = of.H5Tget_class(type);
    return kind == class_vlen || (kind == class_string && of.H5Tis_variable_str(type) > 0);
}

}  // namespace

DatasetTuning::DatasetTuning(Object& parent, const Location* location, const char* name,
                             plan::Moment moment)
    : x_parent(parent), x_name(location->way == way_self ? name : nullptr) {
    const FilePlan* file = parent.under->plan;
    if (file == nullptr || !file->about_datasets) return;
    const bool by_name = location->way == way_self && name != nullptr;
    const bool by_place = location->way == way_name && name == nullptr;
    if (!by_name && !by_place) return;  // by a reference
    if (parent.path == nullptr && (by_place || name[0] != '/')) {
        const Quiet quiet(parent.library());
        find_path(parent);
    }
    x_path = by_name ? child_path(parent, name) : path_at(parent, *location);
    if (x_path == nullptr) return;
    x_found = plan::find(plan_of_process(), file->path, x_path, moment, file->ranks);
    if (x_found.count > 0) return;
    note_unmatched(*file, x_path);
    free(x_path);
    x_path = nullptr;
}

DatasetTuning::~DatasetTuning() {
    if (x_path == nullptr) return;
    const ErrorsKept kept(x_parent.library());
    if (x_creation >= 0) x_parent.library().H5Pclose(x_creation);
    if (x_access >= 0) x_parent.library().H5Pclose(x_access);
    free(x_path);
}

/// Remembering what the program asked for takes memory. In a file of several ranks it must not
/// depend on what else this one has made: they have agreed on how many may be changed.
void DatasetTuning::bound_changes() {
    const FilePlan& file = *x_parent.under->plan;
    if ((file.parallel ? file.changes_left : room_for_direct_chunks()) > 0) return;
    for (const Key key : {Key::chunk, Key::layout, Key::shuffle, Key::deflate})
        x_choices.settle(key, spool::became_held, "65536 datasets have been changed");
}

/// PyTables fails, and may crash, where an index of it does not lie as it made it.
void DatasetTuning::leave_indexes() {
    if (strstr(x_path, "/_i_") == nullptr) return;
    for (const plan::KeyInfo& info : plan::keys())
        x_choices.settle(info.key, spool::became_held,
                         "it belongs to an index of PyTables, which needs its own layout");
}

/// Chunks that the plan has a cache for are slow without it: they go together. With several ranks
/// the memory of one of them must not decide on the layout.
void DatasetTuning::bound_chunk(plan::Surroundings around) {
    const FilePlan& file = *x_parent.under->plan;
    if ((file.parallel && file.ranks > 1) || x_choices.open(Key::chunk) == nullptr) return;
    const plan::Value& shape = x_choices.chunk();
    around.chunk = {shape.extents.data(), shape.ndims};
    Choices caches;
    caches.choose(x_found, around, {plan::Level::dataset_access});
    const uint64_t most = memory_for_caches();
    for (const Choice& choice : caches) {
        if (choice.setting->key != static_cast<uint16_t>(Key::chunk_cache_bytes)) continue;
        const bool own_is_small = file.cache.chosen && file.cache.bytes < choice.number;
        const bool fits = choice.became == 0 && (most == 0 || !is_too_large(choice.number, most));
        if (fits && !own_is_small) continue;
        for (const Key key : {Key::chunk, Key::layout})
            x_choices.settle(key, spool::became_misfit,
                             fits ? "the program's own cache is too small for these chunks"
                                  : "there is no memory for the cache that goes with these chunks");
    }
}

void DatasetTuning::put_creation(Id type, Id space, Lists own) {
    const Library& of = x_parent.library();
    FilePlan& file = *x_parent.under->plan;
    const Quiet quiet(of);
    x_made = true;
    x_own_creation = own.creation;
    Measured what;
    const bool simple = what.measure(of, file, type, space);
    x_choices.choose(x_found, what.around, {plan::Level::dataset_create});
    if (!file.proven) x_choices.hold_collective(not_proven);
    if (!simple) {
        for (const plan::KeyInfo& info : plan::keys())
            x_choices.settle(info.key, spool::became_misfit, "the dataset has no extents");
    } else if (!x_choices.empty()) {
        leave_indexes();
        bound_changes();
        bound_chunk(what.around);
        NewDataset fresh{file,
                         what.around,
                         false,
                         is_variable(of, type),
                         lies_plain(of, type),
                         of.H5Tcommitted(type) != 0,
                         true,
                         what.around.type_bytes};
        if (file.parallel && x_choices.open(Key::fill_time) != nullptr)
            fresh.in_file = stays_in_file();
        for (size_t d = 0; d < what.around.dims.size(); ++d) {
            fresh.can_grow = fresh.can_grow || what.dims[d] != what.largest[d];
            fresh.bytes = plan::times(fresh.bytes, what.dims[d]);
        }
        x_creation = of.H5Pcopy(own.creation);
        Put on{of, x_choices, x_creation, of.default_dataset_creation};
        if (x_creation >= 0) put_dataset_creation(on, fresh);
        if (file.changes_left > 0 && changes_chunks(x_choices)) --file.changes_left;
        if (x_creation >= 0 && !x_choices.any_applied()) {
            of.H5Pclose(x_creation);
            x_creation = invalid_id;
        }
    }
    what.take_chunk(of, x_creation >= 0 ? x_creation : own.creation);
    put_access(what.around, what.most_stored, own.access);
}

void DatasetTuning::put_access(const plan::Surroundings& around, uint64_t most_stored, Id own) {
    const Library& of = x_parent.library();
    x_access_choices.choose(x_found, around, {plan::Level::dataset_access});
    if (x_access_choices.empty()) return;
    if (around.chunk.empty()) {
        for (const Key key :
             {Key::chunk_cache_bytes, Key::chunk_cache_slots, Key::chunk_cache_preemption})
            x_access_choices.settle(key, spool::became_misfit, "the dataset has no chunks");
    }
    x_access = of.H5Pcopy(own);
    if (x_access < 0) return;
    ChunkBytes chunk{around.type_bytes, most_stored};
    for (const uint64_t extent : around.chunk) {
        chunk.in_memory = plan::times(chunk.in_memory, extent);
        chunk.most_stored = plan::times(chunk.most_stored, extent);
    }
    const FilePlan& file = *x_parent.under->plan;
    const bool of_ranks = file.parallel && file.ranks > 1;
    Put on{of, x_access_choices, x_access, of.default_dataset_access};
    if (of_ranks) hold_cache_of_ranks(on, file.cache, chunk);
    bound_cache(of_ranks);
    put_dataset_access(on, file.cache, chunk, of_ranks);
    if (x_access_choices.any_applied()) return;
    of.H5Pclose(x_access);
    x_access = invalid_id;
}

/// Whether a cache of so many bytes is too large for this process, with those of all datasets that
/// are open: a program may open hundreds.
bool DatasetTuning::is_too_large(uint64_t bytes, uint64_t most) const {
    const Library& of = x_parent.library();
    if (bytes > most) return true;
    // One that is there is counted.
    return x_cache == nullptr && most - bytes < of.open_cache_bytes - bytes_only_kept(of);
}

/// Leaves out what of a cache is too large, its bytes or the table of its slots. In a file of
/// several ranks what is there without the plan takes its place, so that all of them open the
/// dataset anew.
void DatasetTuning::bound_cache(bool of_ranks) {
    Library& of = x_parent.library();
    Choice* const slots = x_access_choices.open(Key::chunk_cache_slots);
    if (of_ranks && slots != nullptr && slots->number > most_slots_of_ranks) {
        slots->number = most_slots_of_ranks;
        slots->changed = "cut: no more in a file of several ranks";
    }
    const uint64_t most = memory_for_caches();
    if (most == 0) return;
    size_t usual[2] = {};
    double preemption = 0;
    if (of.H5Pget_chunk_cache(x_access, &usual[0], &usual[1], &preemption) < 0) return;
    uint64_t taken = 0;
    for (const Key key : {Key::chunk_cache_bytes, Key::chunk_cache_slots}) {
        Choice* const choice = x_access_choices.open(key);
        if (choice == nullptr) continue;
        const bool table = key == Key::chunk_cache_slots;
        const uint64_t wanted = plan::times(choice->number, table ? sizeof(void*) : 1);
        if (!is_too_large(wanted, most - taken)) {
            taken += wanted;
        } else if (!of_ranks) {
            x_access_choices.settle(
                key, spool::became_misfit,
                wanted > most ? "larger than a quarter of the memory, shared by the ranks here"
                              : "with the caches of the datasets that are open it would be larger "
                                "than a quarter of the memory, shared by the ranks here");
        } else if (usual[table ? 0 : 1] < choice->number) {
            choice->number = usual[table ? 0 : 1];
            choice->changed =
                "cut: all caches would be larger than a quarter of the memory, shared by the ranks "
                "here";
        }
    }
    if (taken > 0 && x_cache == nullptr) make_room_for_cache(of, taken, most);
}

/// Not while a request is under way, nor for one that an external link leads to.
bool DatasetTuning::may_reopen(void* inner, void** request) {
    if (request != nullptr && *request != nullptr) return false;
    const Object look = seen_from(x_parent, inner, kind_dataset);
    const Quiet quiet(x_parent.library());
    x_cache = open_cache_of(look);
    return lies_in_file(look);
}

/// Whether what is created lies in the file that it is created by way of: the groups that its name
/// leads through may be in another one, by a link or a mount.
bool DatasetTuning::stays_in_file() const {
    if (x_name == nullptr || !lies_in_file(x_parent)) return false;
    const char* const last = strrchr(x_name, '/');
    if (last == nullptr || last == x_name) return true;
    char* const groups = strndup(x_name, static_cast<size_t>(last - x_name));
    if (groups == nullptr) return false;
    const Library& of = x_parent.library();
    const CallOfItsOwn own(of);
    const Location self{x_parent.kind, way_self, {}};
    void* const inner = of.H5VLgroup_open(x_parent.inner, &self, x_parent.connector(), groups,
                                          of.default_group_access, of.default_transfer, nullptr);
    free(groups);
    if (inner == nullptr) return false;
    const bool here = lies_in_file(seen_from(x_parent, inner, kind_group));
    of.H5VLgroup_close(inner, x_parent.connector(), of.default_transfer, nullptr);
    return here;
}

Id DatasetTuning::better_access(void* inner, Id own) {
    const Library& of = x_parent.library();
    const Quiet quiet(of);
    Measured what;
    const Id type = ask_dataset(x_parent, inner, dataset_get_type);
    const Id space = ask_dataset(x_parent, inner, dataset_get_space);
    const Id creation = ask_dataset(x_parent, inner, dataset_get_creation);
    if (what.measure(of, *x_parent.under->plan, type, space)) {
        what.take_chunk(of, creation);
        put_access(what.around, what.most_stored, own);
    }
    if (type >= 0) of.H5Tclose(type);
    if (space >= 0) of.H5Sclose(space);
    if (creation >= 0) of.H5Pclose(creation);
    return x_access;
}

void DatasetTuning::refused(bool creation) {
    const char* const reason = "the library refused it; the program's own list is used";
    if (creation) x_choices.instead_of_applied(spool::became_refused, reason);
    x_access_choices.instead_of_applied(spool::became_refused, reason);
    if (said_refused) return;
    said_refused = true;
    char line[900];
    snprintf(line, sizeof line,
             "%.400s: %.300s: the library refused settings of the plan; the program's own are used",
             x_parent.under->plan->path, x_path);
    recorder::say(line);
}

void DatasetTuning::done(Object& dataset) {
    const FilePlan& file = *x_parent.under->plan;
    if (x_made) {
        check_allocation(dataset);
        note_direct_chunks(dataset, x_choices, x_own_creation, x_creation);
    }
    const Where where{file.path, x_path};
    check_cache(dataset);
    x_choices.note(where);
    x_access_choices.note(where);
    if (x_made) count_unfilled(dataset);
    TransferPlan plan{};
    for (const plan::PlanSetting* setting : x_found.all()) {
        if (plan::keys()[setting->key].level != plan::Level::transfer) continue;
        if (plan.count < sizeof plan.settings / sizeof plan.settings[0])
            plan.settings[plan.count++] = setting;
    }
    if (plan.count == 0) return;
    dataset.transfers = static_cast<TransferPlan*>(malloc(sizeof plan));
    if (dataset.transfers != nullptr) *dataset.transfers = plan;
}

/// What the library does not fill any more is filled by us.
void DatasetTuning::count_unfilled(Object& dataset) {
    for (const Choice& choice : x_choices) {
        if (choice.setting->key == static_cast<uint16_t>(Key::fill_time) &&
            choice.number == fill_never && choice.became == spool::became_applied) {
            if (x_parent.under->plan->parallel)
                count_holes_of_ranks(dataset, *choice.setting);
            else
                count_holes(dataset, *choice.setting);
        }
    }
}

/// In files of several ranks some libraries allocate at once, whatever the list says.
void DatasetTuning::check_allocation(const Object& dataset) {
    for (Choice& choice : x_choices) {
        if (choice.setting->key != static_cast<uint16_t>(Key::allocation_time) ||
            choice.became != spool::became_applied)
            continue;
        const Library& of = x_parent.library();
        const Quiet quiet(of);
        const Id creation = ask_dataset(x_parent, dataset.inner, dataset_get_creation);
        int time = 0;
        if (creation >= 0 && of.H5Pget_alloc_time(creation, &time) >= 0 &&
            static_cast<uint64_t>(time) != choice.number) {
            choice.became = spool::became_held;
            choice.reason = "given, and this HDF5 has another time in force";
        }
        if (creation >= 0) of.H5Pclose(creation);
    }
}

/// Of a dataset that is open already the library goes on with the cache that it has.
void DatasetTuning::check_cache(Object& dataset) {
    if (x_access < 0 || !x_access_choices.any_applied()) return;
    const Library& of = x_parent.library();
    const Quiet quiet(of);
    const Id access = ask_dataset(x_parent, dataset.inner, dataset_get_access);
    size_t sizes[2][2] = {};
    double preemption[2] = {};
    const bool same =
        access >= 0 &&
        of.H5Pget_chunk_cache(access, &sizes[0][0], &sizes[0][1], &preemption[0]) >= 0 &&
        of.H5Pget_chunk_cache(x_access, &sizes[1][0], &sizes[1][1], &preemption[1]) >= 0 &&
        sizes[0][0] == sizes[1][0] && sizes[0][1] == sizes[1][1] && preemption[0] == preemption[1];
    if (access >= 0) of.H5Pclose(access);
    if (!same) {
        x_access_choices.instead_of_applied(spool::became_held,
                                            "the dataset was open already, with another cache");
        return;
    }
    uint64_t bytes = 0;
    for (const Choice& choice : x_access_choices) {
        if (choice.became != spool::became_applied) continue;
        if (choice.setting->key == static_cast<uint16_t>(Key::chunk_cache_slots))
            bytes += sizes[0][0] * sizeof(void*);
        if (choice.setting->key != static_cast<uint16_t>(Key::chunk_cache_bytes)) continue;
        bytes += sizes[0][1];
        dataset.cache_bytes = sizes[0][1];  // what is in force
        dataset.cache_setting = choice.setting;
    }
    if (bytes > 0) dataset.cache = use_cache(dataset, bytes);
    note_kept_cache(dataset);
}

}  // namespace tailrace::hooks::vol
