// SPDX-License-Identifier: Apache-2.0
// The files of this process, by their path, and their records in its spool. In turn only.
#pragma once

#include "hooks/common/session.hpp"
#include "intent/spool/layout_io.hpp"

namespace tailrace::hooks {

/// A file that is recorded. It stays for the life of the process.
struct FileEntry {
    FileEntry* next;
    char* path;
    uint64_t offset;     ///< of its record in the spool of `generation`; 0: none
    uint64_t layers[2];  ///< offsets of what the hook keeps of it in the same spool; 0: none
    uint32_t generation;
    uint32_t names;  ///< other names that were kept
};

namespace files {

/// The entry of the file that the program calls `name`; nullptr without memory.
FileEntry* of_name(const char* name);
/// The same, of an absolute path without links.
FileEntry* of_path(const char* path);
/// Its record in this spool; nullptr: no room.
spool::FileRecord* record_of(FileEntry& file);
/// Notes another name of it, a few times.
void keep_name(FileEntry& file, const char* name);

/// A record of the hook's own on the file, made where there is none; nullptr: no room. Its second
/// member is the offset of the file.
template <typename Record>
Record* layer_of(FileEntry* file, spool::Kind kind, unsigned which = 0) {
    if (file == nullptr || record_of(*file) == nullptr) return nullptr;
    uint64_t& offset = file->layers[which];
    if (offset == 0) {
        offset = session::writer().add(kind, sizeof(Record));
        if (offset == 0) return nullptr;
        session::writer().at<Record>(offset).file = file->offset;
    }
    return &session::writer().at<Record>(offset);
}

void count(spool::Sizes& sizes, uint64_t bytes);
/// One more of `value`; where there is no room the rarest makes it.
void count(spool::Frequent (&frequent)[spool::most_frequent], uint64_t value);

}  // namespace files
}  // namespace tailrace::hooks
