// SPDX-License-Identifier: Apache-2.0
// What happens to one read or write: faults at the place of the real call, then the count, then
// (where the file is held) the error kept back.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "hooks/posix/tally.hpp"

namespace tailrace::hooks::posix {

/// A call as the program made it. A plain call has `length` bytes at `data`; a vector call
/// `length` iovec entries there.
struct Transfer {
    bool writes = false;
    bool vector = false;
    bool positioned = false;
    Family family = Family::write;
    int fd = -1;
    void* data = nullptr;
    size_t length = 0;
    int64_t offset = 0;  ///< where positioned; -1 (pwritev2): the file's own position
    int flags = 0;
    size_t room = 0;                             ///< of the fortified forms
    ssize_t (*make)(const Transfer&) = nullptr;  ///< the real call
};

/// Stands in for the real call: errno and return value are those of the call, or of the fault, or
/// of success where an error is held.  [local]
ssize_t observe(const Transfer& transfer);

/// Device and inode of an open regular file.
struct FileNumber {
    uint64_t device = 0, inode = 0;
};
/// False for anything that is not a regular file. Keeps errno.  [local]
bool regular_file(int fd, FileNumber& number);

/// Writes `skip` .. end of a transfer to a held file, piece by piece, until done or latched; counts
/// each piece as our retry. Returns the bytes done before the failure.  [local]
uint64_t write_rest(const Transfer& transfer, uint64_t skip, uint64_t asked, File& file,
                    Tally& tally);
/// Reads from `done` on, piece by piece, until all is there, the file ends, or a read fails: false
/// then. Counts as write_rest.  [local]
bool read_rest(const Transfer& transfer, uint64_t& done, uint64_t asked, Tally& tally);
/// Whether a failed read is for its caller also of a held file: to be made again (EINTR, EAGAIN),
/// or the call itself is wrong; its memory may not be touched then.  [local]
bool is_the_callers(int error);
/// Zeros in place of what a read could not get from byte `done` on. Returns how many of the bytes
/// asked lie before the end of the file: who reads up to it must find it.  [local]
uint64_t clear_from(const Transfer& transfer, uint64_t done, uint64_t asked);
/// Remembers the first failed write of a held file.  [local]
void latch(File& file, int error);
/// A write to a file whose failure is latched: counted as failed, not made.  [local]
void count_swallowed(File& file, Family family, uint64_t asked);
/// Number of files whose errors are held; none: nothing to look up.
extern std::atomic<unsigned> held_files;
/// Bytes of a transfer.  [local]
uint64_t size_of(const Transfer& transfer);
/// The first `bytes` of it by real calls, without faults. -1 where not even one byte went.  [local]
ssize_t make_first(const Transfer& transfer, uint64_t bytes);

/// True where this object counts: the preloaded library leaves it to a program that has the
/// interposer linked in.
bool active();
void find_whether_active();

}  // namespace tailrace::hooks::posix
