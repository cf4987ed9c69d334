// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/direct_chunks.hpp"

#include <stdio.h>

#include "hooks/vol/holes/fill_values.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

bool said_refused = false;

const plan::PlanSetting* applied(const Choices& choices, Key key) {
    for (const Choice& choice : choices) {
        if (choice.setting->key == static_cast<uint16_t>(key) &&
            choice.became == spool::became_applied)
            return choice.setting;
    }
    return nullptr;
}

const plan::PlanSetting* applied_filter(const Choices& choices) {
    const plan::PlanSetting* deflate = applied(choices, Key::deflate);
    return deflate != nullptr ? deflate : applied(choices, Key::shuffle);
}

uint32_t bits(uint32_t count) { return count < 32 ? (uint32_t{1} << count) - 1 : ~uint32_t{0}; }

/// Selects what the program's chunk at `offset` has in the extent, in the file and in memory.
/// invalid_id: it has nothing there, or is none of its chunks.
Id select(const Library& of, const DirectChunks& known, const Size* offset, Id space) {
    uint64_t dims[most_dimensions];
    uint64_t count[most_dimensions];
    const uint64_t zero[most_dimensions] = {};
    const int rank = of.H5Sget_simple_extent_ndims(space);
    if (rank < 1 || static_cast<uint32_t>(rank) != known.rank) return invalid_id;
    if (of.H5Sget_simple_extent_dims(space, dims, nullptr) < 0) return invalid_id;
    for (uint32_t d = 0; d < known.rank; ++d) {
        if (offset[d] >= dims[d] || offset[d] % known.chunk[d] != 0) return invalid_id;
        const uint64_t rest = dims[d] - offset[d];
        count[d] = rest < known.chunk[d] ? rest : known.chunk[d];
    }
    const Id memory = of.H5Screate_simple(rank, known.chunk, nullptr);
    if (memory < 0) return invalid_id;
    if (of.H5Sselect_hyperslab(space, 0, offset, nullptr, count, nullptr) >= 0 &&
        of.H5Sselect_hyperslab(memory, 0, zero, nullptr, count, nullptr) >= 0)
        return memory;
    of.H5Sclose(memory);
    return invalid_id;
}

/// Writes the elements of a chunk without filters. False: that cannot be done.
bool write_elements(Object& on, const ChunkWrite& chunk, Id transfer, void** request,
                    Status& status) {
    const Library& of = on.library();
    Id type = ask_dataset(on, on.inner, dataset_get_type);
    Id space = ask_dataset(on, on.inner, dataset_get_space);
    uint64_t bytes = type >= 0 ? of.H5Tget_size(type) : 0;
    for (uint32_t d = 0; d < on.direct->rank; ++d) bytes = plan::times(bytes, on.direct->chunk[d]);
    Id memory = invalid_id;
    if (type >= 0 && space >= 0 && bytes == bytes_of(of, chunk) && lies_plain(of, type)) {
        const Quiet quiet(of);
        memory = select(of, *on.direct, chunk.offset, space);
    }
    if (memory >= 0) {
        const void* buffer = chunk.buffer;
        status = of.H5VLdataset_write(1, &on.inner, on.connector(), &type, &memory, &space,
                                      transfer, &buffer, request);
        wrap_request(on.under, request);
    }
    const ErrorsKept kept(of);
    if (memory >= 0) of.H5Sclose(memory);
    if (space >= 0) of.H5Sclose(space);
    if (type >= 0) of.H5Tclose(type);
    return memory >= 0;
}

