// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/files.hpp"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace tailrace::hooks::files {
namespace {

constexpr unsigned buckets = 4096;
constexpr unsigned most_names = 4;
constexpr unsigned most_entries = 1 << 16;  ///< a spool of the usual size is full much earlier
unsigned entries = 0;
FileEntry* table[buckets];

uint64_t hash_of(const char* text) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (; *text != '\0'; ++text) {
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3U;
    }
    return hash ^ (hash >> 29);
}

char* in_folder(const char* name) {
    const char* slash = strrchr(name, '/');
    char* folder = slash != nullptr ? strndup(name, slash - name + 1) : strdup(".");
    char* there = folder != nullptr ? realpath(folder, nullptr) : nullptr;
    free(folder);
    if (there == nullptr) return strdup(name);
    const char* last = slash != nullptr ? slash + 1 : name;
    char* path = static_cast<char*>(malloc(strlen(there) + strlen(last) + 2));
    if (path != nullptr) {
        strcpy(path, strcmp(there, "/") == 0 ? "" : there);
        strcat(path, "/");
        strcat(path, last);
    }
    free(there);
    return path;
}

/// As an absolute path; of a file that is not there (any more) it is that of its folder. MPI-IO's
/// "ufs:" and the like go. The caller frees it.
char* resolved(const char* name) {
    char* path = realpath(name, nullptr);
    if (path != nullptr) return path;
    const char* colon = strchr(name, ':');
    if (colon != nullptr && colon - name > 1 && memchr(name, '/', colon - name) == nullptr) {
        path = realpath(colon + 1, nullptr);
        if (path != nullptr) return path;
    }
    return in_folder(name);
}

/// Takes `path`, which was allocated.
FileEntry* entry_of(char* path) {
    if (path == nullptr) return nullptr;
    FileEntry*& first = table[hash_of(path) % buckets];
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

void ask_system(spool::FileRecord& record, const char* path) {
    struct stat status {};
    struct statfs system {};
    if (stat(path, &status) == 0) {
        record.device = status.st_dev;
        record.inode = status.st_ino;
    }
    if (statfs(path, &system) == 0) {
        record.block_bytes = static_cast<uint64_t>(system.f_bsize);
        record.system_magic = system.f_type;
    }
}

}  // namespace

FileEntry* of_name(const char* name) { return entry_of(resolved(name)); }
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
        const size_t bytes = strlen(file.path);
        file.offset = writer.add(spool::kind_file, sizeof(spool::FileRecord) + bytes);
        if (file.offset == 0) return nullptr;
        auto& record = writer.at<spool::FileRecord>(file.offset);
        record.path_bytes = static_cast<uint32_t>(bytes);
        memcpy(&record + 1, file.path, bytes);
        ask_system(record, file.path);
    }
    return &writer.at<spool::FileRecord>(file.offset);
}

void keep_name(FileEntry& file, const char* name) {
    if (file.names >= most_names || strcmp(name, file.path) == 0) return;
    ++file.names;
    const size_t bytes = strlen(name);
    const uint64_t offset =
        session::writer().add(spool::kind_file_name, sizeof(spool::NameRecord) + bytes);
    if (offset == 0) return;
    auto& record = session::writer().at<spool::NameRecord>(offset);
    record.of = file.offset;
    record.bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, name, bytes);
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
