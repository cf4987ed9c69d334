// SPDX-License-Identifier: Apache-2.0
// Settings of files.
#include <string.h>

#include <initializer_list>

#include "hooks/vol/apply/cache_memory.hpp"
#include "hooks/vol/apply/leads_elsewhere.hpp"
#include "hooks/vol/objects/describe.hpp"
#include "hooks/vol/objects/own_settings.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr const char* more_members = "a file of the family driver would have more members";
constexpr const char* open_otherwise =
    "this process has the file open already, with another driver";

void put_flag(Put& on, Key key, Status (*ask)(Id, bool*), Status (*set)(Id, bool)) {
    if (ask == nullptr || set == nullptr) {
        on.choices.settle(key, spool::became_unavailable, "this HDF5 has no such setting");
        return;
    }
    put(
        on, {key}, [ask](Id list, uint64_t* v) { return ask_flag(ask, list, v); },
        [set](Id list, const uint64_t* v) { return set(list, v[0] != 0); });
}

/// Why objects are not to be aligned; nullptr: they may be.
const char* why_not_aligned(const Put& on, bool paged, Size user_block) {
    // It goes on from ends that are not aligned: files came out of it, without an error, that HDF5
    // 1.14.6 to 2.2.0 could not open, or in which objects were missing.
    if (has_a_file_per_kind(on.of, on.list))
        return "files of the drivers split and multi cannot be read back with it";
    if (paged) return "pages are aligned by themselves";
    // HDF5 makes no file whose user block is not a multiple of the alignment.
    const Choice* bytes = on.choices.open(Key::alignment_bytes);
    const bool fits = bytes == nullptr || bytes->number == 0 || user_block % bytes->number == 0;
    return fits ? nullptr : "the file has a user block that is no multiple";
}

void put_space(Put& on, bool paged, Size user_block) {
    const Library& of = on.of;
    if (const char* const why = why_not_aligned(on, paged, user_block)) {
        for (const Key key : {Key::alignment_threshold_bytes, Key::alignment_bytes})
            on.choices.settle(key, spool::became_held, why);
    }
    if (has_members(on.of, on.list)) {
        for (const Key key : {Key::alignment_threshold_bytes, Key::alignment_bytes,
                              Key::meta_block_bytes, Key::small_data_block_bytes})
            on.choices.settle(key, spool::became_held, more_members);
    }
    put(
        on, {Key::alignment_threshold_bytes, Key::alignment_bytes},
        [&of](Id list, uint64_t* v) { return ask_alignment(of, list, v); },
        [&of](Id list, const uint64_t* v) { return of.H5Pset_alignment(list, v[0], v[1]); });
    put(
        on, {Key::meta_block_bytes},
        [&of](Id list, uint64_t* v) { return of.H5Pget_meta_block_size(list, v); },
        [&of](Id list, const uint64_t* v) { return of.H5Pset_meta_block_size(list, v[0]); });
    put(
        on, {Key::small_data_block_bytes},
        [&of](Id list, uint64_t* v) { return of.H5Pget_small_data_block_size(list, v); },
        [&of](Id list, const uint64_t* v) { return of.H5Pset_small_data_block_size(list, v[0]); });
    put(
        on, {Key::sieve_buffer_bytes},
        [&of](Id list, uint64_t* v) { return ask_sieve_buffer(of, list, v); },
        [&of](Id list, const uint64_t* v) { return of.H5Pset_sieve_buf_size(list, v[0]); });
}

void put_page_buffer(Put& on) {
    const Library& of = on.of;
    put(
        on, {Key::page_buffer_bytes},
        [&of](Id list, uint64_t* v) { return ask_page_buffer(of, list, v); },
        [&of](Id list, const uint64_t* v) { return of.H5Pset_page_buffer_size(list, v[0], 0, 0); });
}

/// HDF5 wants the largest size to be no less than the first.
void tell_metadata_cache(Put& on) {
    uint64_t numbers[3] = {};
    if (ask_metadata_cache(on.of, on.list, numbers) < 0) return;
    for (Choice& choice : on.choices) {
        if (choice.setting->key != static_cast<uint16_t>(Key::metadata_cache_max_bytes) ||
            choice.became != spool::became_applied || choice.number == numbers[1])
            continue;
        choice.number = numbers[1];
        choice.reason = "raised: no less than the first size of the cache";
    }
}

