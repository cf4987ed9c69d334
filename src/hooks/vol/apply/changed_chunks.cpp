// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/apply/changed_chunks.hpp"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "hooks/common/in_child.hpp"
#include "hooks/common/locked.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/objects/identity.hpp"
#include "hooks/vol/plan/put.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned buckets = 4096;
constexpr uint64_t most_entries = 1 << 16;
DirectChunks* by_path[buckets];
DirectChunks* by_token[buckets];
std::atomic<uint64_t> entries{0};
std::atomic<bool> names_changed{false};
/// Whether a file may have entries: most of those that are made have none yet.
bool known_files[1 << 16];

/// The tables are of all HDF5 libraries of a process, and the lock of one does not keep the others
/// out. HDF5 is never called while it is held.
std::atomic_flag busy = ATOMIC_FLAG_INIT;
// An entry that was being moved may be in no bucket, and is then not known in the child.
const InChild in_child{[] { busy.clear(); }};

/// 0 stands for what is not known.
uint64_t mixed(uint64_t hash, uint64_t value) {
    const uint64_t both = spooling::mixed(hash, value);
    return both != 0 ? both : 1;
}

uint64_t file_hash_of(const Object& object) { return spooling::hash_of(object.under->plan->path); }

uint64_t path_hash_of(uint64_t file, const char* path) {
    return mixed(file, spooling::hash_of(path));
}

/// Of an object that `beside` was asked for; 0: it lies in another file.
uint64_t token_hash_of(const Object& beside, const Identity& identity) {
    const unsigned long file = beside.under->file_number;
    if (file != 0 && identity.file_number != file) return 0;
    uint64_t halves[2];
    static_assert(sizeof halves == sizeof identity.token);
    memcpy(halves, identity.token, sizeof halves);
    return mixed(mixed(file_hash_of(beside), halves[0]), halves[1]);
}

/// Where what `location` names lies in the file of `base`; 0: not known, or in another one.
uint64_t place_at(const Object& base, const Location& location) {
    if (base.under->plan->parallel) return 0;
    const Quiet quiet(base.library());
    Identity identity{};
    return identify_at(base, location, identity) ? token_hash_of(base, identity) : 0;
}

uint64_t place_of(const Object& object) { return place_at(object, {object.kind, way_self, {}}); }

uint64_t place_below(const Object& base, const char* name) {
    if (!base.under->native) return 0;  // another may want an access list with the name
    Location location{base.kind, way_name, {}};
    location.by_name = {name, 0};
    return place_at(base, location);
}

DirectChunks* of_path(uint64_t hash, bool also_gone = false) {
    for (DirectChunks* entry = by_path[hash % buckets]; entry != nullptr;
         entry = entry->next_by_path)
        if (entry->path_hash == hash && (also_gone || !entry->gone)) return entry;
    return nullptr;
}

DirectChunks* of_token(uint64_t hash) {
    if (hash == 0) return nullptr;
    for (DirectChunks* entry = by_token[hash % buckets]; entry != nullptr;
         entry = entry->next_by_token)
        if (entry->token_hash == hash) return entry;
    return nullptr;
}

/// Takes an entry out of the bucket that it is in, if it is in one.
void take_out(DirectChunks** bucket, const DirectChunks& entry, DirectChunks* DirectChunks::*next) {
    while (*bucket != nullptr && *bucket != &entry) bucket = &((*bucket)->*next);
    if (*bucket != nullptr) *bucket = entry.*next;
}

/// Its dataset is no more, whatever has its name or lies in its place now.
void bury(DirectChunks& entry) {
    if (entry.token_hash != 0)
        take_out(&by_token[entry.token_hash % buckets], entry, &DirectChunks::next_by_token);
    entry.token_hash = 0;
    entry.gone = true;
}

/// The entry is for what lies there now; 0: that is not known.
void put_at(DirectChunks& entry, uint64_t token) {
    if (entry.token_hash == token) return;
    if (DirectChunks* old = of_token(token); old != nullptr) bury(*old);
    if (entry.token_hash != 0)
        take_out(&by_token[entry.token_hash % buckets], entry, &DirectChunks::next_by_token);
    entry.token_hash = token;
    if (token == 0) return;
    entry.next_by_token = by_token[token % buckets];
    by_token[token % buckets] = &entry;
}

