// SPDX-License-Identifier: Apache-2.0
// io_uring as liburing offers it. Requests are read from the submission queue when they are handed
// to the kernel, results from the completion queue whenever the program comes by; what this cannot
// see is listed in docs/developer/interposer.md.
#include "hooks/posix/uring.hpp"

#if __has_include(<liburing.h>)

#include <errno.h>
#include <liburing.h>
#include <sys/uio.h>

#include "hooks/posix/real.hpp"
#include "hooks/posix/tally.hpp"
#include "hooks/posix/transfer.hpp"
#include "hooks/posix/wrap.hpp"

namespace tailrace::hooks::posix {
namespace {

constexpr unsigned max_rings = 64;
constexpr unsigned max_pending = 4096;
constexpr unsigned buckets = 1024;
constexpr uint16_t nobody = 0xffff;

/// A ring that was seen submitting. The pointers are the kernel's mappings, which outlive the
/// program's struct until io_uring_queue_exit.
struct Ring {
    const unsigned* completed;  ///< the kernel's tail of the completion queue; nullptr: free
    const io_uring_cqe* results;
    unsigned mask, shift;
    unsigned submitted_seen, completed_seen;
    uint32_t life;  ///< differs for each ring that had this place
};

struct Pending {
    uint64_t user_data, device, inode, asked;
    uint32_t life;
    uint16_t phase, next;
    bool writes;
};

Ring rings[max_rings];
Pending pending[max_pending];
uint16_t first_of_bucket[buckets], free_pending = nobody, never_used = 0;
uint32_t lives = 0;
bool buckets_ready = false;

uint16_t& bucket_of(uint64_t user_data, uint32_t life) {
    if (!buckets_ready) {
        for (uint16_t& first : first_of_bucket) first = nobody;
        buckets_ready = true;
    }
    return first_of_bucket[(user_data * 0x9e3779b97f4a7c15ULL + life) >> 40 & (buckets - 1)];
}

/// At the end of its bucket, since equal user_data are answered first come, first served.
void remember(const Pending& request) {
    uint16_t place = free_pending;
    if (place != nobody)
        free_pending = pending[place].next;
    else if (never_used < max_pending)
        place = never_used++;
    else
        return unattributed().add_write(Family::uring, {request.asked, request.asked, 0, 0});
    pending[place] = request;
    pending[place].next = nobody;
    uint16_t* end = &bucket_of(request.user_data, request.life);
    while (*end != nobody) end = &pending[*end].next;
    *end = place;
}

bool take(uint64_t user_data, uint32_t life, Pending& request) {
    for (uint16_t* at = &bucket_of(user_data, life); *at != nobody; at = &pending[*at].next) {
        uint16_t place = *at;
        if (pending[place].user_data != user_data || pending[place].life != life) continue;
        request = pending[place];
        *at = pending[place].next;
        pending[place].next = free_pending;
        free_pending = place;
        return true;
    }
    return false;
}

void count_result(const Ring& ring, const io_uring_cqe& result) {
    Pending request;
    if (!take(result.user_data, ring.life, request)) return;
    File* file = find_file(request.device, request.inode);
    // The lock is held: a tally that does not exist yet was made when the request was seen.
    Tally* tally = file != nullptr ? existing_tally(*file, request.phase) : nullptr;
    if (tally == nullptr) tally = &unattributed();
    Outcome outcome{request.asked, request.asked, result.res, result.res < 0 ? -result.res : 0};
    if (request.writes)
        tally->add_write(Family::uring, outcome);
    else
        tally->read.add(outcome);
}

void read_results(Ring& ring) {
    unsigned tail = __atomic_load_n(ring.completed, __ATOMIC_ACQUIRE);
    // Older ones than the queue holds were overwritten; they can only be skipped.
    if (tail - ring.completed_seen > ring.mask + 1) ring.completed_seen = tail - ring.mask - 1;
    for (; ring.completed_seen != tail; ++ring.completed_seen)
        count_result(ring, ring.results[(ring.completed_seen & ring.mask) << ring.shift]);
}

Ring* known_ring(const io_uring* ring) {
    for (Ring& each : rings)
        if (each.completed != nullptr && each.completed == ring->cq.ktail) return &each;
    return nullptr;
}

Ring* ring_of(const io_uring* ring) {
    if (Ring* known = known_ring(ring)) return known;
    for (Ring& each : rings) {
        if (each.completed != nullptr) continue;
        unsigned mask = *ring->cq.kring_mask;
        unsigned shift = (ring->flags & IORING_SETUP_CQE32) != 0 ? 1 : 0;
        each = {ring->cq.ktail,    ring->cq.cqes,   mask,   shift,
                ring->sq.sqe_head, *ring->cq.ktail, ++lives};
        return &each;
    }
    return nullptr;
}

struct Kind {
    bool counted = false, writes = false, vector = false;
};

Kind kind_of(unsigned opcode) {
    switch (opcode) {
        case IORING_OP_WRITE:
        case IORING_OP_WRITE_FIXED:
            return {true, true, false};
        case IORING_OP_WRITEV:
            return {true, true, true};
        case IORING_OP_READ:
        case IORING_OP_READ_FIXED:
            return {true, false, false};
        case IORING_OP_READV:
            return {true, false, true};
        default:
            return {};
    }
}

/// What a submission entry asks for, if it is a transfer of a regular file that can be named.
bool describe(const io_uring_sqe& entry, Pending& request) {
    Kind kind = kind_of(entry.opcode);
    if (!kind.counted || (entry.flags & IOSQE_FIXED_FILE) != 0) return false;
    FileNumber number;
    if (!regular_file(entry.fd, number)) return false;
    Transfer transfer{
        .vector = kind.vector, .data = reinterpret_cast<void*>(entry.addr), .length = entry.len};
    request = {.user_data = entry.user_data,
               .device = number.device,
               .inode = number.inode,
               .asked = size_of(transfer),
               .life = 0,
               .phase = static_cast<uint16_t>(current_phase()),
               .next = nobody,
               .writes = kind.writes};
    return true;
}

unsigned entry_shift(const io_uring* ring) {
    return (ring->flags & IORING_SETUP_SQE128) != 0 ? 1 : 0;
}

/// Before a submission: the tallies are made outside the lock, then the entries are remembered.
void before_submit(io_uring* ring) {
    if (!active()) return;
    int before = errno;
    const io_uring_sq& queue = ring->sq;
    unsigned mask = *queue.kring_mask;
    const Ring* known = known_ring(ring);
    unsigned from = known != nullptr ? known->submitted_seen : queue.sqe_head;
    if (queue.sqe_tail - from > mask + 1) from = queue.sqe_head;  // another ring at the same place
    for (unsigned at = from; at != queue.sqe_tail; ++at) {
        Pending request;
        const io_uring_sqe& entry = queue.sqes[(at & mask) << entry_shift(ring)];
        if (!describe(entry, request)) continue;
        (void)tally_of(find_or_add_file(request.device, request.inode, entry.fd), request.phase);
        TableLock lock;
        if (!lock.granted()) continue;
        Ring* own = ring_of(ring);
        if (own == nullptr) continue;
        request.life = own->life;
        remember(request);
    }
    TableLock lock;
    if (lock.granted())
        if (Ring* own = known_ring(ring)) {
            own->submitted_seen = queue.sqe_tail;
            read_results(*own);
        }
    errno = before;
}

void after_call(io_uring* ring) {
    if (!active()) return;
    TableLock lock;
    if (!lock.granted()) return;
    if (Ring* own = known_ring(ring)) read_results(*own);
}

void before_exit(io_uring* ring) {
    TableLock lock;
    if (!lock.granted()) return;
    Ring* own = known_ring(ring);
    if (own == nullptr) return;
    read_results(*own);
    own->completed = nullptr;
}

}  // namespace

void read_all_results() {
    TableLock lock;
    if (!lock.granted()) return;
    for (Ring& ring : rings)
        if (ring.completed != nullptr) read_results(ring);
}

void forget_rings() {
    for (Ring& ring : rings) ring.completed = nullptr;
    free_pending = nobody;
    never_used = 0;
    buckets_ready = false;
}

namespace real {
namespace {
#define TAILRACE_REAL(result, name, arguments) \
    constinit Real<result arguments> name { #name, "liburing.so.2" }
TAILRACE_REAL(int, io_uring_submit, (io_uring*));
TAILRACE_REAL(int, io_uring_submit_and_wait, (io_uring*, unsigned));
TAILRACE_REAL(int, io_uring_submit_and_wait_timeout,
              (io_uring*, io_uring_cqe**, unsigned, __kernel_timespec*, sigset_t*));
TAILRACE_REAL(int, io_uring_submit_and_get_events, (io_uring*));
TAILRACE_REAL(int, io_uring_wait_cqes,
              (io_uring*, io_uring_cqe**, unsigned, __kernel_timespec*, sigset_t*));
TAILRACE_REAL(int, io_uring_wait_cqe_timeout, (io_uring*, io_uring_cqe**, __kernel_timespec*));
TAILRACE_REAL(int, io_uring_get_events, (io_uring*));
TAILRACE_REAL(unsigned, io_uring_peek_batch_cqe, (io_uring*, io_uring_cqe**, unsigned));
TAILRACE_REAL(int, __io_uring_get_cqe, (io_uring*, io_uring_cqe**, unsigned, unsigned, sigset_t*));
TAILRACE_REAL(int, io_uring_queue_exit, (io_uring*));
#undef TAILRACE_REAL
}  // namespace
}  // namespace real

#define TAILRACE_URING(result, name, parameters, arguments) \
    TAILRACE_WRAP(result, name, parameters) {               \
        before_submit(ring);                                \
        result answer = real::name arguments;               \
        after_call(ring);                                   \
        return answer;                                      \
    }

TAILRACE_URING(int, io_uring_submit, (io_uring * ring), (ring))
TAILRACE_URING(int, io_uring_submit_and_wait, (io_uring * ring, unsigned count), (ring, count))
TAILRACE_URING(int, io_uring_submit_and_wait_timeout,
               (io_uring * ring, io_uring_cqe** first, unsigned count, __kernel_timespec* limit,
                sigset_t* mask),
               (ring, first, count, limit, mask))
TAILRACE_URING(int, io_uring_submit_and_get_events, (io_uring * ring), (ring))
TAILRACE_URING(int, io_uring_wait_cqes,
               (io_uring * ring, io_uring_cqe** first, unsigned count, __kernel_timespec* limit,
                sigset_t* mask),
               (ring, first, count, limit, mask))
TAILRACE_URING(int, io_uring_wait_cqe_timeout,
               (io_uring * ring, io_uring_cqe** first, __kernel_timespec* limit),
               (ring, first, limit))

#define TAILRACE_URING_RESULTS(result, name, parameters, arguments) \
    TAILRACE_WRAP(result, name, parameters) {                       \
        result answer = real::name arguments;                       \
        after_call(ring);                                           \
        return answer;                                              \
    }

TAILRACE_URING_RESULTS(int, io_uring_get_events, (io_uring * ring), (ring))
TAILRACE_URING_RESULTS(unsigned, io_uring_peek_batch_cqe,
                       (io_uring * ring, io_uring_cqe** first, unsigned count),
                       (ring, first, count))
TAILRACE_URING_RESULTS(int, __io_uring_get_cqe,
                       (io_uring * ring, io_uring_cqe** first, unsigned submitted, unsigned count,
                        sigset_t* mask),
                       (ring, first, submitted, count, mask))

// Void in liburing; Real wants a result type, whose value is not looked at.
TAILRACE_WRAP(void, io_uring_queue_exit, (io_uring * ring)) {
    before_exit(ring);
    (void)real::io_uring_queue_exit(ring);
}

}  // namespace tailrace::hooks::posix

#else

namespace tailrace::hooks::posix {
void read_all_results() {}
void forget_rings() {}
}  // namespace tailrace::hooks::posix

#endif
