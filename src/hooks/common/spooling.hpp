// SPDX-License-Identifier: Apache-2.0
// What the connector and the preloaded hooks put into a spool in the same way. Only
// those marked [local] may be called out of turn.
#pragma once

#include "intent/spool/writer.hpp"

namespace tailrace::hooks {

namespace spool = intent::spool;

struct Took {
    int64_t start_ns;
    int64_t end_ns;
};

namespace spooling {

/// Nanoseconds; only differences mean something.  [local]
int64_t now();
/// The path without links; of a file that is not there (any more) it is that of its folder. The
/// "ufs:" of MPI-IO and the like go. The caller frees it; nullptr without memory.  [local]
char* absolute(const char* name);
/// The name as it is given, below the working folder, with its links. To be freed.  [local]
char* as_named(const char* name);
/// absolute() of what a call names that was told of a folder (a descriptor, or AT_FDCWD).  [local]
char* absolute_in(int folder, const char* name);
/// Of no text (nullptr) as of an empty one.  [local]
uint64_t hash_of(const char* text);
/// A hash with something more in it.  [local]
uint64_t mixed(uint64_t hash, uint64_t value);
/// One line on stderr, "tailrace: " and the text, by the first rank only.  [local]
void say(const char* text);
/// Writes to stderr, where that is open: else its number may be that of a file of data.  [local]
void to_standard_error(const char* line, size_t bytes);

/// The size in bytes that TAILRACE_PROFILE_MIB allows a spool.  [local]
uint64_t most_bytes();
/// Notes the command, the program, its folder, what the environment declares of files
/// (TAILRACE_INTENTS), and the MPI that is loaded.
void describe_program(spool::Writer& writer);
/// A new record of a file, with what the system says of it; 0: no room.
uint64_t add_file(spool::Writer& writer, const char* path);
/// Another name of the file or dataset whose record is at `of`.
void add_name(spool::Writer& writer, spool::Kind kind, uint64_t of, const char* name);

/// Relative to the begin of the spool, never negative.
int64_t relative(spool::Writer& writer, int64_t at);
void widen(spool::Writer& writer, spool::Period& span, Took took);

}  // namespace spooling
}  // namespace tailrace::hooks
