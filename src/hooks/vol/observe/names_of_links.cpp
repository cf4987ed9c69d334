// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/observe/names_of_links.hpp"

#include <stdlib.h>
#include <string.h>

#include <atomic>

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned most_names = 1U << 18;
constexpr int index_of_names = 0;
constexpr int native_order = 2;

struct Name {
    unsigned char token[16];
    unsigned number;  ///< of objects with several names the first one counts
    char* path;
};

/// The hard links of one file, sorted by token.
struct Names {
    const Library* library = nullptr;  ///< nullptr: of none
    unsigned long file_number = 0;
    Name* all = nullptr;
    unsigned count = 0;
    unsigned room = 0;
    int64_t end = 0;
    bool complete = false;
    int64_t cut_after = 0;  ///< the time was over after so long; 0: it was not
};
Names known;
std::atomic_flag busy = ATOMIC_FLAG_INIT;  ///< other libraries have other threads

bool are_of(const Object& object, const Identity& identity) {
    return known.library == &object.library() && known.file_number == identity.file_number;
}

void clear() {
    for (unsigned number = 0; number < known.count; ++number) free(known.all[number].path);
    free(known.all);
    known = {};
}

bool make_room() {
    if (known.count < known.room) return true;
    const unsigned room = known.room > 0 ? 2 * known.room : 1024;
    if (room > most_names) return false;
    auto* all = static_cast<Name*>(realloc(known.all, room * sizeof(Name)));
    if (all == nullptr) return false;
    known.all = all;
    known.room = room;
    return true;
}

Status keep(Id, const char* name, const LinkInfo* info, void*) {
    if (recorder::now() > known.end) {
        known.cut_after = 1;
        return 1;
    }
    if (info->type != link_hard) return 0;
    if (!make_room()) return 1;
    const size_t bytes = strlen(name) + 1;
    auto* path = static_cast<char*>(malloc(bytes + 1));
    if (path == nullptr) return 1;
    path[0] = '/';
    memcpy(path + 1, name, bytes);
    Name& made = known.all[known.count];
    memcpy(made.token, info->token, sizeof made.token);
    made.number = known.count++;
    made.path = path;
    return 0;
}

int by_token(const void* a, const void* b) {
    return memcmp(static_cast<const Name*>(a)->token, static_cast<const Name*>(b)->token,
                  sizeof Name::token);
}

int by_token_and_number(const void* a, const void* b) {
    const int tokens = by_token(a, b);
    if (tokens != 0) return tokens;
    return static_cast<const Name*>(a)->number < static_cast<const Name*>(b)->number ? -1 : 1;
}

void look_through(const Object& object, const Identity& identity, int64_t end) {
    clear();
    const int64_t begin = recorder::now();
    known.library = &object.library();
    known.file_number = identity.file_number;
    known.end = end;
    Location root{object.kind, way_name, {}};
    root.by_name.name = "/";
    LinkSpecific visit{link_iterate, {true, index_of_names, native_order, nullptr, keep, nullptr}};
    known.complete =
        object.library().H5VLlink_specific(object.inner, &root, object.connector(), &visit,
                                           object.library().default_transfer, nullptr) == 0;
    if (known.cut_after > 0) known.cut_after = recorder::now() - begin;
    if (known.count > 0) qsort(known.all, known.count, sizeof(Name), by_token_and_number);
}

const Name* found(const Identity& identity) {
    if (known.count == 0) return nullptr;
    Name wanted{};
    memcpy(wanted.token, identity.token, sizeof wanted.token);
    const auto* name =
        static_cast<const Name*>(bsearch(&wanted, known.all, known.count, sizeof(Name), by_token));
    while (name != nullptr && name > known.all && by_token(name - 1, &wanted) == 0) --name;
    return name;
}

}  // namespace

FoundName name_by_links(const Object& object, const Identity& identity, int64_t end, bool anew) {
    if (busy.test_and_set(std::memory_order_acquire)) return {nullptr, false};
    bool seen = are_of(object, identity);
    const Name* name = seen ? found(identity) : nullptr;
    const int64_t left = end - recorder::now();
    if (name == nullptr && seen && known.cut_after > 0) seen = left < 2 * known.cut_after;
    if (name == nullptr && (anew || !seen)) {
        seen = left > 0;
        if (seen) look_through(object, identity, end);
        if (seen) name = found(identity);
    }
    const FoundName made{name != nullptr ? strdup(name->path) : nullptr,
                         name != nullptr || (seen && known.complete)};
    busy.clear(std::memory_order_release);
    return made;
}

void forget_links() {
    if (busy.test_and_set(std::memory_order_acquire)) return;
    clear();
    busy.clear(std::memory_order_release);
}

}  // namespace tailrace::hooks::vol