/// Whether a chunk is stored, and filters have been at it that are to be left out of the next one.
/// HDF5 (to 2.2) keeps of the chunk that it has looked up last which filters it lacks, also where
/// it has been written anew, and would put it through the wrong ones when it is read.
bool is_stored_otherwise(const Object& dataset, const ChunkWrite& chunk, Id transfer) {
    const Library& of = dataset.library();
    const Quiet quiet(of);
    Size bytes = 0;
    ChunkStorage stored{chunk.offset, &bytes};
    Optional asked{native_chunk_storage_bytes, &stored};
    if (of.H5VLdataset_optional(dataset.inner, dataset.connector(), &asked, transfer, nullptr) <
            0 ||
        bytes == 0)
        return false;  // the next question goes through all chunks that there are
    unsigned without = 0;
    uint64_t address = ~uint64_t{0};
    ChunkAt at{chunk.offset, &without, &address, &bytes};
    Optional question{native_chunk_at, &at};
    const Status status =
        of.H5VLdataset_optional(dataset.inner, dataset.connector(), &question, transfer, nullptr);
    return status >= 0 && address != ~uint64_t{0} && without != chunk.filters;
}

/// Has HDF5 look up a chunk beside this one, so that it looks this one up again.
void look_elsewhere(const Object& dataset, const Size* offset, Id transfer) {
    const Library& of = dataset.library();
    const DirectChunks& known = *dataset.direct;
    const Quiet quiet(of);
    uint64_t dims[most_dimensions] = {};
    Size beside[most_dimensions] = {};
    const Id space = ask_dataset(dataset, dataset.inner, dataset_get_space);
    const bool good = space >= 0 && known.rank > 0 &&
                      of.H5Sget_simple_extent_ndims(space) == static_cast<int>(known.rank) &&
                      of.H5Sget_simple_extent_dims(space, dims, nullptr) >= 0;
    if (space >= 0) of.H5Sclose(space);
    if (!good) return;
    bool found = false;
    for (uint32_t d = 0; d < known.rank; ++d) {
        beside[d] = offset[d];
        const uint64_t chunk = known.chunk[d];
        if (found || (offset[d] < chunk && offset[d] + chunk >= dims[d])) continue;
        beside[d] = offset[d] >= chunk ? offset[d] - chunk : offset[d] + chunk;
        found = true;
    }
    if (!found) return;
    Size bytes = 0;
    ChunkStorage chunk{beside, &bytes};
    Optional question{native_chunk_storage_bytes, &chunk};
    of.H5VLdataset_optional(dataset.inner, dataset.connector(), &question, transfer, nullptr);
}

/// Whether a chunk without filters has the shape of the plan's, as a program makes it that asks the
/// dataset for its chunks; where both shapes have as many bytes it counts as the program's own.
bool is_of_the_file(const Object& dataset, const ChunkWrite& chunk) {
    const Library& of = dataset.library();
    const DirectChunks& known = *dataset.direct;
    const Quiet quiet(of);
    Size shape[most_dimensions] = {};
    const Id type = ask_dataset(dataset, dataset.inner, dataset_get_type);
    const Id list = ask_dataset(dataset, dataset.inner, dataset_get_creation);
    uint64_t bytes = type >= 0 ? of.H5Tget_size(type) : 0;
    uint64_t own = known.rank > 0 ? bytes : 0;
    const int rank =
        list >= 0 ? of.H5Pget_chunk(list, static_cast<int>(most_dimensions), shape) : -1;
    bool lies_so = bytes > 0 && rank > 0 && rank <= static_cast<int>(most_dimensions);
    for (int d = 0; lies_so && d < rank; ++d) {
        bytes = plan::times(bytes, shape[d]);
        lies_so = chunk.offset[d] % shape[d] == 0;
    }
    for (uint32_t d = 0; d < known.rank; ++d) own = plan::times(own, known.chunk[d]);
    if (list >= 0) of.H5Pclose(list);
    if (type >= 0) of.H5Tclose(type);
    return lies_so && bytes == bytes_of(of, chunk) && bytes != own;
}

