// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

constexpr unsigned buckets = 16384;
constexpr uint32_t extents_kept = 8;
constexpr uint64_t described_bytes = 1024;  ///< of what follows the record of a new dataset
DatasetEntry* table[buckets];
DatasetEntry* by_token[buckets];

DatasetEntry*& chain_of(const FileEntry* file, uint64_t path_hash) {
    return table[mixed(path_hash, hash_of(file->path)) % buckets];
}

/// Counts a dataset that found no room once, however often it is opened; of tens of thousands a few
/// share their bit and are counted as one.
void count_dropped(uint64_t hash, spool::Kind kind = spool::kind_dataset) {
    constexpr unsigned bits = 1U << 20;
    static uint64_t counted[bits / 64];
    const auto bit = static_cast<unsigned>(hash % bits);
    const uint64_t mask = uint64_t{1} << (bit % 64);
    if ((counted[bit / 64] & mask) != 0) return;
    counted[bit / 64] |= mask;
    writer().dropped(kind);
}

/// nullptr: there is no memory, or no room for its record; then orders of the file say nothing.
/// @param identity  of the dataset in its file: the hash of its path, or of its token
DatasetEntry* new_entry(FileEntry* file, const char* path, uint64_t identity) {
    if (!writer().has_room(sizeof(spool::DatasetRecord) + strlen(path) + described_bytes)) {
        count_dropped(mixed(identity, hash_of(file->path)));
        if (spool::FileRecord* record = record_of(file)) record->incomplete = 1;
        return nullptr;
    }
    auto* made = static_cast<DatasetEntry*>(calloc(1, sizeof(DatasetEntry)));
    char* copy = made != nullptr ? strdup(path) : nullptr;
    if (copy == nullptr) {
        free(made);
        return nullptr;
    }
    made->path = copy;
    made->path_hash = hash_of(path);
    made->file = file;
    DatasetEntry*& first = chain_of(file, made->path_hash);
    made->next = first;
    first = made;
    return made;
}

DatasetEntry* entry_of(FileEntry* file, const char* path, uint64_t identity) {
    const uint64_t path_hash = hash_of(path);
    DatasetEntry* entry = chain_of(file, path_hash);
    while (entry != nullptr && (entry->path_hash != path_hash || entry->file != file ||
                                strcmp(entry->path, path) != 0)) {
        entry = entry->next;
    }
    return entry != nullptr ? entry : new_entry(file, path, identity);
}

uint64_t hash_of_settings(const Settings& settings) {
    uint64_t hash = settings.count;
    for (uint32_t at = 0; at < settings.count; ++at) {
        hash = mixed(hash, settings.all[at].key);
        for (uint32_t n = 0; n < settings.all[at].count; ++n)
            hash = mixed(hash, settings.all[at].values[n]);
    }
    return hash;
}

uint64_t hash_of_token(const FileEntry* file, const unsigned char* token) {
    uint64_t halves[2];
    memcpy(halves, token, sizeof halves);
    return mixed(mixed(halves[0], halves[1]), hash_of(file->path));
}

/// The entry of the same dataset under whatever name.
DatasetEntry* entry_of_token(const FileEntry* file, const unsigned char* token) {
    DatasetEntry* entry = by_token[hash_of_token(file, token) % buckets];
    while (entry != nullptr && (entry->file != file || entry->token_epoch != file->epoch ||
                                memcmp(entry->token, token, sizeof entry->token) != 0)) {
        entry = entry->next_by_token;
    }
    return entry;
}

void forget_token(DatasetEntry* entry) {
    if (entry == nullptr || !entry->token_known) return;
    DatasetEntry** at = &by_token[hash_of_token(entry->file, entry->token) % buckets];
    while (*at != nullptr && *at != entry) at = &(*at)->next_by_token;
    if (*at == entry) *at = entry->next_by_token;
    entry->token_known = false;
}

void keep_token(DatasetEntry* entry, const unsigned char* token) {
    if (entry->token_known && entry->token_epoch == entry->file->epoch) return;
    forget_token(entry);
    DatasetEntry*& first = by_token[hash_of_token(entry->file, token) % buckets];
    memcpy(entry->token, token, sizeof entry->token);
    entry->token_known = true;
    entry->token_epoch = entry->file->epoch;
    entry->next_by_token = first;
    first = entry;
}

