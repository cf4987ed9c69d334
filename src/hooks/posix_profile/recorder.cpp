// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix_profile/recorder.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "hooks/common/steps.hpp"
#include "hooks/posix_profile/wanted.hpp"

namespace tailrace::hooks {

const spool::Hook session::hook = spool::hook_posix;

namespace posix_profile {
namespace {

using session::Turn;
using session::widen;
using session::writer;
using spool::PosixRecord;
using spool::PosixTransfersRecord;

constexpr int most_descriptors = 1 << 16;
constexpr uint64_t memory_alignment = 8;
/// By layer and descriptor; nullptr: not recorded. Constant-initialised: used before constructors.
std::atomic<FileEntry*> table[2][most_descriptors];
/// Stands there for the file of a descriptor that came with the process, until that is used.
FileEntry not_used_yet;

std::atomic<FileEntry*>* place(int fd, Layer layer) {
    return fd >= 0 && fd < most_descriptors ? &table[layer][fd] : nullptr;
}

FileEntry* file_of(int fd, Layer layer) {
    const auto* at = place(fd, layer);
    return at != nullptr ? at->load(std::memory_order_relaxed) : nullptr;
}

PosixRecord* record_of(FileEntry* file, Layer layer) {
    auto* record = files::layer_of<PosixRecord>(file, spool::kind_posix, layer);
    if (record != nullptr) record->stream = layer == streams ? 1 : 0;
    return record;
}

int64_t length(Took took) { return took.end_ns - took.start_ns; }

bool is_regular(int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/// The path of the file behind a descriptor, in `path`; false where it is none that is recorded.
bool find_path(int fd, bool writes, char (&path)[PATH_MAX]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t bytes = readlink(link, path, sizeof path - 1);
    if (bytes <= 0) return false;
    path[bytes] = '\0';
    return wanted(path, writes, session::folder()) && is_regular(fd);
}

/// The file of a descriptor. Where that came with the process it is found at its first use, and is
/// not counted as opened. In turn only.
FileEntry* known(int fd, Layer layer) {
    FileEntry* file = file_of(fd, layer);
    if (file != &not_used_yet) return file;
    static char path[PATH_MAX];  // stacks may be small
    const int flags = fcntl(fd, F_GETFL);
    const bool found = flags != -1 && find_path(fd, (flags & O_ACCMODE) != O_RDONLY, path);
    file = found ? files::of_path(path) : nullptr;
    place(fd, layer)->store(file, std::memory_order_relaxed);
    PosixRecord* record = record_of(file, layer);
    if (record != nullptr && (flags & O_APPEND) != 0) ++record->append_opens;
    return file;
}

/// A folder, a device: nothing that is recorded when it can be opened.
bool is_special(const char* path) {
    struct stat status {};
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/// Of files that are not there only those are of interest that the program expected beside it.
bool below_working_folder(const char* path) {
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) == nullptr) return false;
    const size_t bytes = strlen(folder);
    return strncmp(path, folder, bytes) == 0 && path[bytes] == '/' &&
           strstr(path + bytes, "/.") == nullptr;
}

/// Who opened a stream and moves bytes by its descriptor (the streams of C++ do, and who asks
/// fileno()) uses the file as if open() had made that. Only transfers lead here: a program that
/// asks a stream's descriptor for its size, or syncs it, has its data in the stream.
void take_over(int fd) {
    if (file_of(fd, calls) != nullptr) return;
    FileEntry* file = known(fd, streams);
    if (file == nullptr) return;
    place(fd, calls)->store(file);
    PosixRecord* record = record_of(file, calls);
    if (record == nullptr) return writer().dropped(spool::kind_other);
    const int flags = fcntl(fd, F_GETFL);
    ++record->opens;  // its time is that of the stream's
    if (flags == -1) return;
    if ((flags & O_ACCMODE) != O_RDONLY) ++record->write_opens;
    if ((flags & O_APPEND) != 0) ++record->append_opens;
}

/// Distance from the end of the transfer before, in either direction, to this one.
void count_stride(PosixRecord& record, uint64_t start) {
    if (record.last_direction == 0) return;
    const uint64_t before = record.transfers[record.last_direction - 1].places.last_end;
    if (start >= before) files::count(record.strides, start - before);
}

}  // namespace

bool tracked(int fd, Layer layer) {
    const bool is =
        file_of(fd, layer) != nullptr || (layer == calls && file_of(fd, streams) != nullptr);
    return is && !session::inside();
}

void opened(int fd, int flags, Layer layer, Took took) {
    auto* at = place(fd, layer);
    if (at == nullptr || !session::ours()) return;
    const int error = errno;
    // What was known of the number is of a descriptor that was closed where nobody saw it.
    place(fd, layer == calls ? streams : calls)->store(nullptr, std::memory_order_relaxed);
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    char path[PATH_MAX];
    const bool found = find_path(fd, writes, path);
    errno = error;
    if (!found) return at->store(nullptr, std::memory_order_relaxed);
    const Turn turn;
    FileEntry* file = turn ? files::of_path(path) : nullptr;
    at->store(file, std::memory_order_relaxed);
    if (file == nullptr) return;
    PosixRecord* record = record_of(file, layer);
    if (record == nullptr) return writer().dropped(spool::kind_other);
    ++record->opens;
    if (writes) ++record->write_opens;
    if ((flags & O_APPEND) != 0) ++record->append_opens;
    widen(record->open, took);
    record->metadata_ns += length(took);
}

void given(int fd) {
    auto* at = place(fd, calls);
    if (at == nullptr || tracked(fd)) return;
    const int flags = fcntl(fd, F_GETFL);
    char path[PATH_MAX];
    if (flags == -1 || !find_path(fd, (flags & O_ACCMODE) != O_RDONLY, path)) return;
    at->store(&not_used_yet, std::memory_order_relaxed);
    // The C library has streams above these without anybody opening them.
    if (fd == STDIN_FILENO || fd == STDOUT_FILENO) place(fd, streams)->store(&not_used_yet);
}

void not_opened(int folder, const char* name, int flags, Layer layer, Took took) {
    const int error = errno;
    if (name == nullptr || error == EFAULT || error == EINTR || !session::ours()) return;
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (name[0] == '/' && !wanted(name, writes, session::folder())) return;
    const bool missing = error == ENOENT || error == ENOTDIR;
    char* path = spooling::absolute_in(folder, name);
    // A process that records nothing else is not to begin a spool for names that are left out.
    const bool interesting = path != nullptr && wanted(path, writes, session::folder()) &&
                             !is_special(path) &&
                             (writes || !missing || below_working_folder(path));
    errno = error;
    if (interesting) {
        const Turn turn;
        PosixRecord* record = turn ? record_of(files::of_path(path), layer) : nullptr;
        if (record != nullptr) {
            ++record->failed_opens;
            record->metadata_ns += length(took);
        }
    }
    free(path);
}

void copied(int from, int to) {
    auto* at = place(to, calls);
    if (at == nullptr || !session::ours()) return;
    if (tracked(from) && file_of(from, calls) == nullptr) {
        const Turn turn;
        if (turn) take_over(from);
    }
    FileEntry* file = file_of(from, calls);
    at->store(file);
    // A stream that was above `to` goes on with the other file.
    auto* stream = place(to, streams);
    if (stream->load(std::memory_order_relaxed) != nullptr) stream->store(file);
}

void made_stream(int fd, Took took) {
    FileEntry* file = file_of(fd, calls);
    auto* at = place(fd, streams);
    if (file == nullptr || at == nullptr) return;
    if (file == &not_used_yet) return at->store(file);
    const Turn turn;
    PosixRecord* record = turn ? record_of(file, streams) : nullptr;
    if (record == nullptr) return;
    at->store(file);
    ++record->opens;
    widen(record->open, took);
}

void closed(int fd, Layer layer, Took took) {
    auto* at = place(fd, layer);
    if (at == nullptr || at->load(std::memory_order_relaxed) == nullptr || !session::ours()) return;
    FileEntry* file = at->exchange(nullptr);
    if (file == &not_used_yet) return;
    const Turn turn;
    PosixRecord* record = turn && file != nullptr ? record_of(file, layer) : nullptr;
    if (record == nullptr) return;
    ++record->closes;
    widen(record->close, took);
    record->metadata_ns += length(took);
}

void moved(int fd, Layer layer, const Moved& what, Took took) {
    const Turn turn;
    if (turn && layer == calls) take_over(fd);
    PosixRecord* record = turn ? record_of(known(fd, layer), layer) : nullptr;
    if (record == nullptr) return;
    PosixTransfersRecord& to = record->transfers[what.direction];
    to.elapsed_ns += length(took);
    if (what.result < 0) {
        ++to.failed;
        return;
    }
    const auto bytes = static_cast<uint64_t>(what.result);
    if (what.offset >= 0) {
        const auto start = static_cast<uint64_t>(what.offset);
        count_stride(*record, start);
        steps::follow(to.places, start, start + bytes);
        const uint64_t block = writer().at<spool::FileRecord>(record->file).block_bytes;
        if (block > 0 && start % block != 0) ++record->not_aligned_in_file;
    }
    if (reinterpret_cast<uintptr_t>(what.memory) % memory_alignment != 0) {
        ++record->not_aligned_in_memory;
    }
    ++to.calls;
    to.bytes += bytes;
    widen(to.active, took);
    files::count(to.sizes, bytes);
    if (record->last_direction != 0 && record->last_direction != what.direction + 1U) {
        ++record->switches;
    }
    record->last_direction = what.direction + 1U;
}

void other(int fd, Layer layer, Other what, Took took) {
    if (layer == calls && file_of(fd, calls) == nullptr) layer = streams;
    // Programs ask where they stand in what they were given; that alone is no use of it.
    if (what == Other::seek && file_of(fd, layer) == &not_used_yet) return;
    const Turn turn;
    PosixRecord* record = turn ? record_of(known(fd, layer), layer) : nullptr;
    if (record == nullptr) return;
    if (what == Other::seek) ++record->seeks;
    if (what == Other::sync) ++record->syncs;
    if (what == Other::map) ++record->maps;
    record->metadata_ns += length(took);
}

}  // namespace posix_profile
}  // namespace tailrace::hooks
