// SPDX-License-Identifier: Apache-2.0
// Counters per file and phase in fixed tables. No allocation, no lock on the way of a known file;
// usable in a signal handler and before any constructor.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <atomic>

namespace tailrace::hooks::posix {

inline constexpr unsigned max_files = 4096;
inline constexpr unsigned max_tallies = 8192;  ///< pairs of file and phase
inline constexpr unsigned max_phases = 64;     ///< the last one takes all further names
inline constexpr unsigned phase_name_size = 32;
inline constexpr unsigned path_size = 512;
inline constexpr unsigned size_classes = 48;

enum class Family : uint8_t { write, pwrite, writev, aio, uring };
inline constexpr unsigned families = 5;

using Counter = std::atomic<uint64_t>;

/// One call as the kernel saw it.
struct Outcome {
    uint64_t size = 0;   ///< bytes of this call: its size class
    uint64_t asked = 0;  ///< bytes it adds to what the program asked: 0 for our own retries
    int64_t result = 0;  ///< bytes done, or -1
    int error = 0;       ///< errno where result is -1
};

/// Calls in one direction.
struct Direction {
    Counter calls, bytes_asked, bytes_done, failed_calls, short_calls;
    Counter smallest_plus_1;  ///< 0: no call yet
    Counter largest;
    std::atomic<int> first_errno;
    Counter by_size[size_classes];

    void add(const Outcome& outcome);
    void clear();
};

struct Tally {
    Direction write, read;
    Counter by_family[families];  ///< of the writes

    void add_write(Family family, const Outcome& outcome);
    void clear();
};

/// A file that was seen. Its tallies are indices into the pool, 0: none.
struct File {
    std::atomic<uint64_t> device, inode;
    std::atomic<int64_t> birth_ns;  ///< numbers of inodes are used again; 0: not known
    std::atomic<bool> held;
    std::atomic<int> latched_errno;  ///< of the first failure while held; 0: none
    std::atomic<uint16_t> tally_of_phase[max_phases];
    char path[path_size];  ///< at the first call; cut where it is longer
};

/// The file of these numbers, or nullptr.  [local]
File* find_file(uint64_t device, uint64_t inode);
/// The same, added if it is new; `fd` gives its path. -1: without a path, and in one of the places
/// kept for that. nullptr: the table is full, or this is a signal handler that interrupted an
/// addition.  [local]
File* find_or_add_file(uint64_t device, uint64_t inode, int fd);
/// Where calls of `file` (may be nullptr) under `phase` are counted.  [local]
Tally& tally_of(File* file, unsigned phase);
/// Calls that found no place in the tables.  [local]
Tally& unattributed();
/// Drops file and counts.  [local]
void forget_file(uint64_t device, uint64_t inode);
/// Behind an open that may have made a file: drops the counts of a removed one that had its number.
/// Leaves errno alone.  [local]
void forget_former(int fd);
/// Whether the file at `path` is the one that was counted, and none that got its number.  [local]
bool is_still(const File& file, const char* path);
/// Visits every known file.  [local]
void for_each_file(void (*visit)(File& file, void* context), void* context);
/// A tally that exists, or nullptr.  [local]
Tally* existing_tally(const File& file, unsigned phase);

/// Index of a phase name, added if it is new.  [local]
unsigned phase_index(const char* name, unsigned length);
/// Index of a phase name that was entered before, or -1.  [local]
int find_phase(const char* name, unsigned length);
unsigned phase_count();
const char* phase_name(unsigned phase);
/// Of the calling thread; of one that never entered a phase: that of the only thread that did, or 0
/// where several have.  [local]
unsigned current_phase();
void set_current_phase(unsigned phase);  ///< of the calling thread  [local]

/// Everything to zero: a forked child counts for itself. Only where no other thread runs.  [local]
void reset_after_fork();

/// A spin lock that a signal handler cannot deadlock on: there it is simply not granted.
class TableLock {
public:
    TableLock();
    ~TableLock();
    TableLock(const TableLock&) = delete;
    TableLock& operator=(const TableLock&) = delete;
    [[nodiscard]] bool granted() const { return x_granted; }

private:
    bool x_granted;
};

}  // namespace tailrace::hooks::posix