/// In a fork the description comes from the record that the parent wrote.
void inherit(spool::DatasetRecord& record, const DatasetEntry& entry) {
    const char* base = base_of(entry.generation);
    if (entry.offset == 0 || base == nullptr) return;
    const auto& before = *reinterpret_cast<const spool::DatasetRecord*>(base + entry.offset);
    record.elements = before.elements;
    record.type_bytes = before.type_bytes;
    record.type_class = before.type_class;
    record.type_order = before.type_order;
    record.type_signed = before.type_signed;
    record.variable = before.variable;
    record.layout = before.layout;
    record.fill_defined = before.fill_defined;
    record.fill_time = before.fill_time;
    record.allocation = before.allocation;
    record.rank = before.rank;
    record.chunk_rank = before.chunk_rank;
    record.described = before.described;
    memcpy(&record + 1, &before + 1, (2 * before.rank + before.chunk_rank) * sizeof(uint64_t));
}

uint64_t* numbers_behind(spool::DatasetRecord& record) {
    return reinterpret_cast<uint64_t*>(&record + 1);
}

void fill(spool::DatasetRecord& record, const DatasetFacts& facts, const char* path) {
    record.described = 1;
    record.rank = facts.rank;
    record.chunk_rank = facts.chunk_rank;
    record.elements = facts.elements;
    record.type_bytes = facts.type_bytes;
    record.type_class = facts.type_class;
    record.type_order = facts.type_order;
    record.type_signed = facts.type_signed;
    record.variable = facts.variable;
    record.layout = facts.layout;
    record.fill_defined = facts.fill_defined;
    record.fill_time = facts.fill_time;
    record.allocation = facts.allocation;
    uint64_t* numbers = numbers_behind(record);
    memcpy(numbers, facts.dims, facts.rank * sizeof(uint64_t));
    memcpy(numbers + facts.rank, facts.largest, facts.rank * sizeof(uint64_t));
    memcpy(numbers + 2 * uint64_t{facts.rank}, facts.chunk, facts.chunk_rank * sizeof(uint64_t));
    memcpy(numbers + 2 * uint64_t{facts.rank} + facts.chunk_rank, path, record.path_bytes);
}

/// `path` is from here on what the entry is found by.
void rename(DatasetEntry* entry, const char* path) {
    char* copy = strdup(path);
    if (copy == nullptr) return;
    DatasetEntry** at = &chain_of(entry->file, entry->path_hash);
    while (*at != nullptr && *at != entry) at = &(*at)->next;
    if (*at == entry) *at = entry->next;
    free(entry->path);
    entry->path = copy;
    entry->path_hash = hash_of(path);
    DatasetEntry*& first = chain_of(entry->file, entry->path_hash);
    entry->next = first;
    first = entry;
    if (entry->offset != 0 && entry->generation == generation())
        spooling::add_name(writer(), spool::kind_dataset_name, entry->offset, path);
}

void keep_filter(uint64_t dataset, const Filter& from) {
    const size_t name_bytes = strnlen(from.name, sizeof from.name);
    const uint64_t offset =
        writer().add(spool::kind_filter,
                     sizeof(spool::FilterRecord) + from.count * sizeof(uint64_t) + name_bytes);
    if (offset == 0) return;
    auto& record = writer().at<spool::FilterRecord>(offset);
    record.dataset = dataset;
    record.id = from.id;
    record.count = from.count;
    record.name_bytes = static_cast<uint32_t>(name_bytes);
    auto* values = reinterpret_cast<uint64_t*>(&record + 1);
    memcpy(values, from.values, from.count * sizeof(uint64_t));
    memcpy(values + from.count, from.name, name_bytes);
}

}  // namespace

spool::DatasetRecord* record_of(DatasetEntry* dataset) {
    if (dataset == nullptr) return nullptr;
    if (dataset->offset != 0 && dataset->generation == generation()) {
        return &writer().at<spool::DatasetRecord>(dataset->offset);
    }
    if (record_of(dataset->file) == nullptr) return nullptr;
    const size_t bytes = strlen(dataset->path);
    // The extents come between: room for them is made when they are known.
    const uint64_t numbers = (dataset->described ? 3ULL * dataset->rank : 0) * sizeof(uint64_t);
    const uint64_t offset =
        writer().add(spool::kind_dataset, sizeof(spool::DatasetRecord) + numbers + bytes);
    if (offset == 0) return nullptr;
    auto& record = writer().at<spool::DatasetRecord>(offset);
    record.file = dataset->file->offset;
    record.type_class = record.layout = spool::not_known;
    if (dataset->described) inherit(record, *dataset);
    record.path_bytes = static_cast<uint32_t>(bytes);
    memcpy(numbers_behind(record) + 2 * uint64_t{record.rank} + record.chunk_rank, dataset->path,
           bytes);
    dataset->offset = offset;
    dataset->generation = generation();
    dataset->extents = 0;
    dataset->lives = 0;
    return &record;
}

