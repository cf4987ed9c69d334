// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix/tally.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tailrace::hooks::posix {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
// The kernel never transfers more in one call (MAX_RW_COUNT); less than asked is not short then.
constexpr uint64_t kernel_limit = 0x7ffff000;
constexpr unsigned kept_files = 64, kept_tallies = 1024;

enum State : uint8_t { empty, ready, gone };

// Zero pages until used: the tables cost memory only for what is seen.
constinit std::atomic<uint8_t> states[max_files]{};
File files[max_files];
Tally pool[max_tallies];  // pool[0] takes what finds no place
constinit std::atomic<unsigned> files_used{0};
uint16_t free_tallies[max_tallies];
unsigned free_count = 0, pool_used = 1;

char phase_names[max_phases][phase_name_size] = {""};
constinit std::atomic<unsigned> phases_known{1};

// The phase of a call is that of its thread. A thread that never entered one works for the one that
// did (a library's helper), as long as there is only one such thread.
constexpr unsigned never = ~0U;
__attribute__((tls_model("initial-exec"))) thread_local unsigned own_phase = never;
constinit std::atomic<const void*> only_thread{nullptr};  // by the address of its own_phase
constinit std::atomic<unsigned> only_phase{0};
constinit std::atomic<bool> several_threads{false};

constinit std::atomic<bool> table_locked{false};
__attribute__((tls_model("initial-exec"))) thread_local bool holds_lock = false;

unsigned first_place(uint64_t device, uint64_t inode) {
    uint64_t mixed = (inode ^ (device << 32) ^ (device >> 32)) * 0x9e3779b97f4a7c15ULL;
    return static_cast<unsigned>(mixed >> 40) % max_files;
}

int place_of(uint64_t device, uint64_t inode) {
    unsigned place = first_place(device, inode);
    for (unsigned step = 0; step < max_files; ++step, place = (place + 1) % max_files) {
        uint8_t state = states[place].load(std::memory_order_acquire);
        if (state == empty) return -1;
        if (state == ready && files[place].inode.load(relaxed) == inode &&
            files[place].device.load(relaxed) == device)
            return static_cast<int>(place);
    }
    return -1;
}

int free_place(uint64_t device, uint64_t inode) {
    unsigned place = first_place(device, inode);
    for (unsigned step = 0; step < max_files; ++step, place = (place + 1) % max_files)
        if (states[place].load(relaxed) != ready) return static_cast<int>(place);
    return -1;
}

void read_path(int fd, char (&path)[path_size]) {
    path[0] = 0;
    if (fd < 0) return;
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, path_size - 1);
    path[length < 0 ? 0 : length] = 0;
}

/// When the inode was made, in ns; 0 where the file system does not tell.
int64_t birth_of(int folder, const char* path) {
    struct statx status {};
    const int flags = path[0] == 0 ? AT_EMPTY_PATH : 0;
    if (statx(folder, path, flags, STATX_BTIME, &status) != 0 ||
        (status.stx_mask & STATX_BTIME) == 0)
        return 0;
    return status.stx_btime.tv_sec * int64_t{1'000'000'000} + status.stx_btime.tv_nsec;
}

bool is_another(const File& file, int64_t birth) {
    const int64_t known = file.birth_ns.load(relaxed);
    return known != 0 && birth != 0 && known != birth;
}

/// The last ones are kept for files whose errors are held: those must be counted.
unsigned take_tally(bool held) {
    unsigned left = free_count + max_tallies - pool_used;
    if (left == 0 || (!held && left <= kept_tallies)) return 0;
    return free_count > 0 ? free_tallies[--free_count] : pool_used++;
}

}  // namespace

TableLock::TableLock() : x_granted(!holds_lock) {
    if (!x_granted) return;
    holds_lock = true;
    while (table_locked.exchange(true, std::memory_order_acquire)) sched_yield();
}

TableLock::~TableLock() {
    if (!x_granted) return;
    table_locked.store(false, std::memory_order_release);
    holds_lock = false;
}

