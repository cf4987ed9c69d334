// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/plan/kept_caches.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/apply/cache_memory.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned writable = 0x0001;
constexpr unsigned single_writer = 0x0020 | 0x0040;  // somebody writes while others read

KeptCache* find(KeptCaches& kept, const char* path) {
    for (size_t at = 0; at < kept.count; ++at)
        if (strcmp(kept.all[at].path, path) == 0) return &kept.all[at];
    return nullptr;
}

/// Closes the oldest one.
void let_go(Under& under) {
    FilePlan& file = *under.plan;
    const KeptCache oldest = file.kept.all[0];
    --file.kept.count;
    memmove(file.kept.all, file.kept.all + 1, file.kept.count * sizeof oldest);
    if (file.kept.count == 0) {
        Under** at = &under.library->keeping;
        while (*at != &under) at = &(*at)->plan->kept.next;
        *at = file.kept.next;
    }
    free(oldest.path);
    release_cache(oldest.cache);
    const Quiet quiet(*under.library);
    under.library->H5VLdataset_close(oldest.inner, under.connector, under.library->default_transfer,
                                     nullptr);
}

bool may_keep(const Object& dataset, void** request) {
    const Under& under = *dataset.under;
    if (dataset.cache_bytes == 0 || dataset.cache == nullptr || dataset.path == nullptr ||
        request != nullptr || under.plan == nullptr)
        return false;
    KeptCaches& kept = under.plan->kept;
    return kept.allowed && kept.files > 0 && kept.ending == 0 && !under.library->ending &&
           find(kept, dataset.path) == nullptr;
}

}  // namespace

bool may_keep_caches(const Object& file, Id access) {
    Library& of = file.library();
    unsigned flags = writable;
    bool evicts = true;
    FileGetIntent question{file_get_intent, &flags};
    return file.under->native && of.H5Pget_evict_on_close(access, &evicts) >= 0 && !evicts &&
           of.H5VLfile_get(file.inner, file.connector(), &question, of.default_transfer, nullptr) >=
               0 &&
           (flags & (writable | single_writer)) == 0;
}

bool ends_before(Library& library) {
    if (library.ending) return false;
    if (library.ends_known) return true;
    const ErrorsKept kept(library);
    const auto end = [](void* of) {
        auto* const ended = static_cast<Library*>(of);
        fill_all_of_ranks(*ended);
        let_go_of_all_caches(*ended);
        ended->ending = true;
    };
    library.ends_known = library.H5atclose != nullptr && library.H5atclose(end, &library) >= 0;
    return library.ends_known;
}

void begin_keeping(Library& library) { library.ends_known = library.ending = false; }

uint64_t bytes_only_kept(const Library& library) {
    uint64_t bytes = 0;
    for (const Under* file = library.keeping; file != nullptr; file = file->plan->kept.next)
        for (size_t at = 0; at < file->plan->kept.count; ++at)
            if (file->plan->kept.all[at].cache->uses == 1)
                bytes += file->plan->kept.all[at].cache->bytes;
    return bytes;
}

void make_room_for_cache(Library& library, uint64_t bytes, uint64_t most) {
    while (library.keeping != nullptr && library.open_cache_bytes + bytes > most)
        let_go(*library.keeping);
}

bool keep_cache(Object& dataset, void** request) {
    if (!may_keep(dataset, request)) return false;
    Under& under = *dataset.under;
    KeptCaches& kept = under.plan->kept;
    const uint64_t most = memory_for_caches();
    if (dataset.cache->bytes > most) return false;
    char* path = strdup(dataset.path);
    if (path == nullptr) return false;
    if (kept.count == sizeof kept.all / sizeof kept.all[0]) let_go(under);
    make_room_for_cache(*under.library, 0, most);  // it counts already
    Under*& keeping = under.library->keeping;
    if (kept.count == 0) {
        kept.next = keeping;
        keeping = &under;
    }
    kept.all[kept.count++] = {dataset.inner, path, use_cache(dataset.cache)};
    return true;
}

void note_kept_cache(const Object& dataset) {
    if (dataset.path == nullptr || dataset.under->plan == nullptr) return;
    FilePlan& file = *dataset.under->plan;
    if (find(file.kept, dataset.path) == nullptr) return;
    char value[32];
    snprintf(value, sizeof value, "%llu", static_cast<unsigned long long>(dataset.cache_bytes));
    note_outcome(*dataset.cache_setting, {file.path, dataset.path}, spool::became_applied, value,
                 "kept from one open to the next");
}

void let_go_of_caches(Under& under) {
    while (under.plan != nullptr && under.plan->kept.count > 0) let_go(under);
}

void let_go_of_all_caches(Library& library) {
    while (library.keeping != nullptr) let_go(*library.keeping);
}

void no_more_caches(Under& under) {
    let_go_of_caches(under);
    if (under.plan != nullptr) under.plan->kept.allowed = false;
}

void count_closed(Under& under) {
    // One that HDF5 itself makes of an object that is still open has not been counted.
    if (under.plan != nullptr && under.plan->kept.files > 0) --under.plan->kept.files;
}

CachesEnd::CachesEnd(Under& under) : x_kept(under.plan != nullptr ? &under.plan->kept : nullptr) {
    let_go_of_caches(under);
    if (x_kept != nullptr) ++x_kept->ending;
}

CachesEnd::~CachesEnd() {
    if (x_kept != nullptr) --x_kept->ending;
}

}  // namespace tailrace::hooks::vol
