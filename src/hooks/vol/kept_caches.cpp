// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/kept_caches.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "hooks/vol/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

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
    {
        const Quiet quiet(*under.library);
        under.library->H5VLdataset_close(oldest.inner, under.connector,
                                         under.library->default_transfer, nullptr);
    }
    free(oldest.path);
}

bool may_keep(const Object& dataset, void** request) {
    const Under& under = *dataset.under;
    return dataset.cache_bytes > 0 && dataset.path != nullptr && request == nullptr &&
           under.plan != nullptr && under.plan->kept.allowed && under.plan->kept.files > 0 &&
           find(under.plan->kept, dataset.path) == nullptr;
}

}  // namespace

uint64_t memory_for_caches() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t ranks = 1;
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
        const char* text = getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
        const int count = text != nullptr ? atoi(text) : 0;
        if (count > 1) ranks = static_cast<uint64_t>(count);
    }
    if (pages <= 0 || page_bytes <= 0) return 0;
    return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) / 4 / ranks;
}

bool keep_cache(Object& dataset, void** request) {
    if (!may_keep(dataset, request)) return false;
    Under& under = *dataset.under;
    KeptCaches& kept = under.plan->kept;
    const uint64_t most = memory_for_caches();
    if (dataset.cache_bytes > most) return false;
    char* path = strdup(dataset.path);
    if (path == nullptr) return false;
    uint64_t bytes = dataset.cache_bytes;
    for (size_t at = 0; at < kept.count; ++at) bytes += kept.all[at].bytes;
    while (kept.count > 0 && (bytes > most || kept.count == sizeof kept.all / sizeof kept.all[0])) {
        bytes -= kept.all[0].bytes;
        let_go(under);
    }
    kept.all[kept.count++] = {dataset.inner, path, dataset.cache_bytes};
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

}  // namespace tailrace::hooks::vol