void Direction::add(const Outcome& outcome) {
    calls.fetch_add(1, relaxed);
    bytes_asked.fetch_add(outcome.asked, relaxed);
    if (outcome.result < 0) {
        if (outcome.error != EINTR && outcome.error != EAGAIN) {
            failed_calls.fetch_add(1, relaxed);
            int none = 0;
            first_errno.compare_exchange_strong(none, outcome.error, relaxed);
        }
    } else {
        auto done = static_cast<uint64_t>(outcome.result);
        bytes_done.fetch_add(done, relaxed);
        if (done < outcome.size && done < kernel_limit) short_calls.fetch_add(1, relaxed);
    }
    uint64_t smallest = smallest_plus_1.load(relaxed);
    while ((smallest == 0 || outcome.size + 1 < smallest) &&
           !smallest_plus_1.compare_exchange_weak(smallest, outcome.size + 1, relaxed)) {
    }
    uint64_t most = largest.load(relaxed);
    while (outcome.size > most && !largest.compare_exchange_weak(most, outcome.size, relaxed)) {
    }
    unsigned size_class = outcome.size < 2 ? 0 : 63 - __builtin_clzll(outcome.size);
    if (size_class >= size_classes) size_class = size_classes - 1;
    by_size[size_class].fetch_add(1, relaxed);
}

void Direction::clear() {
    for (Counter* counter : {&calls, &bytes_asked, &bytes_done, &failed_calls, &short_calls,
                             &smallest_plus_1, &largest})
        counter->store(0, relaxed);
    first_errno.store(0, relaxed);
    for (Counter& counter : by_size) counter.store(0, relaxed);
}

void Tally::add_write(Family family, const Outcome& outcome) {
    write.add(outcome);
    by_family[static_cast<unsigned>(family)].fetch_add(1, relaxed);
}

void Tally::clear() {
    write.clear();
    read.clear();
    for (Counter& counter : by_family) counter.store(0, relaxed);
}

File* find_file(uint64_t device, uint64_t inode) {
    int place = place_of(device, inode);
    return place < 0 ? nullptr : &files[place];
}

File* find_or_add_file(uint64_t device, uint64_t inode, int fd) {
    if (File* known = find_file(device, inode)) return known;
    TableLock lock;
    if (!lock.granted()) return nullptr;
    if (File* known = find_file(device, inode)) return known;
    bool full = fd >= 0 && files_used.load(relaxed) >= max_files - kept_files;
    int place = full ? -1 : free_place(device, inode);
    if (place < 0) return nullptr;
    File& file = files[place];
    file.device.store(device, relaxed);
    file.inode.store(inode, relaxed);
    file.held.store(false, relaxed);
    file.latched_errno.store(0, relaxed);
    for (auto& index : file.tally_of_phase) index.store(0, relaxed);
    file.birth_ns.store(fd < 0 ? 0 : birth_of(fd, ""), relaxed);
    read_path(fd, file.path);
    files_used.fetch_add(1, relaxed);
    states[place].store(ready, std::memory_order_release);
    return &file;
}

Tally& unattributed() { return pool[0]; }

Tally* existing_tally(const File& file, unsigned phase) {
    unsigned index = file.tally_of_phase[phase].load(std::memory_order_acquire);
    return index == 0 ? nullptr : &pool[index];
}

Tally& tally_of(File* file, unsigned phase) {
    if (file == nullptr) return pool[0];
    if (Tally* known = existing_tally(*file, phase)) return *known;
    TableLock lock;
    if (!lock.granted()) return pool[0];
    if (Tally* known = existing_tally(*file, phase)) return *known;
    unsigned index = take_tally(file->held.load(relaxed));
    file->tally_of_phase[phase].store(static_cast<uint16_t>(index), std::memory_order_release);
    return pool[index];
}

