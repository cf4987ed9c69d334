// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/files.hpp"

#include <stdlib.h>
#include <string.h>

namespace tailrace::hooks::files {
namespace {

constexpr unsigned buckets = 4096;
constexpr unsigned most_names = 4;
constexpr unsigned most_entries = 1 << 16;  ///< a spool of the usual size is full much earlier
unsigned entries = 0;
FileEntry* table[buckets];

/// Takes `path`, which was allocated.
FileEntry* entry_of(char* path) {
    if (path == nullptr) return nullptr;
    FileEntry*& first = table[spooling::hash_of(path) % buckets];
    for (FileEntry* entry = first; entry != nullptr; entry = entry->next) {
        if (strcmp(entry->path, path) == 0) {
            free(path);
            return entry;
        }
    }
    auto* made =
        entries < most_entries ? static_cast<FileEntry*>(calloc(1, sizeof(FileEntry))) : nullptr;
    if (made == nullptr) {
        session::writer().dropped(spool::kind_file);
        free(path);
        return nullptr;
    }
    ++entries;
    made->path = path;
    made->next = first;
    return first = made;
}

}  // namespace

FileEntry* of_name(const char* name) { return entry_of(spooling::absolute(name)); }
FileEntry* of_path(const char* path) { return entry_of(strdup(path)); }

spool::FileRecord* record_of(FileEntry& file) {
    spool::Writer& writer = session::writer();
    if (file.generation != session::generation()) {
        file.generation = session::generation();
        file.offset = 0;
        file.layers[0] = file.layers[1] = 0;
        file.names = 0;
    }
    if (file.offset == 0) {
        file.offset = spooling::add_file(writer, file.path);
        if (file.offset == 0) return nullptr;
    }
    return &writer.at<spool::FileRecord>(file.offset);
}

void keep_name(FileEntry& file, const char* name) {
    if (file.names >= most_names || strcmp(name, file.path) == 0) return;
    ++file.names;
    spooling::add_name(session::writer(), spool::kind_file_name, file.offset, name);
}

void count(spool::Frequent (&frequent)[spool::most_frequent], uint64_t value) {
    spool::Frequent* rarest = frequent;
    for (spool::Frequent& one : frequent) {
        if (one.calls > 0 && one.value == value) {
            ++one.calls;
            return;
        }
        if (one.calls < rarest->calls) rarest = &one;
    }
    // A newcomer takes the place of what was met once; so what is frequent stays.
    if (rarest->calls <= 1) *rarest = {value, 1};
}

void count(spool::Sizes& sizes, uint64_t bytes) {
    uint32_t which = 0;
    while (which < spool::size_classes - 1 && bytes >= spool::size_bounds[which]) ++which;
    ++sizes.by_class[which];
    if (bytes > sizes.largest) sizes.largest = bytes;
    count(sizes.frequent, bytes);
}

}  // namespace tailrace::hooks::files