/// The entry is for what has this path now, which it keeps.
void put_under(DirectChunks& entry, char* path) {
    if (entry.path != nullptr)
        take_out(&by_path[path_hash_of(entry.file_hash, entry.path) % buckets], entry,
                 &DirectChunks::next_by_path);
    char* const before = entry.path;
    entry.path = path;  // first: a child that is forked here may read it
    free(before);
    entry.path_hash = path_hash_of(entry.file_hash, path);
    entry.next_by_path = by_path[entry.path_hash % buckets];
    by_path[entry.path_hash % buckets] = &entry;
}

/// A name that leads elsewhere from now on.
void forget_path(uint64_t file, const char* path) {
    DirectChunks* named = of_path(path_hash_of(file, path));
    if (named != nullptr) named->path_hash = 0;
}

/// Entries stay where they are: objects that are open lead to them.
DirectChunks* add(uint64_t file, const char* path, uint64_t token) {
    auto* made = static_cast<DirectChunks*>(calloc(1, sizeof(DirectChunks)));
    char* kept = made != nullptr ? strdup(path) : nullptr;
    if (kept == nullptr) {
        free(made);
        return nullptr;
    }
    made->number = ++entries;
    made->file_hash = file;
    known_files[file % sizeof known_files] = true;
    put_under(*made, kept);
    put_at(*made, token);
    return made;
}

void add_copy(const DirectChunks& of, uint64_t file, const char* path, uint64_t token) {
    forget_path(file, path);
    DirectChunks* made = entries < most_entries ? add(file, path, token) : nullptr;
    if (made == nullptr) return;
    made->setting = of.setting;
    made->shape = of.shape;
    made->rank = of.rank;
    made->filters = of.filters;
    made->added = of.added;
    memcpy(made->chunk, of.chunk, sizeof made->chunk);
}

/// A path with `to` in the place of `from`; nullptr: it is not that, nor below it. The caller frees
/// it.
char* led_over(const char* path, const char* from, const char* to) {
    const size_t bytes = strcmp(from, "/") == 0 ? 0 : strlen(from);
    if (strncmp(path, from, bytes) != 0 || (path[bytes] != '/' && path[bytes] != '\0'))
        return nullptr;
    auto* made = static_cast<char*>(malloc(strlen(to) + strlen(path + bytes) + 1));
    if (made == nullptr) return nullptr;
    strcpy(made, strcmp(to, "/") == 0 ? "" : to);
    strcat(made, path + bytes);
    return made;
}

/// Calls `one(entry, path)` with each entry of the file at or below `from`, and with its path where
/// `to` is in its place, which is its own then. What is added meanwhile is left out.
template <typename One>
void each_below(uint64_t file, const char* from, const char* to, One one) {
    const uint64_t known = entries;
    for (DirectChunks* bucket : by_path) {
        for (DirectChunks* entry = bucket; entry != nullptr;) {
            DirectChunks* const next = entry->next_by_path;
            const bool here = entry->path_hash != 0 && entry->file_hash == file && !entry->gone &&
                              entry->number <= known;
            char* path = here ? led_over(entry->path, from, to) : nullptr;
            if (path != nullptr) one(*entry, path);
            entry = next;
        }
    }
}

/// Of what has this path, and lies at this place.
const DirectChunks* at_or_under(const Object& base, uint64_t place, const char* path) {
    if (const DirectChunks* here = of_token(place); here != nullptr) return here;
    const DirectChunks* named = of_path(path_hash_of(file_hash_of(base), path));
    const bool other = named != nullptr && named->token_hash != 0 && place != 0;
    return other ? nullptr : named;
}