void forget_file(uint64_t device, uint64_t inode) {
    TableLock lock;
    if (!lock.granted()) return;
    int place = place_of(device, inode);
    if (place < 0) return;
    for (auto& index : files[place].tally_of_phase) {
        unsigned tally = index.exchange(0, relaxed);
        if (tally == 0) continue;
        pool[tally].clear();
        free_tallies[free_count++] = static_cast<uint16_t>(tally);
    }
    states[place].store(gone, std::memory_order_release);
    files_used.fetch_sub(1, relaxed);
    // Marks at the end of a run of places serve no search any more.
    auto at = static_cast<unsigned>(place);
    while (states[(at + 1) % max_files].load(relaxed) == empty &&
           states[at].load(relaxed) == gone) {
        states[at].store(empty, std::memory_order_release);
        at = (at + max_files - 1) % max_files;
    }
}

void forget_former(int fd) {
    const int error = errno;
    struct stat status;
    if (files_used.load(relaxed) > 0 && fstat(fd, &status) == 0) {
        const File* known = find_file(status.st_dev, status.st_ino);
        if (known != nullptr && !known->held.load(relaxed) && is_another(*known, birth_of(fd, "")))
            forget_file(status.st_dev, status.st_ino);
    }
    errno = error;
}

bool is_still(const File& file, const char* path) {
    return !is_another(file, birth_of(AT_FDCWD, path));
}

void for_each_file(void (*visit)(File& file, void* context), void* context) {
    if (files_used.load(relaxed) == 0) return;
    for (unsigned place = 0; place < max_files; ++place)
        if (states[place].load(std::memory_order_acquire) == ready) visit(files[place], context);
}

int find_phase(const char* name, unsigned length) {
    if (length == 0) name = "";  // an empty view may point nowhere
    if (length >= phase_name_size) length = phase_name_size - 1;
    unsigned known = phases_known.load(std::memory_order_acquire);
    for (unsigned phase = 0; phase < known; ++phase)
        if (strncmp(phase_names[phase], name, length) == 0 && phase_names[phase][length] == 0)
            return static_cast<int>(phase);
    return -1;
}

unsigned phase_index(const char* name, unsigned length) {
    if (length == 0) name = "";
    int phase = find_phase(name, length);
    if (phase >= 0) return static_cast<unsigned>(phase);
    TableLock lock;
    if (!lock.granted()) return 0;
    phase = find_phase(name, length);
    if (phase >= 0) return static_cast<unsigned>(phase);
    unsigned next = phases_known.load(relaxed);
    if (next == max_phases) return max_phases - 1;
    if (next == max_phases - 1) {
        name = "(further phases)";
        length = static_cast<unsigned>(strlen(name));
    }
    if (length >= phase_name_size) length = phase_name_size - 1;
    memcpy(phase_names[next], name, length);
    phase_names[next][length] = 0;
    phases_known.store(next + 1, std::memory_order_release);
    return next;
}

unsigned phase_count() { return phases_known.load(std::memory_order_acquire); }
const char* phase_name(unsigned phase) { return phase_names[phase]; }

unsigned current_phase() {
    if (own_phase != never) return own_phase;
    return several_threads.load(relaxed) ? 0 : only_phase.load(relaxed);
}

void set_current_phase(unsigned phase) {
    own_phase = phase;
    const void* known = nullptr;
    if (only_thread.compare_exchange_strong(known, &own_phase, relaxed) || known == &own_phase)
        only_phase.store(phase, relaxed);
    else
        several_threads.store(true, relaxed);
}

void reset_after_fork() {
    // Another thread of the parent may have held the lock; it does not exist here.
    holds_lock = false;
    table_locked.store(false, relaxed);
    for (auto& state : states)
        if (state.load(relaxed) != empty) state.store(empty, relaxed);
    for (unsigned index = 0; index < pool_used; ++index) pool[index].clear();
    free_count = 0;
    pool_used = 1;
    files_used.store(0, relaxed);
    // Of the threads only the one that forked is here.
    several_threads.store(false, relaxed);
    only_thread.store(own_phase == never ? nullptr : &own_phase, relaxed);
    only_phase.store(own_phase == never ? 0 : own_phase, relaxed);
}

}  // namespace tailrace::hooks::posix
