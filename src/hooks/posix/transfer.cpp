// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix/transfer.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/posix/faults.hpp"

// Marks who interposes; a preloaded copy looks for it (find_whether_active). The second name cannot
// be bound to another object's.
static const int own_mark __asm__("tailrace_posix_own_mark") = 1;
extern "C" __attribute__((visibility("default"), alias("tailrace_posix_own_mark")))
const int tailrace_posix_hook;

namespace tailrace::hooks::posix {
namespace {

constinit std::atomic<bool> is_active{true};

/// What is left of a transfer after `skip` bytes, as far as one plain or one-entry call can do it.
struct Piece {
    Transfer transfer;
    iovec entry;

    Piece(const Transfer& whole, uint64_t skip, uint64_t most) : transfer(whole), entry{} {
        if (whole.positioned && whole.offset >= 0)
            transfer.offset = whole.offset + static_cast<int64_t>(skip);
        if (skip > 0) transfer.flags &= ~RWF_NOWAIT;
        if (!whole.vector) {
            transfer.data = static_cast<char*>(whole.data) + skip;
            transfer.length = whole.length - skip < most ? whole.length - skip : most;
            transfer.room = whole.room - skip;
            return;
        }
        const auto* entries = static_cast<const iovec*>(whole.data);
        size_t index = 0;
        while (skip >= entries[index].iov_len) skip -= entries[index++].iov_len;
        size_t left = entries[index].iov_len - skip;
        entry = {static_cast<char*>(entries[index].iov_base) + skip, left < most ? left : most};
        transfer.data = &entry;
        transfer.length = 1;
    }
    Piece(const Piece&) = delete;  // transfer.data points inside
    [[nodiscard]] uint64_t size() const {
        return transfer.vector ? entry.iov_len : transfer.length;
    }
};

ssize_t make_with_faults(const Transfer& transfer) {
    if (!faults_active()) return transfer.make(transfer);
    uint64_t asked = size_of(transfer);
    Verdict verdict = decide(transfer.writes ? Op::write : Op::read, transfer.fd, asked);
    if (verdict.error != 0) {
        errno = verdict.error;
        return -1;
    }
    return verdict.limited && verdict.bytes < asked ? make_first(transfer, verdict.bytes)
                                                    : transfer.make(transfer);
}

void count(const Transfer& transfer, Tally& tally, const Outcome& outcome) {
    if (transfer.writes)
        tally.add_write(transfer.family, outcome);
    else
        tally.read.add(outcome);
}

ssize_t make_and_count(const Transfer& transfer, Tally& tally) {
    int before = errno;
    ssize_t result = make_with_faults(transfer);
    int error = errno;
    // The kernel has refused the memory of a vector: do not read it here.
    bool unreadable = result < 0 && (error == EFAULT || error == EINVAL);
    uint64_t size = transfer.vector && unreadable ? 0 : size_of(transfer);
    count(transfer, tally, {size, size, result, error});
    errno = result < 0 ? error : before;
    return result;
}

bool passes_through(int error) { return error == EINTR || error == EAGAIN; }

/// As far as the caller can tell the bytes were written, so the file's position moves over them.
void move_position(const Transfer& transfer, uint64_t bytes) {
    if (transfer.positioned && transfer.offset >= 0) return;
    int before = errno;
    (void)lseek(transfer.fd, static_cast<off_t>(bytes), SEEK_CUR);
    errno = before;
}

ssize_t write_held(const Transfer& transfer, File& file, Tally& tally) {
    uint64_t asked = size_of(transfer);
    auto complete = static_cast<ssize_t>(asked);
    if (file.latched_errno.load() != 0) {
        count_swallowed(file, transfer.family, asked);
        move_position(transfer, asked);
        return complete;
    }
    int before = errno;
    ssize_t result = make_and_count(transfer, tally);
    if (result == complete) return result;
    if (result < 0 && passes_through(errno)) return result;
    uint64_t done = 0;
    if (result < 0)
        latch(file, errno);
    else
        done = write_rest(transfer, static_cast<uint64_t>(result), asked, file, tally);
    if (done < asked) move_position(transfer, asked - done);
    errno = before;
    return complete;
}

/// Zeros in the memory of a read from byte `skip` on.
void clear_memory(const Transfer& transfer, uint64_t skip) {
    if (!transfer.vector) {
        memset(static_cast<char*>(transfer.data) + skip, 0, transfer.length - skip);
        return;
    }
    const auto* entries = static_cast<const iovec*>(transfer.data);
    for (size_t index = 0; index < transfer.length; ++index) {
        size_t kept = skip < entries[index].iov_len ? skip : entries[index].iov_len;
        size_t lost = entries[index].iov_len - kept;
        // An entry without bytes may have no memory.
        if (lost > 0) memset(static_cast<char*>(entries[index].iov_base) + kept, 0, lost);
        skip -= kept;
    }
}

/// Nothing is latched: a library that reads on finds what is there.
ssize_t read_held(const Transfer& transfer, Tally& tally) {
    int before = errno;
    ssize_t result = make_and_count(transfer, tally);
    if (result < 0 && is_the_callers(errno)) return result;
    uint64_t asked = size_of(transfer);
    uint64_t done = result < 0 ? 0 : static_cast<uint64_t>(result);
    if (result == 0 || done == asked) return result;
    bool failed = result < 0 || !read_rest(transfer, done, asked, tally);
    if (failed) {
        uint64_t lost = clear_from(transfer, done, asked);
        move_position(transfer, lost);
        done += lost;
    }
    errno = before;
    return static_cast<ssize_t>(done);
}

}  // namespace

constinit std::atomic<unsigned> held_files{0};

bool is_the_callers(int error) {
    return passes_through(error) || error == EFAULT || error == EINVAL || error == EBADF;
}

uint64_t size_of(const Transfer& transfer) {
    if (!transfer.vector) return transfer.length;
    constexpr size_t most_entries = 1024;  // IOV_MAX: the kernel refuses more
    if (transfer.length > most_entries) return 0;
    const auto* entries = static_cast<const iovec*>(transfer.data);
    uint64_t size = 0;
    for (size_t index = 0; index < transfer.length; ++index) size += entries[index].iov_len;
    return size;
}

ssize_t make_first(const Transfer& transfer, uint64_t bytes) {
    uint64_t done = 0;
    while (done < bytes) {
        Piece piece(transfer, done, bytes - done);
        ssize_t result = transfer.make(piece.transfer);
        if (result <= 0) return done > 0 ? static_cast<ssize_t>(done) : result;
        done += static_cast<uint64_t>(result);
    }
    return static_cast<ssize_t>(done);
}

uint64_t write_rest(const Transfer& transfer, uint64_t skip, uint64_t asked, File& file,
                    Tally& tally) {
    constexpr int most_interruptions = 1000;
    for (int interruptions = 0; skip < asked;) {
        Piece piece(transfer, skip, asked);
        ssize_t result = make_with_faults(piece.transfer);
        int error = errno;
        if (result < 0 && passes_through(error) && ++interruptions > most_interruptions)
            error = EIO;
        if (result == 0) {  // no progress and no reason: do not turn for ever
            result = -1;
            error = EIO;
        }
        count(transfer, tally, {piece.size(), 0, result, error});
        if (result > 0) {
            skip += static_cast<uint64_t>(result);
        } else if (!passes_through(error)) {
            latch(file, error);
            break;
        }
    }
    return skip;
}

bool read_rest(const Transfer& transfer, uint64_t& done, uint64_t asked, Tally& tally) {
    constexpr int most_interruptions = 1000;
    for (int interruptions = 0; done < asked;) {
        Piece piece(transfer, done, asked);
        ssize_t result = make_with_faults(piece.transfer);
        int error = errno;
        if (result < 0 && passes_through(error) && ++interruptions > most_interruptions)
            error = EIO;
        count(transfer, tally, {piece.size(), 0, result, error});
        if (result == 0) return true;  // the end of the file
        if (result > 0)
            done += static_cast<uint64_t>(result);
        else if (!passes_through(error))
            return false;
    }
    return true;
}

uint64_t clear_from(const Transfer& transfer, uint64_t done, uint64_t asked) {
    clear_memory(transfer, done);
    const bool has_place = transfer.positioned && transfer.offset >= 0;
    const int64_t here =
        has_place ? transfer.offset + static_cast<int64_t>(done) : lseek(transfer.fd, 0, SEEK_CUR);
    struct stat status;
    if (here < 0 || fstat(transfer.fd, &status) != 0 || here >= status.st_size) return 0;
    auto left = static_cast<uint64_t>(status.st_size - here);
    return asked - done < left ? asked - done : left;
}

void latch(File& file, int error) {
    int none = 0;
    file.latched_errno.compare_exchange_strong(none, error);
}

void count_swallowed(File& file, Family family, uint64_t asked) {
    tally_of(&file, current_phase())
        .add_write(family, {asked, asked, -1, file.latched_errno.load()});
}

bool regular_file(int fd, FileNumber& number) {
    int before = errno;
    struct stat status;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    errno = before;
    if (regular) number = {status.st_dev, status.st_ino};
    return regular;
}

ssize_t observe(const Transfer& transfer) {
    FileNumber number;
    if (!active() || !regular_file(transfer.fd, number)) return transfer.make(transfer);
    int before = errno;
    File* file = find_or_add_file(number.device, number.inode, transfer.fd);
    Tally& tally = tally_of(file, current_phase());
    errno = before;
    if (file != nullptr && file->held.load(std::memory_order_acquire))
        return transfer.writes ? write_held(transfer, *file, tally) : read_held(transfer, tally);
    return make_and_count(transfer, tally);
}

bool active() { return is_active.load(std::memory_order_relaxed); }

void find_whether_active() {
    const void* first = dlsym(RTLD_DEFAULT, "tailrace_posix_hook");
    is_active.store(first == nullptr || first == &own_mark);
}

}  // namespace tailrace::hooks::posix
