// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/changed_chunks.hpp"

#include <stdlib.h>
#include <string.h>

#include "hooks/vol/calls.hpp"
#include "hooks/vol/identity.hpp"
#include "hooks/vol/plan.hpp"
#include "hooks/vol/put.hpp"
#include "hooks/vol/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned buckets = 4096;
constexpr uint64_t most_entries = 1 << 16;
DirectChunks* by_path[buckets];
DirectChunks* by_token[buckets];
uint64_t entries = 0;
bool names_changed = false;

uint64_t mixed(uint64_t one, uint64_t other) {
    const uint64_t sum = (one ^ (one >> 31U)) * 0x9e3779b97f4a7c15U + other;
    return sum != 0 ? sum : 1;
}

uint64_t file_hash_of(const Object& object) { return spooling::hash_of(object.under->plan->path); }

uint64_t token_hash_of(uint64_t file, const Identity& identity) {
    uint64_t halves[2];
    static_assert(sizeof halves == sizeof identity.token);
    memcpy(halves, identity.token, sizeof halves);
    return mixed(mixed(file, halves[0]), halves[1]);
}

/// Where it lies in its file; 0: not known, or it lies in another one.
uint64_t place_of(const Object& object) {
    const Quiet quiet(object.library());
    Identity identity{};
    if (!identify(object, identity)) return 0;
    const bool elsewhere =
        object.under->file_number != 0 && identity.file_number != object.under->file_number;
    return elsewhere ? 0 : token_hash_of(file_hash_of(object), identity);
}

DirectChunks* of_path(uint64_t hash) {
    for (DirectChunks* entry = by_path[hash % buckets]; entry != nullptr;
         entry = entry->next_by_path)
        if (entry->path_hash == hash) return entry;
    return nullptr;
}

DirectChunks* of_token(uint64_t hash) {
    if (hash == 0) return nullptr;
    for (DirectChunks* entry = by_token[hash % buckets]; entry != nullptr;
         entry = entry->next_by_token)
        if (entry->token_hash == hash) return entry;
    return nullptr;
}

/// An entry is for what lies there now.
void put_at(DirectChunks& entry, uint64_t token) {
    if (DirectChunks* old = of_token(token); old != nullptr) old->token_hash = 0;
    if (entry.in_bucket) {
        DirectChunks** link = &by_token[entry.bucket];
        while (*link != &entry) link = &(*link)->next_by_token;
        *link = entry.next_by_token;
    }
    entry.token_hash = token;
    entry.in_bucket = token != 0;
    if (token == 0) return;
    entry.bucket = static_cast<uint32_t>(token % buckets);
    entry.next_by_token = by_token[entry.bucket];
    by_token[entry.bucket] = &entry;
}

/// Entries stay where they are: objects that are open lead to them.
DirectChunks* add(uint64_t file, const char* path, uint64_t token) {
    auto* made = static_cast<DirectChunks*>(calloc(1, sizeof(DirectChunks)));
    char* kept = made != nullptr ? strdup(path) : nullptr;
    if (kept == nullptr) {
        free(made);
        return nullptr;
    }
    ++entries;
    made->file_hash = file;
    made->path = kept;
    made->path_hash = mixed(file, spooling::hash_of(path));
    made->next_by_path = by_path[made->path_hash % buckets];
    by_path[made->path_hash % buckets] = made;
    made->number = entries;
    put_at(*made, token);
    return made;
}

void add_copy(const DirectChunks& of, uint64_t file, const char* path, uint64_t token) {
    if (DirectChunks* old = of_path(mixed(file, spooling::hash_of(path))); old != nullptr)
        old->path_hash = 0;
    DirectChunks* made = entries < most_entries ? add(file, path, token) : nullptr;
    if (made == nullptr) return;
    made->setting = of.setting;
    made->shape = of.shape;
    made->rank = of.rank;
    made->filters = of.filters;
    made->added = of.added;
    memcpy(made->chunk, of.chunk, sizeof made->chunk);
}

