// SPDX-License-Identifier: Apache-2.0
// Settings of datasets and of their transfers.
#include <string.h>

#include <initializer_list>

#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/objects/describe.hpp"
#include "hooks/vol/objects/own_settings.hpp"
#include "hooks/vol/plan/tuning.hpp"
#include "intent/plan/unasked_caches.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr int filter_deflate = 1;
constexpr int filter_shuffle = 2;
constexpr int allocation_early = 1;
constexpr uint64_t most_compact = uint64_t{60} << 10;
constexpr uint64_t small_chunk = uint64_t{64} << 10;
constexpr uint64_t large_chunk = uint64_t{32} << 20;

uint64_t bytes_of(const uint64_t* extents, size_t count, uint64_t type_bytes) {
    uint64_t bytes = type_bytes;
    for (size_t d = 0; d < count; ++d) bytes = plan::times(bytes, extents[d]);
    return bytes;
}

/// Why the chunk of the program's own stays; nullptr: the plan's takes its place.
const char* own_chunk_stays(const Put& on, const plan::PlanSetting& setting,
                            const plan::Surroundings& around) {
    uint64_t own[most_dimensions];
    const int rank = on.of.H5Pget_chunk(on.list, static_cast<int>(most_dimensions), own);
    if (rank < 1) return not_taken;
    // A rule of a site's own knows nothing of what is wrong with the program's chunk.
    const std::string_view rule = plan_of_process().text(setting.rule);
    if (rule.size() > 5 && memcmp(rule.data(), "site.", 5) == 0) return program_set_it;
    const uint64_t bytes = bytes_of(own, static_cast<size_t>(rank), around.type_bytes);
    const plan::Value& wanted = on.choices.chunk();
    switch (static_cast<plan::Function>(setting.function)) {
        case plan::Function::block_per_rank:
            return nullptr;
        case plan::Function::rows_of_bytes:
            return bytes < bytes_of(wanted.extents.data(), wanted.ndims, around.type_bytes)
                       ? nullptr
                       : program_set_it;
        default:
            return bytes < small_chunk || bytes > large_chunk ? nullptr : program_set_it;
    }
}

void put_chunk(Put& on, const NewDataset& what, int layout) {
    Choice* choice = on.choices.open(Key::chunk);
    if (choice == nullptr) return;
    const plan::Value& chunk = on.choices.chunk();
    const auto settle = [&](spool::Became became, const char* reason) {
        on.choices.settle(Key::chunk, became, reason);
        const Choice* other = on.choices.open(Key::layout);
        if (became == spool::became_applied && other != nullptr &&
            other->number == static_cast<uint64_t>(layout_compact))
            on.choices.settle(Key::layout, spool::became_held, "the plan has chunks for it too");
        on.choices.settle(Key::layout, became, reason);
    };
    const char* stays = nullptr;
    if (layout == layout_chunked) stays = own_chunk_stays(on, *choice->setting, what.around);
    if (layout != layout_chunked && layout != layout_contiguous) stays = program_set_it;
    if (layout == layout_contiguous && on.of.H5Pget_external_count(on.list) != 0)
        stays = program_set_it;
    if (stays != nullptr) {
        settle(spool::became_kept, stays);
        return;
    }
    if (layout == layout_contiguous && what.can_grow) {
        settle(spool::became_held, "without chunks of the program HDF5 does not make it");
        return;
    }
    const bool good =
        on.of.H5Pset_chunk(on.list, static_cast<int>(chunk.ndims), chunk.extents.data()) >= 0;
    settle(good ? spool::became_applied : spool::became_refused, good ? "" : not_taken);
}

