// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/direct_chunks.hpp"
#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/observe/declared.hpp"
#include "hooks/vol/observe/delivered.hpp"
#include "hooks/vol/observe/transfers.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

void* wrapped(Object& parent, void* inner, const Location* location, const char* name,
              void** request) {
    if (!was_made(parent, inner, request)) return nullptr;
    return wrap(parent, inner, kind_dataset, location, name);
}

void* create(void* object, const Location* location, const char* name, Id links, Id type, Id space,
             Id creation, Id access, Id transfer, void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    const auto call = [&](Id with_creation, Id with_access) {
        return parent.library().H5VLdataset_create(parent.inner, location, parent.connector(), name,
                                                   links, type, space, with_creation, with_access,
                                                   transfer, request);
    };
    void* made = nullptr;
    if (parent.under->plan == nullptr) {
        made = wrapped(parent, call(creation, access), location, name, request);
    } else {
        DatasetTuning tuning(parent, location, name, plan::Moment::create);
        void* inner = tuning.any() ? tuning.create(type, space, {creation, access}, call)
                                   : call(creation, access);
        made = wrapped(parent, inner, location, name, request);
        if (made != nullptr && tuning.any())
            tuning.done(object_of(made));
        else if (made != nullptr)
            forget_changed(object_of(made));
    }
    if (made != nullptr) {
        const bool named = name != nullptr || location->way != way_self;
        note_dataset(object_of(made), named ? Made::with_name : Made::without_name, clock);
        note_declared(parent.library(), object_of(made).dataset, access, creation);
    }
    return made;
}

void* open(void* object, const Location* location, const char* name, Id access, Id transfer,
           void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    const auto call = [&](Id with) {
        return parent.library().H5VLdataset_open(parent.inner, location, parent.connector(), name,
                                                 with, transfer, request);
    };
    // With a list of its own the program may want another cache than the one that was kept.
    const bool usual = access == parent.library().default_dataset_access;
    if (!usual) let_go_of_all_caches(parent.library());
    void* inner = call(access);
    void* made = nullptr;
    if (parent.under->plan == nullptr || inner == nullptr) {
        made = wrapped(parent, inner, location, name, request);
    } else {
        DatasetTuning tuning(parent, location, name, plan::Moment::open);
        if (tuning.any()) inner = tuning.reopen(inner, access, transfer, request, call);
        made = wrapped(parent, inner, location, name, request);
        if (made != nullptr && tuning.any()) tuning.done(object_of(made));
        if (made != nullptr) find_direct_chunks(object_of(made));
    }
    if (made != nullptr) {
        if (!usual) object_of(made).cache_bytes = 0;
        note_dataset(object_of(made), Made::before, clock);
        note_declared(parent.library(), object_of(made).dataset, access, invalid_id);
    }
    return made;
}

/// Whether a call has a dataset twice that has chunks by the plan alone: HDF5 (2.2) takes such a
/// one once per call, and without chunks as often as one likes.
bool has_one_twice(size_t count, void** objects) {
    for (size_t at = 1; at < count; ++at) {
        const Object& one = object_of(objects[at]);
        if (!has_chunks_of_plan(one) || one.under->of_ranks) continue;
        for (size_t before = 0; before < at; ++before)
            if (object_of(objects[before]).direct == one.direct) return true;
    }
    return false;
}

Status read(size_t count, void** objects, Id* memory_types, Id* memory_spaces, Id* file_spaces,
            Id transfer, void** buffers, void** request) {
    if (has_one_twice(count, objects)) {
        Status status = 0;
        for (size_t at = 0; at < count && status >= 0; ++at)
            status = read(1, objects + at, memory_types + at, memory_spaces + at, file_spaces + at,
                          transfer, buffers + at, nullptr);  // done when this returns
        return status;
    }
    if (before_read(count, objects) < 0) return -1;
    for (size_t at = 0; at < count; ++at) note_seen_by_rank(object_of(objects[at]));
    Transfers transfers({count, objects, memory_types, memory_spaces, file_spaces}, transfer,
                        spool::reads);
    if (!transfers.good()) return -1;
    TransferTuning tuning(count, objects, transfer, false);
    const Status status = tuning.make([&](Id list) {
        return transfers.library().H5VLdataset_read(count, transfers.inner(), transfers.connector(),
                                                    memory_types, memory_spaces, file_spaces, list,
                                                    buffers, request);
    });
    transfers.done(status, request);
    if (status >= 0)
        hash_delivered({count, objects, memory_types, memory_spaces, file_spaces, buffers},
                       request != nullptr && *request != nullptr);
    return status;
}

