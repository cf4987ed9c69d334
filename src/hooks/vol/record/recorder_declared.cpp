// SPDX-License-Identifier: Apache-2.0
// What the program declares, as it is met: each text once per file or dataset.
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

/// Whether a text is new to an entry, and there is room for it.
bool is_new(Declarations& known, const char* text, spool::DeclaredBy by) {
    if (known.generation != generation()) known = {generation(), 0, {}};
    const uint64_t hash = mixed(hash_of(text), by);
    for (uint32_t number = 0; number < known.count; ++number)
        if (known.hash[number] == hash) return false;
    if (known.count == most_declarations) {
        writer().dropped(spool::kind_declared);
        return false;
    }
    known.hash[known.count++] = hash;
    return true;
}

/// Long texts leave the spool to what the program does.
bool fits(size_t bytes) {
    static uint64_t long_bytes = 0;
    static uint32_t of_generation = 0;
    if (bytes <= spool::most_declared_bytes) return true;
    if (of_generation != generation()) long_bytes = 0;
    of_generation = generation();
    long_bytes += bytes;
    return long_bytes <= spooling::most_bytes() / 8;
}

void keep(uint64_t of, spool::DeclaredBy by, const char* text, size_t bytes) {
    if (!fits(bytes)) {
        writer().dropped(spool::kind_declared);
        return;
    }
    const uint64_t offset =
        writer().add(spool::kind_declared, sizeof(spool::DeclaredRecord) + bytes);
    if (offset == 0) return;
    auto& record = writer().at<spool::DeclaredRecord>(offset);
    record.of = of;
    record.by = by;
    record.bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, text, bytes);
}

template <typename Entry>
void note(Entry* entry, spool::DeclaredBy by, const char* text, size_t bytes) {
    const Turn turn;
    if (!turn || record_of(entry) == nullptr) return;
    if (entry->declared == nullptr) {
        entry->declared = static_cast<Declarations*>(calloc(1, sizeof(Declarations)));
        if (entry->declared == nullptr) return;
        entry->declared->generation = generation();
    }
    if (is_new(*entry->declared, text, by)) keep(entry->offset, by, text, bytes);
}

}  // namespace

void declared(FileEntry* file, spool::DeclaredBy by, const char* text, size_t bytes) {
    note(file, by, text, bytes);
}

void declared(DatasetEntry* dataset, spool::DeclaredBy by, const char* text, size_t bytes) {
    note(dataset, by, text, bytes);
}

void declared_too_long() {
    const Turn turn;
    if (turn) writer().dropped(spool::kind_declared);
}

}  // namespace tailrace::hooks::vol::recorder