/// What is known of `source`, or of all below it, is known of its copy at `target` too.
void copy_entries(const Object& from, uint64_t from_place, const char* source, uint64_t to_file,
                  const char* target, uint64_t place) {
    const DirectChunks* one = at_or_under(from, from_place, source);
    if (one != nullptr) return add_copy(*one, to_file, target, place);
    each_below(file_hash_of(from), source, target,
               [to_file](const DirectChunks& entry, char* path) {
                   add_copy(entry, to_file, path, 0);
                   free(path);
               });
}

}  // namespace

uint64_t room_for_direct_chunks() {
    const uint64_t known = entries;
    return known < most_entries ? most_entries - known : 0;
}

void forget_changed(const Object& dataset) {
    if (entries == 0 || dataset.under->plan == nullptr) return;
    const uint64_t place = place_of(dataset);
    const Locked held(busy);
    if (dataset.path != nullptr) forget_path(file_hash_of(dataset), dataset.path);
    if (DirectChunks* here = of_token(place); here != nullptr) bury(*here);
}

DirectChunks* add_changed(const Object& dataset) {
    const uint64_t file = file_hash_of(dataset);
    const uint64_t token = place_of(dataset);
    const Locked held(busy);
    DirectChunks* named = of_path(path_hash_of(file, dataset.path), true);
    // A file that is written anew, again and again, takes no more memory for it.
    if (named != nullptr && (named->gone || !names_changed)) {
        named->gone = false;
        put_at(*named, token);
        return named;
    }
    if (named != nullptr) named->path_hash = 0;  // it may have another name now
    return add(file, dataset.path, token);
}

const DirectChunks* find_changed(const Object& dataset) {
    if (entries == 0 || dataset.under->plan == nullptr) return nullptr;
    const uint64_t path =
        dataset.path != nullptr ? path_hash_of(file_hash_of(dataset), dataset.path) : 0;
    const auto by_name = [path] { return path != 0 ? of_path(path) : nullptr; };
    if (!names_changed) {
        const Locked held(busy);
        DirectChunks* named = by_name();
        if (named != nullptr && named->token_hash != 0) return named;
    }
    const uint64_t token = place_of(dataset);
    const Locked held(busy);
    DirectChunks* named = by_name();
    if (token == 0) return named;
    if (const DirectChunks* here = of_token(token); here != nullptr) return here;
    if (named == nullptr || named->token_hash != 0) return nullptr;
    put_at(*named, token);
    return named;
}

void forget_changed_in(const char* file) {
    const uint64_t hash = spooling::hash_of(file);
    const Locked held(busy);
    if (!known_files[hash % sizeof known_files]) return;
    for (DirectChunks* bucket : by_path) {
        for (DirectChunks* entry = bucket; entry != nullptr; entry = entry->next_by_path) {
            if (entry->file_hash != hash) continue;
            bury(*entry);
        }
    }
}

void note_names_changed() { names_changed = true; }

void note_moved(const Object& from, const char* from_name, const Object& to, const char* to_name) {
    if (entries == 0 || from.under->plan == nullptr) return;
    const uint64_t file = file_hash_of(from);
    char* source = child_path(from, from_name);
    char* target = child_path(to, to_name);
    if (source != nullptr && target != nullptr) {
        const Locked held(busy);
        if (known_files[file % sizeof known_files]) {
            forget_path(file, target);
            each_below(file, source, target, put_under);
        }
    }
    free(source);
    free(target);
}

void note_copied(const Object& from, const char* from_name, const Object& to, const char* to_name) {
    if (entries == 0 || to.under->plan == nullptr) return;
    char* source = child_path(from, from_name);
    char* target = child_path(to, to_name);
    const uint64_t to_file = file_hash_of(to);
    const uint64_t place = place_below(to, to_name);
    const uint64_t from_place = from.under->plan != nullptr ? place_below(from, from_name) : 0;
    if (target != nullptr) {
        const Locked held(busy);
        // Another object may have been of this name, or have lain in this place.
        forget_path(to_file, target);
        if (DirectChunks* old = of_token(place); old != nullptr) bury(*old);
        if (source != nullptr && from.under->plan != nullptr)
            copy_entries(from, from_place, source, to_file, target, place);
    }
    free(source);
    free(target);
}

}  // namespace tailrace::hooks::vol
