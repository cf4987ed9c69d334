// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

constexpr unsigned buckets = 1024;
FileEntry* table[buckets];

FileEntry* entry_of(const char* name) {
    char* path = absolute(name);
    if (path == nullptr) return nullptr;
    FileEntry*& first = table[hash_of(path) % buckets];
    for (FileEntry* entry = first; entry != nullptr; entry = entry->next) {
        if (strcmp(entry->path, path) == 0) {
            free(path);
            return entry;
        }
    }
    const bool fits = writer().has_room(sizeof(spool::FileRecord) + strlen(path));
    auto* made = fits ? static_cast<FileEntry*>(calloc(1, sizeof(FileEntry))) : nullptr;
    if (made == nullptr) {
        free(path);
        return nullptr;
    }
    made->path = path;
    made->next = first;
    first = made;
    return made;
}

int64_t nanoseconds(const timespec& at) {
    return static_cast<int64_t>(at.tv_sec) * 1'000'000'000 + at.tv_nsec;
}

bool same_file(const FileState& one, const FileState& other) {
    return one.device == other.device && one.inode == other.inode;
}

/// Somebody else may have changed the file since this process saw it: what is known of it is asked
/// anew. While it is open here, the changes are our own; it can only have been replaced.
void compare(FileEntry& file, const FileState& now) {
    const FileState before = file.seen;
    if (now.known) file.seen = now;
    if (!now.known || !before.known) return;
    const bool replaced = !same_file(before, now);
    const bool same = before.bytes == now.bytes && before.modified_ns == now.modified_ns &&
                      before.changed_ns == now.changed_ns;
    if (!replaced && (same || file.open > 0)) return;
    ++file.epoch;
    if (replaced) file.emptied = file.epoch;
}

}  // namespace

FileState state_of(const char* name) {
    const int error = errno;
    struct stat found {};
    FileState state;
    state.known = stat(name, &found) == 0;
    state.device = found.st_dev;
    state.inode = found.st_ino;
    state.bytes = static_cast<uint64_t>(found.st_size);
    state.modified_ns = nanoseconds(found.st_mtim);
    state.changed_ns = nanoseconds(found.st_ctim);
    errno = error;
    return state;
}

spool::FileRecord* record_of(FileEntry* file) {
    if (file == nullptr) return nullptr;
    if (file->offset != 0 && file->generation == generation()) {
        return &writer().at<spool::FileRecord>(file->offset);
    }
    const uint64_t offset = spooling::add_file(writer(), file->path);
    if (offset == 0) return nullptr;
    auto& record = writer().at<spool::FileRecord>(offset);
    if (file->offset != 0 && base_of(file->generation) != nullptr) {
        const auto& before =
            *reinterpret_cast<const spool::FileRecord*>(base_of(file->generation) + file->offset);
        record.driver = before.driver;
        record.communicator_size = before.communicator_size;
    }
    file->offset = offset;
    file->generation = generation();
    file->settings_kept = 0;
    return &record;
}

void keep_settings(uint64_t of, const Settings& settings) {
    for (uint32_t number = 0; number < settings.count; ++number) {
        const Setting& from = settings.all[number];
        const uint64_t offset = writer().add(
            spool::kind_setting, sizeof(spool::SettingRecord) + from.count * sizeof(uint64_t));
        if (offset == 0) return;
        auto& record = writer().at<spool::SettingRecord>(offset);
        record.of = of;
        record.key = from.key;
        record.count = from.count;
        record.real = from.real;
        memcpy(&record + 1, from.values, from.count * sizeof(uint64_t));
    }
}

namespace {

/// A file that is opened again and again has each setting of the first open that has it.
void keep_new_settings(FileEntry& file, const Settings& settings) {
    static_assert(spool::key_behind <= 64);
    Settings more;
    for (uint32_t number = 0; number < settings.count; ++number) {
        const uint64_t bit = uint64_t{1} << settings.all[number].key;
        if ((file.settings_kept & bit) != 0) continue;
        file.settings_kept |= bit;
        more.all[more.count++] = settings.all[number];
    }
    if (more.count > 0) keep_settings(file.offset, more);
}

}  // namespace