void put_metadata_cache(Put& on) {
    const Library& of = on.of;
    // What the plan does not name stays: the numbers are those of the list.
    put(
        on,
        {Key::metadata_cache_initial_bytes, Key::metadata_cache_max_bytes,
         Key::metadata_cache_evictions},
        [&of](Id list, uint64_t* v) { return ask_metadata_cache(of, list, v); },
        [&of](Id list, const uint64_t* v) {
            MetadataCache cache{};
            cache.version = metadata_cache_version;
            if (of.H5Pget_mdc_config(list, &cache) < 0) return -1;
            cache.initial_given = true;
            cache.initial_bytes = v[0];
            cache.most_bytes = v[1] > v[0] ? v[1] : v[0];
            if (cache.least_bytes > cache.initial_bytes) cache.least_bytes = cache.initial_bytes;
            cache.evictions = v[2] != 0;
            if (!cache.evictions) cache.grow = cache.flash_grow = cache.shrink = 0;
            return of.H5Pset_mdc_config(list, &cache);
        });
    tell_metadata_cache(on);
    put(
        on, {Key::metadata_cache_image},
        [&of](Id list, uint64_t* v) { return ask_cache_image(of, list, v); },
        [&of](Id list, const uint64_t* v) {
            CacheImage image{cache_image_version, v[0] != 0, false, cache_image_no_ageout};
            return of.H5Pset_mdc_image_config(list, &image);
        });
}

void put_versions(Put& on) {
    const Library& of = on.of;
    const auto ask = [&of](Id list, uint64_t* v) { return ask_libver(of, list, v); };
    // "latest" is a number that grows with the library: the upper bound of its default list.
    uint64_t usual[2] = {};
    const bool known = ask(on.standard, usual) >= 0;
    for (const Key key : {Key::libver_low, Key::libver_high}) {
        Choice* choice = on.choices.open(key);
        if (choice != nullptr && choice->number == ~uint64_t{0} && known) choice->number = usual[1];
    }
    put(on, {Key::libver_low, Key::libver_high}, ask, [&of](Id list, const uint64_t* v) {
        return of.H5Pset_libver_bounds(list, static_cast<int>(v[0]), static_cast<int>(v[1]));
    });
}

/// HDF5 2.0.0 writes images of larger caches that it cannot read; 2.2.0 reads those too.
bool reads_images(const Library& of) {
    return of.version[0] > 2 || (of.version[0] == 2 && of.version[1] >= 2);
}

/// Whether a new file is of the format that every HDF5 can read.
bool is_oldest_format(const Put& on) {
    uint64_t bounds[2] = {};
    return ask_libver(on.of, on.list, bounds) >= 0 && bounds[0] == 0;
}

/// Whether the program asks for a format in which one may write while others read.
bool may_begin_swmr(const Put& on) {
    constexpr uint64_t version_110 = 2;
    uint64_t bounds[2] = {};
    return ask_libver(on.of, on.list, bounds) >= 0 && bounds[0] >= version_110;
}

/// What the files that are in memory already leave.
uint64_t room_for_core(const Library& of) {
    const uint64_t most = memory_for_caches();
    return most > of.core_bytes ? most - of.core_bytes : 0;
}

/// Why a file is not to be in memory; nullptr: it may be. What is written would be there alone
/// until the close, however much it is.
const char* why_not_in_memory(const Put& on, const OneFile& file) {
    if (file.written) return "its data would be in memory alone until the close";
    if (bytes_of_file(file.path) > room_for_core(on.of))
        return "with the other files in memory it is larger than a process may hold";
    if (is_open_here(file.path)) return open_otherwise;
    if (leads_elsewhere(file.path))
        return "it may have external links or virtual datasets: what they lead to would be in "
               "memory too";
    return nullptr;
}

bool put_core(Put& on) {
    const Choice* increment = on.choices.open(Key::core_increment_bytes);
    const Choice* store = on.choices.open(Key::core_backing_store);
    return put_core(on.of, on.list, increment != nullptr ? increment->number : size_t{64} << 20,
                    store == nullptr || store->number != 0);
}

/// One driver for another, where the program left the library's own.
void put_driver(Put& on, const OneFile& file) {
    Choice* driver = on.choices.open(Key::driver);
    const auto settle = [&](spool::Became became, const char* reason) {
        for (const Key key : {Key::driver, Key::core_increment_bytes, Key::core_backing_store,
                              Key::subfiling_stripe_bytes, Key::subfiling_concentrators_per_node})
            on.choices.settle(key, became, reason);
    };
    if (driver == nullptr) {
        settle(spool::became_held, "the plan does not change the driver");
        return;
    }
    const std::string_view word = plan_of_process().text(driver->setting->text);
    if (file.parallel) {
        // Of the subfiling driver all ranks have to be asked.
        if (word != "subfiling") settle(spool::became_held, only_serial);
    } else if (file.driver != nullptr) {
        const bool same = word == (file.driver->in_memory ? "core" : "direct");
        settle(same ? spool::became_applied : spool::became_held, same ? "" : open_otherwise);
    } else if (on.of.H5Pget_driver(on.list) != on.of.H5Pget_driver(on.standard)) {
        settle(spool::became_kept, program_set_it);
    } else if (word == "core") {
        const char* const why = why_not_in_memory(on, file);
        const bool good = why == nullptr && put_core(on);
        settle(why != nullptr ? spool::became_held
               : good         ? spool::became_applied
                              : spool::became_refused,
               why != nullptr ? why
               : good         ? ""
                              : not_taken);
    } else if (word == "direct" && is_open_here(file.path)) {
        settle(spool::became_held, open_otherwise);
    } else if (word == "direct") {
        const bool good = put_direct(on.of, on.list);
        settle(good ? spool::became_applied : spool::became_unavailable,
               good ? "" : "this HDF5 was built without the direct driver");
    } else {
        settle(spool::became_held, only_parallel);
    }
}

}  // namespace

