// SPDX-License-Identifier: Apache-2.0
// Keeps the spool of this process: files, datasets and counters. Knows nothing of HDF5. Nothing
// here fails; what finds no room is counted. One caller at a time is let in, a fork begins a spool
// of its own at its first call.
#pragma once

#include <stddef.h>

#include "hooks/common/outcomes.hpp"
#include "hooks/vol/record/facts.hpp"

namespace tailrace::hooks::vol {

struct FileEntry;
struct DatasetEntry;

/// What one read has given.
struct Delivered {
    const char* file;
    const char* dataset;
    uint64_t bytes;
    uint64_t hash;
    bool hashed;
};

namespace recorder {

/// Whether TAILRACE_MODE asks for recording and there is a folder for it.  [local]
bool on();
/// Whether TAILRACE_MODE asks for a plan to be applied.  [local]
bool applying();
/// Counts an outcome; nothing where there is no folder for it.  [local]
void outcome(const Outcome& outcome);
/// Whether what reads give is to be hashed: where a plan is applied, and TAILRACE_DELIVERED is
/// 1.  [local]
bool hashing();
void delivered(const Delivered& delivered);
using spooling::absolute;
using spooling::now;
using spooling::say;

void library(const unsigned version[3], bool parallel, const char* path);

/// One stat; unknown where there is no such file.  [local]
FileState state_of(const char* name);

/// A file that was opened or created. nullptr: it is not recorded.  [local]
FileEntry* file_opened(const char* name, const FileFacts& facts, Took took);
void file_reopened(FileEntry* file, Took took);
void file_closed(FileEntry* file, Took took);
/// Objects that were still open when the file was closed.
void left_open(FileEntry* file, const uint64_t kinds_open[spool::objects]);
void file_flushed(FileEntry* file, Took took);
void file_deleted(const char* name);

/// What the program declares of it: JSON, noted down once.
void declared(FileEntry* file, spool::DeclaredBy by, const char* text, size_t bytes);
void declared(DatasetEntry* dataset, spool::DeclaredBy by, const char* text, size_t bytes);
/// Counts one that is longer than is kept.
void declared_too_long();

/// One operation on the structure of a file.
/// @param name     of what it is about; nullptr: not known
/// @param collective  whether all ranks have to make it, in the same order
void operation(FileEntry* file, spool::Object object, spool::Operation operation, const char* name,
               bool collective, Took took);
void attribute_bytes(FileEntry* file, DatasetEntry* dataset, uint64_t bytes, bool written);
void attribute_of(DatasetEntry* dataset);
void failed(FileEntry* file);

/// The file that something reached through an external link lies in.
FileEntry* file_beside(const char* name);

/// The entry of a dataset, made where there is none.
/// @param token  16 bytes that identify it within the file, whatever it is called; nullptr: not
/// known
/// @param created  it is new: whatever had its token before is gone
/// @param known    out: whether describe() was called for it, and nobody else has changed the file
/// since
DatasetEntry* dataset(FileEntry* file, const char* path, const unsigned char* token, bool created,
                      bool* known);
/// The same for a dataset that has no name yet, and its name when it gets one.
DatasetEntry* anonymous(FileEntry* file, const unsigned char* token, bool created, bool* known);
/// The name of a dataset by its token; "": it has none yet; nullptr: it is not known. Good until
/// the next call.
const char* path_of(const FileEntry* file, const unsigned char* token);
/// A dataset whose name is not found: it is missing in the profile.
/// @param token  nullptr: not known
/// @param why    kind_unnamed or kind_unnamed_of_ranks
void not_named(FileEntry* file, const unsigned char* token, spool::Kind why);
void named(DatasetEntry* dataset, const char* path);
/// Says what a dataset looks like; once more where one of this name was created anew.
/// @return the entry, another one where it has other dimensions now
DatasetEntry* describe(DatasetEntry* dataset, const DatasetFacts& facts);
/// Whether nothing of it was read or written yet.  [local]
bool untouched(const DatasetEntry* dataset);
/// The access settings of a further open, before anything was read or written: netCDF opens each
/// variable with its default chunk cache, and again with that of `nc_set_var_chunk_cache`.
void opened_otherwise(DatasetEntry* dataset, const Settings& access);
void dataset_opened(DatasetEntry* dataset, bool created, Took took);
void dataset_closed(DatasetEntry* dataset, Took took);
void dataset_flushed(DatasetEntry* dataset);
void dataset_extended(DatasetEntry* dataset, const uint64_t* dims, uint32_t rank);
/// Before the call, which may never return where ranks do not all make it; then what it did.
void begun(DatasetEntry* dataset, spool::Direction direction, bool collective);
void transfer(DatasetEntry* dataset, const Transfer& transfer);
/// A chunk that was transferred as it lies in the file.
/// @param offset  of its first element; as many numbers as the dataset has dimensions
void direct_chunk(DatasetEntry* dataset, spool::Direction direction, const uint64_t* offset,
                  uint64_t bytes, Took took);
/// Whether the types of a transfer in this direction are to be compared: once.
bool types_wanted(const DatasetEntry* dataset, spool::Direction direction);
/// Whether a write may leave members of its elements as they were: to be looked at each time.
bool may_write_in_part(const DatasetEntry* dataset);
void types_compared(DatasetEntry* dataset, spool::Direction direction, bool differ);
/// The program has asked where in the file it lies, and may go on there by itself.
void address_asked(DatasetEntry* dataset);
/// It was created before it had a name, by which no plan can know it.
void made_without_name(DatasetEntry* dataset);
/// Whether what the program sets for a transfer is to be looked at: once in each direction.
bool transfer_settings_wanted(const DatasetEntry* dataset, spool::Direction direction);
void transfer_settings(DatasetEntry* dataset, spool::Direction direction, const Settings& settings);
/// How a transfer was really done; learnt later than the transfer.
void done_as(DatasetEntry* dataset, spool::Direction direction, spool::ActualMode actual,
             uint32_t causes);

/// The extent as last seen; rank 0 where not described.
uint64_t elements(const DatasetEntry* dataset);
uint32_t extent(const DatasetEntry* dataset, uint64_t* dims);

}  // namespace recorder
}  // namespace tailrace::hooks::vol