void put_layout(Put& on, const NewDataset& what, int layout) {
    Choice* choice = on.choices.open(Key::layout);
    if (choice == nullptr) return;
    const auto settle = [&](spool::Became became, const char* reason) {
        on.choices.settle(Key::layout, became, reason);
    };
    if (choice->number != static_cast<uint64_t>(layout_compact)) {
        settle(spool::became_held, "chunks need a size, and the plan has none here");
    } else if (layout != layout_contiguous || on.of.H5Pget_external_count(on.list) != 0) {
        settle(spool::became_kept, program_set_it);
    } else if (what.can_grow || what.bytes > most_compact || what.variable) {
        settle(spool::became_misfit, "only for datasets of a fixed size up to 60 KiB");
    } else if (what.file.parallel) {
        settle(spool::became_held, only_serial);
    } else {
        const bool good = on.of.H5Pset_layout(on.list, layout_compact) >= 0;
        settle(good ? spool::became_applied : spool::became_refused, good ? "" : not_taken);
    }
}

/// Whether HDF5 fills a dataset that is allocated when it is created. Of one without chunks it does
/// so only with a value that the program chose: what lay there in the file before would show.
bool is_filled_early(const Put& on, int layout) {
    int time = fill_never;
    int defined = fill_undefined;
    if (on.of.H5Pget_fill_time(on.list, &time) < 0 ||
        on.of.H5Pfill_value_defined(on.list, &defined) < 0)
        return false;
    if (defined == fill_undefined) return false;
    if (time != fill_never)
        return layout == layout_chunked || time != fill_if_set || defined != fill_default;
    for (const Choice& choice : on.choices)  // ours is filled at close
        if (choice.setting->key == static_cast<uint16_t>(Key::fill_time) &&
            choice.became == spool::became_applied)
            return true;
    return false;
}

void put_times(Put& on, const NewDataset& what) {
    const Library& of = on.of;
    const Choice* fill = on.choices.open(Key::fill_time);
    if (fill != nullptr && fill->number == fill_never) {
        // What nobody writes would be anything at all.
        const char* const why = why_not_counted(of, on.list, what, *fill->setting);
        if (why != nullptr) on.choices.settle(Key::fill_time, spool::became_held, why);
    }
    put(
        on, {Key::fill_time},
        [&of](Id list, uint64_t* v) {
            int time = 0;
            const Status status = of.H5Pget_fill_time(list, &time);
            v[0] = static_cast<uint64_t>(time);
            return status;
        },
        [&of](Id list, const uint64_t* v) {
            return of.H5Pset_fill_time(list, static_cast<int>(v[0]));
        });
    // The default differs with the layout: it is the library's until somebody says otherwise.
    Choice* time = on.choices.open(Key::allocation_time);
    if (time == nullptr) return;
    int own = 0;
    const auto settle = [&](spool::Became became, const char* reason) {
        on.choices.settle(Key::allocation_time, became, reason);
    };
    const int layout = of.H5Pget_layout(on.list);
    const int usual = layout == layout_compact ? 1 : layout == layout_chunked ? 3 : 2;
    if (of.H5Pget_alloc_time(on.list, &own) < 0) {
        settle(spool::became_unavailable, not_taken);
    } else if (own != usual) {
        settle(spool::became_kept, program_set_it);
    } else if (what.file.parallel && time->number == 2) {
        settle(spool::became_held, only_serial);
    } else if (time->number == allocation_early && own != allocation_early && !what.file.parallel &&
               !is_filled_early(on, layout)) {
        settle(spool::became_held, "elements that nobody writes would not be filled");
    } else {
        const bool good = of.H5Pset_alloc_time(on.list, static_cast<int>(time->number)) >= 0;
        settle(good ? spool::became_applied : spool::became_refused, good ? "" : not_taken);
    }
}