FileEntry* file_opened(const char* name, const FileFacts& facts, Took took) {
    const Turn turn;
    if (!turn) return nullptr;
    FileEntry* file = entry_of(name);
    const bool fresh = file != nullptr && (file->offset == 0 || file->generation != generation());
    spool::FileRecord* record = record_of(file);
    if (record == nullptr) {
        writer().dropped(spool::kind_other);
        return nullptr;
    }
    if (fresh && strcmp(name, file->path) != 0) {
        spooling::add_name(writer(), spool::kind_file_name, file->offset, name);
    }
    ++record->opens;
    if (facts.created) {
        ++record->creates;
        file->emptied = ++file->epoch;
        file->seen = state_of(file->path);
    } else {
        compare(*file, facts.before);
    }
    if (facts.read_only) ++record->read_only_opens;
    if (file->closed_before && file->open == 0) ++record->reopens;
    if (facts.driver != spool::driver_not_known) record->driver = facts.driver;
    if (facts.communicator_size > record->communicator_size) {
        record->communicator_size = facts.communicator_size;
    }
    keep_new_settings(*file, facts.settings);
    ++file->open;
    widen(record->open, took);
    record->metadata_ns += took.end_ns - took.start_ns;
    count(record->metadata_order, facts.created ? 1 : 2, 0);
    return file;
}

FileEntry* file_beside(const char* name) {
    const Turn turn;
    if (!turn) return nullptr;
    FileEntry* file = entry_of(name);
    if (record_of(file) == nullptr) return nullptr;
    compare(*file, state_of(file->path));
    return file;
}

void file_reopened(FileEntry* file, Took took) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record == nullptr) return;
    ++record->opens;
    ++file->open;
    widen(record->open, took);
    count(record->metadata_order, 3, 0);
}

void file_closed(FileEntry* file, Took took) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record == nullptr) return;
    ++record->closes;
    if (file->open > 0) --file->open;
    file->closed_before = true;
    // Where it is gone or replaced by now, the next one to be opened is another file.
    const FileState left = state_of(file->path);
    if (left.known && (!file->seen.known || same_file(left, file->seen))) file->seen = left;
    widen(record->close, took);
    record->metadata_ns += took.end_ns - took.start_ns;
    count(record->metadata_order, 4, 0);
}

void file_flushed(FileEntry* file, Took took) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record == nullptr) return;
    ++record->flushes;
    record->metadata_ns += took.end_ns - took.start_ns;
    count(record->metadata_order, 5, 0);
}

void file_deleted(const char* name) {
    const Turn turn;
    if (!turn) return;
    spool::FileRecord* record = record_of(entry_of(name));
    if (record != nullptr) ++record->deletes;
}

void failed(FileEntry* file) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record != nullptr) ++record->failed;
}

void left_open(FileEntry* file, const uint64_t kinds_open[spool::objects]) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record == nullptr) return;
    for (uint32_t kind = 0; kind < spool::objects; ++kind) {
        record->left_open[kind] += kinds_open[kind];
    }
}

void operation(FileEntry* file, spool::Object object, spool::Operation operation, const char* name,
               bool collective, Took took) {
    const Turn turn;
    spool::FileRecord* record = turn ? record_of(file) : nullptr;
    if (record == nullptr) return;
    ++record->counts[object][operation];
    record->metadata_ns += took.end_ns - took.start_ns;
    const uint64_t what = 16 + object * 8 + operation;
    const uint64_t about = hash_of(name);
    if (collective) count(record->metadata_order, what, about);
    count(record->access_order, what, about);
}

}  // namespace tailrace::hooks::vol::recorder