/// Where what `name` leads to lies in the file of `base`; 0: not known.
uint64_t place_below(const Object& base, const char* name) {
    if (!base.under->native) return 0;
    const Library& of = base.library();
    const Quiet quiet(of);
    ObjectInfo info{};
    ObjectGetInfo question{object_get_info, object_info_basic, &info};
    Location at{base.kind, way_name, {}};
    at.by_name = {name, 0};
    if (of.H5VLobject_get(base.inner, &at, base.connector(), &question, of.default_transfer,
                          nullptr) < 0)
        return 0;
    Identity identity{info.file_number, {}};
    memcpy(identity.token, info.token, sizeof identity.token);
    const bool elsewhere =
        base.under->file_number != 0 && identity.file_number != base.under->file_number;
    return elsewhere ? 0 : token_hash_of(file_hash_of(base), identity);
}

/// Copies of what lies below a group.
void copy_below(uint64_t from_file, const char* from, uint64_t to_file, const char* to) {
    const size_t bytes = strcmp(from, "/") == 0 ? 0 : strlen(from);
    const size_t before = strcmp(to, "/") == 0 ? 0 : strlen(to);
    const uint64_t known = entries;  // not those that are added here
    for (DirectChunks* bucket : by_path) {
        for (const DirectChunks* entry = bucket; entry != nullptr; entry = entry->next_by_path) {
            if (entry->path_hash == 0 || entry->file_hash != from_file || entry->number > known)
                continue;
            if (strncmp(entry->path, from, bytes) != 0 || entry->path[bytes] != '/') continue;
            const size_t rest = strlen(entry->path + bytes);
            char* path = static_cast<char*>(malloc(before + rest + 1));
            if (path == nullptr) return;
            memcpy(path, to, before);
            memcpy(path + before, entry->path + bytes, rest + 1);
            add_copy(*entry, to_file, path, 0);
            free(path);
        }
    }
}

}  // namespace

uint64_t room_for_direct_chunks() { return entries < most_entries ? most_entries - entries : 0; }

void forget_changed(const Object& dataset) {
    if (entries == 0 || dataset.under->plan == nullptr) return;
    if (dataset.path != nullptr) {
        DirectChunks* named =
            of_path(mixed(file_hash_of(dataset), spooling::hash_of(dataset.path)));
        if (named != nullptr) named->path_hash = 0;
    }
    if (DirectChunks* here = of_token(place_of(dataset)); here != nullptr) here->token_hash = 0;
}

DirectChunks* add_changed(const Object& dataset) {
    const uint64_t file = file_hash_of(dataset);
    const uint64_t token = place_of(dataset);
    DirectChunks* named = of_path(mixed(file, spooling::hash_of(dataset.path)));
    // A file that is written anew, again and again, takes no more memory for it.
    if (named != nullptr && !names_changed) {
        put_at(*named, token);
        return named;
    }
    if (named != nullptr) named->path_hash = 0;  // it may have another name now
    return add(file, dataset.path, token);
}

const DirectChunks* find_changed(const Object& dataset) {
    if (entries == 0 || dataset.under->plan == nullptr) return nullptr;
    const DirectChunks* named =
        dataset.path != nullptr
            ? of_path(mixed(file_hash_of(dataset), spooling::hash_of(dataset.path)))
            : nullptr;
    if (named != nullptr && !names_changed) return named;
    const uint64_t token = place_of(dataset);
    const DirectChunks* here = of_token(token);
    const bool gone = named != nullptr && named->token_hash != 0 && token != 0;
    return here != nullptr || gone ? here : named;
}

void note_names_changed() { names_changed = true; }

void note_copied(const Object& from, const char* from_name, const Object& to, const char* to_name) {
    if (entries == 0 || from.under->plan == nullptr || to.under->plan == nullptr) return;
    char* source = child_path(from, from_name);
    char* target = child_path(to, to_name);
    if (source != nullptr && target != nullptr) {
        const uint64_t from_file = file_hash_of(from);
        const uint64_t to_file = file_hash_of(to);
        const DirectChunks* one = of_token(place_below(from, from_name));
        if (one == nullptr) one = of_path(mixed(from_file, spooling::hash_of(source)));
        if (one != nullptr)
            add_copy(*one, to_file, target, place_below(to, to_name));
        else
            copy_below(from_file, source, to_file, target);
    }
    free(source);
    free(target);
}

}  // namespace tailrace::hooks::vol
