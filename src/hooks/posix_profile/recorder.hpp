// SPDX-License-Identifier: Apache-2.0
// What is kept of the system calls and streams of a process: by descriptor, the file; of each file
// sizes, order and alignment.
#pragma once

#include "hooks/common/files.hpp"

namespace tailrace::hooks::posix_profile {

/// Calls on a descriptor, or on a stream above it: two records of a file.
enum Layer : unsigned { calls = 0, streams = 1 };

struct Moved {
    spool::Direction direction;
    int64_t offset;      ///< where it began; -1: not known
    int64_t result;      ///< bytes, or -1: it failed
    const void* memory;  ///< nullptr: not looked at
};

/// Whether calls on the descriptor are recorded: those of `calls` are that too where only a stream
/// was opened.  [local]
bool tracked(int fd, Layer layer = calls);
/// A descriptor that was made by opening; `flags` are those of open(). It is looked at once more.
void opened(int fd, int flags, Layer layer, Took took);
/// A descriptor that came with the process, from whoever started it. Nothing is recorded of it, nor
/// is a spool begun, until something is done with it. For the begin of the process.
void given(int fd);
/// A file that could not be opened, as the call named it; `folder` is that of openat(). Names that
/// programs only try out are left alone.
void not_opened(int folder, const char* name, int flags, Layer layer, Took took);
/// A second descriptor of the same open file.
void copied(int from, int to);
/// The stream is one above a descriptor that is tracked.
void made_stream(int fd, Took took);
void closed(int fd, Layer layer, Took took);
/// Bytes count in the layer of the call that moved them, whoever opened the file.
void moved(int fd, Layer layer, const Moved& what, Took took);
enum class Other { seek, sync, map };
/// With `calls` those of the stream where nothing was moved by descriptor yet.
void other(int fd, Layer layer, Other what, Took took);

}  // namespace tailrace::hooks::posix_profile
