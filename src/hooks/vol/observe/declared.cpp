// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/observe/declared.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <initializer_list>

namespace tailrace::hooks::vol {
namespace {

using intent::declare::property;

/// A text that ends with a zero byte; 0 bytes: nothing was declared, or it is too long.
struct Text {
    Text() = default;
    ~Text() { free(memory); }
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    /// Forgets what it held; room for so many characters and the zero byte, or `too_long`.
    bool begin(size_t wanted) {
        bytes = 0;
        characters[0] = '\0';
        too_long = wanted > spool::most_declared_in_environment;
        if (too_long || wanted < room) return !too_long;
        auto* more = static_cast<char*>(realloc(memory, wanted + 1));
        too_long = more == nullptr;
        if (too_long) return false;
        memory = characters = more;
        room = wanted + 1;
        characters[0] = '\0';
        return true;
    }

    char few[1024];
    char* memory = nullptr;  ///< for more than a few
    char* characters = few;
    size_t room = sizeof few;
    size_t bytes = 0;
    bool too_long = false;
};

/// The default lists have nothing: nobody may change them.
bool is_default(const Library& of, Id list) {
    return list <= default_list || list == of.default_dataset_creation ||
           list == of.default_dataset_access || list == of.default_file_access ||
           list == of.default_file_creation;
}

/// What stands on a list.
void read_list(const Library& of, Id list, Text& text) {
    text.begin(0);
    if (is_default(of, list) || of.H5Pexist == nullptr || of.H5Pget_size == nullptr) return;
    if (of.H5Pexist(list, property) <= 0) return;
    size_t size = 0;
    if (of.H5Pget_size(list, property, &size) < 0 || size == 0) return;
    if (!text.begin(size) || of.H5Pget(list, property, text.characters) < 0) return;
    text.characters[size - 1] = '\0';
    text.bytes = strlen(text.characters);
}

/// Of the library libtailrace_intent: what is declared of a file by pattern; its length.
using Ask = size_t (*)(const char* path, const char* named, char* json, size_t bytes);
std::atomic<Ask> ask{nullptr};
std::atomic<unsigned long long> objects_seen{0};

struct Search {
    char name[4096];
    unsigned long long objects;
    bool again;
};

int look_at(dl_phdr_info* info, size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    search.objects = info->dlpi_adds;
    search.again = search.objects != objects_seen.load(std::memory_order_relaxed);
    if (!search.again) return 1;
    const char* slash = info->dlpi_name != nullptr ? strrchr(info->dlpi_name, '/') : nullptr;
    if (slash == nullptr || strncmp(slash + 1, "libtailrace_intent.so", 21) != 0) return 0;
    const size_t bytes = strlen(info->dlpi_name);
    if (bytes >= sizeof search.name) return 0;
    memcpy(search.name, info->dlpi_name, bytes + 1);
    return 1;
}

/// The library, where the program has it: linked, or loaded by Python for itself alone. It is
/// looked for again only when something was loaded since.
Ask find() {
    Ask found = ask.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    Search search{};
    dl_iterate_phdr(look_at, &search);
    if (!search.again) return nullptr;
    constexpr char function[] = "tailrace_intent_declared_as";
    found = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, function));
    if (found == nullptr && search.name[0] != '\0') {
        // It stays: it is never unloaded, as the program may have declared something.
        void* handle = dlopen(search.name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != nullptr) found = reinterpret_cast<Ask>(dlsym(handle, function));
    }
    ask.store(found, std::memory_order_release);
    objects_seen.store(search.objects, std::memory_order_relaxed);
    return found;
}

/// What the program declares of files of this name: a pattern may have links in it, as the name
/// may.
void read_patterns(const char* name, Text& text) {
    const Ask asked = find();
    text.begin(0);
    if (asked == nullptr) return;
    char* const path = recorder::absolute(name);
    char* const named = spooling::as_named(name);
    if (path != nullptr) {
        // Without the second where the working folder is gone.
        const char* const other = named != nullptr ? named : path;
        size_t bytes = asked(path, other, text.characters, text.room);
        // Another thread may declare more meanwhile.
        while (bytes >= text.room && text.begin(bytes))
            bytes = asked(path, other, text.characters, text.room);
        text.bytes = text.too_long ? 0 : bytes;
    }
    free(path);
    free(named);
}

/// Of the file, or of a dataset of it. The texts are written by our library, in this form only. One
/// that cannot be had may say so.
bool says_durable(const Text& text) {
    return text.too_long ||
           (text.bytes > 0 && strstr(text.characters, "\"reliability\":\"durable\"") != nullptr);
}

template <typename Entry>
void note(Entry* entry, spool::DeclaredBy by, const Text& text) {
    if (text.too_long) recorder::declared_too_long();
    if (text.bytes > 0) recorder::declared(entry, by, text.characters, text.bytes);
}

template <typename Entry>
void note_lists(const Library& library, Entry* entry, std::initializer_list<Id> lists, Text& text) {
    for (const Id list : lists) {
        read_list(library, list, text);
        note(entry, spool::declared_on_list, text);
    }
}

}  // namespace

void note_declared(const Library& library, FileEntry* file, const char* name, Id access,
                   Id creation) {
    if (file == nullptr) return;
    Text text;
    note_lists(library, file, {access, creation}, text);
    if (find() == nullptr) return;
    read_patterns(name, text);
    note(file, spool::declared_in_context, text);
}

void note_declared(const Library& library, DatasetEntry* dataset, Id access, Id creation) {
    if (dataset == nullptr) return;
    Text text;
    note_lists(library, dataset, {access, creation}, text);
}

bool declared_durable(const Library& library, const char* name, Id access, Id creation) {
    Text text;
    for (const Id list : {access, creation}) {
        read_list(library, list, text);
        if (says_durable(text)) return true;
    }
    read_patterns(name, text);
    return says_durable(text);
}

}  // namespace tailrace::hooks::vol