Status refuse(const Object& dataset) {
    const bool shape = dataset.direct->shape;
    const char* file = dataset.under->plan != nullptr ? dataset.under->plan->path : "";
    const char* path = dataset.path != nullptr ? dataset.path : "";
    char line[900];
    snprintf(line, sizeof line,
             "%.400s: %.300s: the program writes whole chunks itself, and the plan has given the "
             "dataset %s: this write fails; take the setting \"%s\" out of the plan",
             file, path, shape ? "others" : "filters", shape ? "chunk" : "deflate");
    if (!said_refused) recorder::say(line);
    said_refused = true;
    note_outcome(*dataset.direct->setting, {file, path}, spool::became_failed, "",
                 shape ? "the program writes whole chunks itself, of another shape: take the "
                         "setting out of the plan"
                       : "the program writes whole chunks itself, over others: take the filters "
                         "out of the plan");
    return -1;
}

}  // namespace

uint64_t bytes_of(const Library& of, const ChunkWrite& chunk) {
    return of.version[0] == 1 ? chunk.bytes & 0xffffffffU : chunk.bytes;
}

bool changes_chunks(const Choices& choices) {
    return applied(choices, Key::chunk) != nullptr || applied_filter(choices) != nullptr;
}

void note_direct_chunks(Object& dataset, const Choices& choices, Id own, Id made) {
    dataset.direct = nullptr;
    if (dataset.path == nullptr) return;
    const plan::PlanSetting* shape = applied(choices, Key::chunk);
    const plan::PlanSetting* filter = applied_filter(choices);
    if (shape == nullptr && filter == nullptr) {
        forget_changed(dataset);
        return;
    }
    DirectChunks* entry = add_changed(dataset);
    if (entry == nullptr) return;
    const Library& of = dataset.library();
    const Quiet quiet(of);
    const int filters = of.H5Pget_nfilters(own);
    const int all = made >= 0 ? of.H5Pget_nfilters(made) : filters;
    int rank = 0;
    if (of.H5Pget_layout(own) == layout_chunked)
        rank = of.H5Pget_chunk(own, static_cast<int>(most_dimensions), entry->chunk);
    entry->setting = shape != nullptr ? shape : filter;
    entry->shape = shape != nullptr;
    entry->rank = rank > 0 ? static_cast<uint32_t>(rank) : 0;
    entry->filters = filters > 0 ? static_cast<uint32_t>(filters) : 0;
    entry->added = filter != nullptr ? bits(static_cast<uint32_t>(all)) : 0;
    dataset.direct = entry;
}

void find_direct_chunks(Object& dataset) {
    if (const DirectChunks* known = find_changed(dataset); known != nullptr) dataset.direct = known;
}

bool has_chunks_of_plan(const Object& dataset) {
    return dataset.direct != nullptr && dataset.direct->shape && dataset.direct->rank == 0;
}

Status write_direct_chunk(Object& dataset, Optional* arguments, Id transfer, void** request) {
    auto* chunk = static_cast<ChunkWrite*>(arguments->arguments);
    const DirectChunks& known = *dataset.direct;
    Status status = -1;
    const bool plain = (~chunk->filters & bits(known.filters)) == 0;
    if (plain && known.shape && known.added == 0 && is_of_the_file(dataset, *chunk))
        return pass_on<&Library::H5VLdataset_optional>(dataset, request, arguments, transfer);
    if (plain && known.rank > 0 && write_elements(dataset, *chunk, transfer, request, status))
        return status;
    if (known.shape) return refuse(dataset);
    // Its bytes are the elements, and none of the filters of the plan has been at them.
    const uint32_t own = chunk->filters;
    chunk->filters |= known.added;
    const bool over_another = is_stored_otherwise(dataset, *chunk, transfer);
    if (!over_another)
        status = pass_on<&Library::H5VLdataset_optional>(dataset, request, arguments, transfer);
    chunk->filters = own;
    if (over_another) return refuse(dataset);
    if (status >= 0) look_elsewhere(dataset, chunk->offset, transfer);
    return status;
}

}  // namespace tailrace::hooks::vol