DatasetEntry* dataset(FileEntry* file, const char* path, const unsigned char* token, bool created,
                      bool* known) {
    *known = false;
    if (file == nullptr || path == nullptr) return nullptr;
    const Turn turn;
    if (!turn) return nullptr;
    DatasetEntry* entry = token != nullptr ? entry_of_token(file, token) : nullptr;
    if (created) {
        forget_token(entry);
        entry = nullptr;
    }
    const uint64_t identity = token != nullptr ? hash_of_token(file, token) : hash_of(path);
    if (entry == nullptr) entry = entry_of(file, path, identity);
    if (entry == nullptr) return nullptr;
    if (created) forget_token(entry);
    // Of another file, or at another place in it, it is another dataset.
    const bool moved = token != nullptr && entry->token_known &&
                       entry->token_epoch != file->epoch &&
                       memcmp(entry->token, token, sizeof entry->token) != 0;
    entry->anew = entry->anew || created || moved || entry->described_epoch < file->emptied;
    if (token != nullptr) keep_token(entry, token);
    if (entry->path[0] == '\0')
        rename(entry, path);
    else if (!entry->other_name && strcmp(entry->path, path) != 0 && record_of(entry) != nullptr) {
        spooling::add_name(writer(), spool::kind_dataset_name, entry->offset, path);
        entry->other_name = true;
    }
    *known = entry->described && entry->described_epoch == file->epoch;
    return entry;
}

DatasetEntry* anonymous(FileEntry* file, const unsigned char* token, bool created, bool* known) {
    *known = false;
    const Turn turn;
    if (!turn || file == nullptr) return nullptr;
    DatasetEntry* entry = token != nullptr ? entry_of_token(file, token) : nullptr;
    if (created) {
        forget_token(entry);
        entry = nullptr;
    }
    const uint64_t identity = token != nullptr ? hash_of_token(file, token) : 0;
    if (entry == nullptr) entry = new_entry(file, "", identity);
    if (entry == nullptr) return nullptr;
    if (token != nullptr) keep_token(entry, token);
    *known = entry->described && entry->described_epoch == file->epoch;
    return entry;
}

const char* path_of(const FileEntry* file, const unsigned char* token) {
    const Turn turn;
    if (!turn || file == nullptr) return nullptr;
    const DatasetEntry* entry = entry_of_token(file, token);
    return entry != nullptr ? entry->path : nullptr;
}

void not_named(FileEntry* file, const unsigned char* token, spool::Kind why) {
    const Turn turn;
    if (!turn || file == nullptr) return;
    count_dropped(token != nullptr ? hash_of_token(file, token) : hash_of(file->path), why);
    if (spool::FileRecord* record = record_of(file)) record->incomplete = 1;
}

void named(DatasetEntry* dataset, const char* path) {
    const Turn turn;
    if (turn && dataset != nullptr && dataset->path[0] == '\0') rename(dataset, path);
}

DatasetEntry* describe(DatasetEntry* dataset, const DatasetFacts& facts) {
    const Turn turn;
    if (!turn || dataset == nullptr || record_of(dataset->file) == nullptr) return dataset;
    const bool again = dataset->described;
    const bool anew = dataset->anew;
    dataset->anew = false;
    if (again && (dataset->rank != facts.rank || dataset->chunk_rank != facts.chunk_rank)) {
        DatasetEntry* other = new_entry(dataset->file, dataset->path, dataset->path_hash);
        if (other == nullptr) return dataset;
        if (dataset->token_known) {
            forget_token(dataset);
            keep_token(other, dataset->token);
        }
        dataset = other;
    } else if (!again && dataset->offset != 0 && dataset->generation == generation()) {
        return dataset;  // its record was made when nothing was known, without room for numbers
    }
    if (again) (anew ? new_life : new_extent)(*dataset, facts.dims);
    if (dataset->dims == nullptr) {
        dataset->dims = static_cast<uint64_t*>(calloc(facts.rank + 1, sizeof(uint64_t)));
        if (dataset->dims == nullptr) return dataset;
    }
    memcpy(dataset->dims, facts.dims, facts.rank * sizeof(uint64_t));
    dataset->rank = facts.rank;
    dataset->chunk_rank = facts.chunk_rank;
    dataset->type_bytes = facts.type_bytes;
    dataset->has_members = facts.has_members;
    dataset->elements = facts.elements;
    dataset->described = true;
    dataset->described_epoch = dataset->file->epoch;
    spool::DatasetRecord* record = record_of(dataset);
    if (record == nullptr) return dataset;
    fill(*record, facts, dataset->path);
    if (again) return dataset;
    for (uint32_t number = 0; number < facts.filters; ++number) {
        keep_filter(dataset->offset, facts.filter[number]);
    }
    keep_settings(dataset->offset, facts.settings);
    dataset->access = hash_of_settings(facts.settings);
    return dataset;
}