void put_file_creation(Put& on, bool parallel, bool members) {
    const Library& of = on.of;
    if (members) {
        on.choices.settle(Key::file_space_strategy, spool::became_held, more_members);
        on.choices.settle(Key::page_bytes, spool::became_held, more_members);
    }
    if (parallel) {
        on.choices.settle(Key::file_space_strategy, spool::became_held, only_serial);
        on.choices.settle(Key::page_bytes, spool::became_held, only_serial);
    }
    put(
        on, {Key::file_space_strategy},
        [&of](Id list, uint64_t* v) { return ask_space_strategy(of, list, v); },
        [&of](Id list, const uint64_t* v) {
            return of.H5Pset_file_space_strategy(list, static_cast<int>(v[0]), false, 1);
        });
    uint64_t strategy = 0;
    if (ask_space_strategy(of, on.list, &strategy) >= 0 && strategy != strategy_page)
        on.choices.settle(Key::page_bytes, spool::became_misfit, "the file has no pages");
    put(
        on, {Key::page_bytes},
        [&of](Id list, uint64_t* v) { return of.H5Pget_file_space_page_size(list, v); },
        [&of](Id list, const uint64_t* v) { return of.H5Pset_file_space_page_size(list, v[0]); });
}

void put_file_access(Put& on, const OneFile& file) {
    const Library& of = on.of;
    if (file.parallel) {
        for (const Key key : {Key::page_buffer_bytes, Key::evict_on_close,
                              Key::metadata_cache_image, Key::sieve_buffer_bytes})
            on.choices.settle(key, spool::became_held, only_serial);
    } else {
        for (const Key key : {Key::collective_metadata_reads, Key::collective_metadata_writes})
            on.choices.settle(key, spool::became_held, only_parallel);
    }
    if (file.swmr || (file.written && may_begin_swmr(on))) {
        on.choices.settle(Key::metadata_cache_image, spool::became_held,
                          "it may be written while others read: H5Fstart_swmr_write refuses it");
        on.choices.settle(Key::page_buffer_bytes, spool::became_held,
                          "it may be written while others read: they would not see it as it is");
    }
    // A new file that is not paged the library itself refuses.
    if (file.paged || !file.created)
        on.choices.settle(Key::page_buffer_bytes, spool::became_held,
                          "HDF5 has been seen to lose objects by it, writing and reading");
    put_space(on, file.paged, file.user_block);
    put_page_buffer(on);
    put_versions(on);
    if (!reads_images(of))
        on.choices.settle(Key::metadata_cache_image, spool::became_held,
                          "HDF5 before 2.2 has been seen unable to read it back");
    if (file.created && !file.paged && is_oldest_format(on))
        on.choices.settle(Key::metadata_cache_image, spool::became_held,
                          "HDF5 keeps none in files of the oldest format (libver_low)");
    put_metadata_cache(on);
    put_flag(on, Key::collective_metadata_writes, of.H5Pget_coll_metadata_write,
             of.H5Pset_coll_metadata_write);
    put_flag(on, Key::collective_metadata_reads, of.H5Pget_all_coll_metadata_ops,
             of.H5Pset_all_coll_metadata_ops);
    put_flag(on, Key::evict_on_close, of.H5Pget_evict_on_close, of.H5Pset_evict_on_close);
    const Choice* locking = on.choices.open(Key::file_locking);
    if (locking != nullptr && locking->number == 0 && file.written)
        on.choices.settle(Key::file_locking, spool::became_held,
                          "the file is written: its lock keeps others away");
    put(
        on, {Key::file_locking},
        [&of](Id list, uint64_t* v) { return ask_file_locking(of, list, v); },
        [&of](Id list, const uint64_t* v) {
            return of.H5Pset_file_locking(list, v[0] != 0, true);
        });
    put_driver(on, file);
}

}  // namespace tailrace::hooks::vol
