// SPDX-License-Identifier: Apache-2.0
// The recorder's own tables. Internal to the recorder.
#pragma once

#include "hooks/vol/record/recorder.hpp"
#include "hooks/vol/record/track.hpp"
#include "intent/spool/writer.hpp"

namespace tailrace::hooks::vol {

constexpr uint32_t most_declarations = 16;  ///< different ones of a file or dataset
/// The texts that were noted down, in the spool of `generation`.
struct Declarations {
    uint32_t generation;
    uint32_t count;
    uint64_t hash[most_declarations];
};

struct FileEntry {
    FileEntry* next;
    char* path;
    uint64_t offset;  ///< of its record in the spool of `generation`
    uint32_t generation;
    uint32_t open;           ///< how often it is open now
    uint32_t epoch;          ///< tokens and descriptions of an earlier one mean nothing any more
    uint32_t emptied;        ///< the epoch that began with another file, or an empty one
    FileState seen;          ///< as this process last opened or closed it
    Declarations* declared;  ///< nullptr: nothing
    bool closed_before;
    uint64_t settings_kept;  ///< a bit for each key
};

struct DatasetEntry {
    DatasetEntry* next;
    DatasetEntry* next_by_token;
    FileEntry* file;
    char* path;
    uint64_t offset;
    uint64_t path_hash;
    uint64_t type_bytes;
    uint64_t elements;
    uint64_t extents;  ///< offset of its record of extents
    uint64_t access;   ///< hash of the settings that it was opened with last, as far as kept
    uint64_t* dims;
    Track* track[2];
    Declarations* declared;  ///< nullptr: nothing
    uint32_t generation;
    uint32_t rank;
    uint32_t chunk_rank;
    uint32_t token_epoch;
    uint32_t described_epoch;
    uint32_t lives;  ///< how often it was made anew, as the spool of `generation` knows
    bool described;
    bool anew;  ///< it was, and what it looks like now is not told yet
    bool token_known;
    bool other_name;  ///< one is kept, and no more
    bool types_compared[2];
    bool settings_kept[2];   ///< those of its transfers
    bool types_differ[2];    ///< noted, of each direction
    bool address_asked;      ///< noted
    bool made_without_name;  ///< noted
    bool has_members;        ///< its elements are, or hold, compounds
    unsigned char token[16];
};

namespace recorder {

/// Lets one caller in, in the right process. Nothing may be recorded where it says no. The program
/// finds its errno as it was.
class Turn {
public:
    /// @param outcomes  for what became of a plan, not for what the program does
    explicit Turn(bool outcomes = false);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return x_open; }

private:
    int x_errno;
    bool x_open;
};

intent::spool::Writer& writer();
uint32_t generation();
/// The spool that a process this one was forked from wrote; nullptr: not known any more.
const char* base_of(uint32_t generation);
void widen(spool::Period& span, Took took);

using spooling::hash_of;
using spooling::mixed;
void count(spool::Calls& calls, uint64_t what, uint64_t about);

/// The record of an entry in this process' spool; nullptr where it has none.
spool::FileRecord* record_of(FileEntry* file);
spool::DatasetRecord* record_of(DatasetEntry* dataset);
/// Extents of its chunks; nullptr where the record tells none. Until the next record is added.
const uint64_t* chunk_of(DatasetEntry& entry);
/// What a chunk has within the extent; not known where the record tells no chunk.
ElementSet place_of_chunk(DatasetEntry& entry, const uint64_t* offset);
/// What it looks like is about to change: it has been made anew, or has another extent.
void new_life(DatasetEntry& entry, const uint64_t* dims);
void new_extent(DatasetEntry& entry, const uint64_t* dims);
void keep_settings(uint64_t of, const Settings& settings);

}  // namespace recorder
}  // namespace tailrace::hooks::vol