bool untouched(const DatasetEntry* dataset) {
    const Turn turn;
    return turn && dataset != nullptr && dataset->track[0] == nullptr &&
           dataset->track[1] == nullptr;
}

void opened_otherwise(DatasetEntry* dataset, const Settings& access) {
    const Turn turn;
    if (!turn || record_of(dataset) == nullptr || access.count == 0) return;
    const uint64_t found = hash_of_settings(access);
    if (found == dataset->access) return;
    dataset->access = found;
    keep_settings(dataset->offset, access);
}

void dataset_opened(DatasetEntry* dataset, bool created, Took took) {
    const Turn turn;
    spool::DatasetRecord* record = turn ? record_of(dataset) : nullptr;
    if (record == nullptr) return;
    ++record->opens;
    if (created) ++record->creates;
    widen(record->open, took);
}

void dataset_closed(DatasetEntry* dataset, Took took) {
    const Turn turn;
    spool::DatasetRecord* record = turn ? record_of(dataset) : nullptr;
    if (record != nullptr) widen(record->close, took);
}

void dataset_flushed(DatasetEntry* dataset) {
    const Turn turn;
    spool::DatasetRecord* record = turn ? record_of(dataset) : nullptr;
    if (record != nullptr) ++record->flushes;
}

void dataset_extended(DatasetEntry* dataset, const uint64_t* dims, uint32_t rank) {
    const Turn turn;
    spool::DatasetRecord* record = turn ? record_of(dataset) : nullptr;
    // Its record may have no room for numbers: a fork found no description to begin with.
    if (record == nullptr || rank != dataset->rank || rank != record->rank || rank == 0) return;
    ++record->extensions;
    new_extent(*dataset, dims);
    uint64_t* numbers = numbers_behind(*record);
    uint64_t elements = 1;
    for (uint32_t d = 0; d < rank; ++d) elements *= dims[d];
    record->elements = dataset->elements = elements;
    memcpy(numbers, dims, rank * sizeof(uint64_t));
    memcpy(dataset->dims, dims, rank * sizeof(uint64_t));
    if (spool::FileRecord* file = record_of(dataset->file)) {
        uint64_t about = dataset->path_hash;
        for (uint32_t d = 0; d < rank; ++d) about = mixed(about, dims[d]);
        count(file->metadata_order, 6, about);
    }
    if (dataset->extents == 0) {
        dataset->extents =
            writer().add(spool::kind_extents, sizeof(spool::ExtentsRecord) +
                                                  uint64_t{extents_kept} * rank * sizeof(uint64_t));
        if (dataset->extents == 0) return;
        auto& made = writer().at<spool::ExtentsRecord>(dataset->extents);
        made.dataset = dataset->offset;
        made.rank = rank;
        made.capacity = extents_kept;
    }
    auto& kept = writer().at<spool::ExtentsRecord>(dataset->extents);
    constexpr uint64_t half = extents_kept / 2;
    const uint64_t slot = kept.calls < half ? kept.calls : half + (kept.calls - half) % half;
    memcpy(reinterpret_cast<uint64_t*>(&kept + 1) + slot * rank, dims, rank * sizeof(uint64_t));
    ++kept.calls;
}

void attribute_bytes(FileEntry* file, DatasetEntry* dataset, uint64_t bytes, bool written) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record == nullptr) return;
    (written ? record->attribute_bytes_written : record->attribute_bytes_read) += bytes;
    if (spool::DatasetRecord* of = record_of(dataset)) of->attribute_bytes += bytes;
}

void attribute_of(DatasetEntry* dataset) {
    const Turn turn;
    spool::DatasetRecord* record = turn ? record_of(dataset) : nullptr;
    if (record != nullptr) ++record->attributes;
}

uint64_t elements(const DatasetEntry* dataset) {
    return dataset != nullptr ? dataset->elements : 0;
}

uint32_t extent(const DatasetEntry* dataset, uint64_t* dims) {
    if (dataset == nullptr || !dataset->described) return 0;
    memcpy(dims, dataset->dims, dataset->rank * sizeof(uint64_t));
    return dataset->rank;
}

}  // namespace tailrace::hooks::vol::recorder