void put_filters(Put& on, const NewDataset& what) {
    const Library& of = on.of;
    Choice* shuffle = on.choices.open(Key::shuffle);
    Choice* deflate = on.choices.open(Key::deflate);
    const auto settle = [&](spool::Became became, const char* reason) {
        on.choices.settle(Key::shuffle, became, reason);
        on.choices.settle(Key::deflate, became, reason);
    };
    if (shuffle == nullptr && deflate == nullptr) return;
    const bool wanted = shuffle != nullptr && shuffle->number != 0;
    if (of.H5Pget_nfilters(on.list) != 0) {
        settle(spool::became_kept, program_set_it);
    } else if (of.H5Pget_layout(on.list) != layout_chunked) {
        settle(spool::became_misfit, "the dataset has no chunks");
    } else if (what.file.parallel) {
        settle(spool::became_held, "with filters all ranks would have to write together");
    } else if ((wanted && of.H5Zfilter_avail(filter_shuffle) <= 0) ||
               (deflate != nullptr && of.H5Zfilter_avail(filter_deflate) <= 0)) {
        settle(spool::became_unavailable, "this HDF5 was built without the filter");
    } else {
        const bool good = (!wanted || of.H5Pset_shuffle(on.list) >= 0) &&
                          (deflate == nullptr ||
                           of.H5Pset_deflate(on.list, static_cast<unsigned>(deflate->number)) >= 0);
        settle(good ? spool::became_applied : spool::became_refused, good ? "" : not_taken);
    }
}

constexpr Key cache_keys[] = {Key::chunk_cache_slots, Key::chunk_cache_bytes,
                              Key::chunk_cache_preemption};

bool nobody_chose(const uint64_t* numbers, uint64_t chunk_bytes) {
    double preemption = 0;
    memcpy(&preemption, &numbers[2], sizeof preemption);
    return plan::nobody_chose({numbers[0], numbers[1], preemption}, chunk_bytes);
}

}  // namespace

void put_dataset_creation(Put& on, const NewDataset& what) {
    const int layout = on.of.H5Pget_layout(on.list);
    put_chunk(on, what, layout);
    put_layout(on, what, layout);
    put_times(on, what);
    put_filters(on, what);
}

void hold_cache_of_ranks(Put& on, FileCache of_file, ChunkBytes chunk) {
    uint64_t own[3];
    uint64_t usual[3];
    if (of_file.chosen || ask_cache(on.of, on.list, own) < 0 ||
        ask_cache(on.of, on.standard, usual) < 0)
        return;
    const bool same = memcmp(own, usual, sizeof own) == 0;
    if (!same && !nobody_chose(own, chunk.in_memory)) return;  // it stays anyway
    // A list with the library's numbers may ask for the file's cache, or for just those.
    uint64_t without_us = own[1];
    if (same && of_file.least != 0 && of_file.least < without_us) without_us = of_file.least;
    if (chunk.most_stored <= without_us) return;
    for (const Key key : cache_keys)
        on.choices.settle(
            key, spool::became_held,
            "its chunk is larger than the cache without the plan, and ranks that read "
            "together have to read alike");
}

void put_dataset_access(Put& on, FileCache of_file, ChunkBytes chunk, bool of_ranks) {
    const Library& of = on.of;
    uint64_t least = of_file.least;
    const char* raised = "raised: no less than without the plan";
    if (of_ranks && least < chunk.most_stored) {
        least = chunk.most_stored;
        raised = "raised to a chunk: ranks that read together have to read alike";
    }
    if (of_file.chosen) {
        for (const Key key : cache_keys)
            on.choices.settle(key, spool::became_kept, "the program set it for the whole file");
    }
    put(
        on, cache_keys, [&of](Id list, uint64_t* v) { return ask_cache(of, list, v); },
        [&of, &least](Id list, const uint64_t* v) {
            double preemption = 0;
            memcpy(&preemption, &v[2], sizeof preemption);
            const uint64_t bytes = v[1] < least ? least : v[1];
            return of.H5Pset_chunk_cache(list, v[0], bytes, preemption);
        },
        [chunk, &least, &raised](const uint64_t* v) {
            if (!nobody_chose(v, chunk.in_memory)) return false;
            least = v[1];  // the file's does not count then, and a chunk is no larger
            raised = "raised: no less than without the plan";
            return true;
        });
    for (Choice& choice : on.choices) {
        if (choice.setting->key != static_cast<uint16_t>(Key::chunk_cache_bytes) ||
            choice.became != spool::became_applied || choice.number >= least)
            continue;
        choice.number = least;
        if (choice.reason[0] == '\0') choice.reason = raised;
    }
}

}  // namespace tailrace::hooks::vol