Status write(size_t count, void** objects, Id* memory_types, Id* memory_spaces, Id* file_spaces,
             Id transfer, const void** buffers, void** request) {
    if (has_one_twice(count, objects)) {
        Status status = 0;
        for (size_t at = 0; at < count && status >= 0; ++at)
            status = write(1, objects + at, memory_types + at, memory_spaces + at, file_spaces + at,
                           transfer, buffers + at, nullptr);  // done when this returns
        return status;
    }
    if (before_write(count, objects, file_spaces, request) < 0) return -1;
    Transfers transfers({count, objects, memory_types, memory_spaces, file_spaces}, transfer,
                        spool::writes);
    if (!transfers.good()) return -1;
    TransferTuning tuning(count, objects, transfer, true);
    const Status status = tuning.make([&](Id list) {
        return transfers.library().H5VLdataset_write(
            count, transfers.inner(), transfers.connector(), memory_types, memory_spaces,
            file_spaces, list, buffers, request);
    });
    transfers.done(status, request);
    if (status >= 0) after_write(count, objects, file_spaces);
    if (status >= 0) note_written_by_rank(count, objects, file_spaces);
    return status;
}

Status specific(void* object, DatasetSpecific* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const int asked = arguments->operation;
    if (fill_holes(on, false) < 0) return -1;
    note_seen_by_rank(on);
    find_dataset(on);
    if (asked == dataset_refresh) {
        no_more_caches(*on.under);
        return pass_on<&Library::H5VLdataset_specific>(on, request, arguments, transfer);
    }
    const Size* extent = asked == dataset_set_extent ? arguments->extent : nullptr;
    if (extent != nullptr && has_chunks_of_plan(on)) return -1;
    const Status status = pass_on<&Library::H5VLdataset_specific>(on, request, arguments, transfer);
    if (on.file == nullptr || status < 0) {
        if (on.file != nullptr) recorder::failed(on.file);
        return status;
    }
    uint64_t dims[most_dimensions];
    if (extent != nullptr) {
        const uint32_t rank = recorder::extent(on.dataset, dims);
        for (uint32_t d = 0; d < rank; ++d) dims[d] = extent[d];
        recorder::dataset_extended(on.dataset, dims, rank);
    }
    if (asked == dataset_flush) recorder::dataset_flushed(on.dataset);
    note(on, 0, spool::on_dataset, spool::op_other, nullptr, false, clock);
    return status;
}

/// Bytes of a stored chunk, as a read of it as it lies fetches them.
uint64_t stored_bytes(const Object& dataset, const Size* offset, Id transfer) {
    Size bytes = 0;
    ChunkStorage chunk{offset, &bytes};
    Optional question{native_chunk_storage_bytes, &chunk};
    const Status status = dataset.library().H5VLdataset_optional(dataset.inner, dataset.connector(),
                                                                 &question, transfer, nullptr);
    return status >= 0 ? bytes : 0;
}

Status optional(void* object, Optional* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const int asked = arguments->operation;
    const auto* written = static_cast<const ChunkWrite*>(arguments->arguments);
    const auto* fetched = static_cast<const ChunkRead*>(arguments->arguments);
    if (fill_holes(on, false) < 0) return -1;
    if (on.direct != nullptr && asked == native_chunk_write)
        return write_direct_chunk(on, arguments, transfer, request);
    const Clock clock(on.file);
    const Status status = pass_on<&Library::H5VLdataset_optional>(on, request, arguments, transfer);
    if (on.file == nullptr || status < 0) return status;
    find_dataset(on);
    if (asked == native_chunk_write) {
        recorder::direct_chunk(on.dataset, spool::writes, written->offset,
                               bytes_of(on.library(), *written), clock.took());
    } else if (asked == native_chunk_read && fetched->buffer != nullptr) {
        const Took took = clock.took();
        recorder::direct_chunk(on.dataset, spool::reads, fetched->offset,
                               stored_bytes(on, fetched->offset, transfer), took);
    } else if (asked == native_address) {
        recorder::address_asked(on.dataset);
    }
    return status;
}

Status close(void* object, Id transfer, void** request) {
    Object& dataset = object_of(object);
    settle_pending(dataset.library());
    if (fill_holes(dataset, true) < 0) return -1;
    const Clock clock(dataset.file);
    const bool stays = stays_for_ranks(dataset);
    const bool kept = stays || keep_cache(dataset, request);
    const Status status =
        kept ? 0 : pass_on<&Library::H5VLdataset_close>(dataset, request, transfer);
    if (status < 0) return status;
    if (dataset.file != nullptr) recorder::dataset_closed(dataset.dataset, clock.took());
    if (!stays) drop(&dataset);
    return status;
}

}  // namespace

const DatasetCalls dataset_calls = {
    create,   open,     read, write, asked<&Library::H5VLdataset_get, spool::on_dataset>,
    specific, optional, close};

}  // namespace tailrace::hooks::vol
