// SPDX-License-Identifier: Apache-2.0
// POSIX asynchronous I/O. glibc makes these calls from its own threads and past our wrappers, so
// they are counted where the program learns the result. What we must know about a request stands
// in the reserved bytes of its control block: no table that could run full.
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "hooks/posix/faults.hpp"
#include "hooks/posix/real.hpp"
#include "hooks/posix/tally.hpp"
#include "hooks/posix/transfer.hpp"
#include "hooks/posix/wrap.hpp"

#ifndef __GLIBC__
#error "the layout of struct aiocb is glibc's"
#endif

using namespace tailrace::hooks::posix;

namespace {

constexpr uint64_t magic = 0x7461696c72616365;

struct Note {
    uint64_t magic_and_address;
    uint64_t device, inode;
    uint32_t phase;
    uint16_t writes;
    uint16_t counted;
};
static_assert(sizeof(Note) <= sizeof(aiocb::__glibc_reserved));
static_assert(sizeof(aiocb) == sizeof(aiocb64) &&
              offsetof(aiocb, __glibc_reserved) == offsetof(aiocb64, __glibc_reserved));

Note* note_of(const aiocb* request) {
    auto* bytes = const_cast<char*>(request->__glibc_reserved);
    static_assert(offsetof(aiocb, __glibc_reserved) % alignof(Note) == 0);
    return reinterpret_cast<Note*>(bytes);
}

uint64_t mark_of(const aiocb* request) { return magic ^ reinterpret_cast<uintptr_t>(request); }

bool noted(const aiocb* request) {
    return request != nullptr && note_of(request)->magic_and_address == mark_of(request);
}

/// False where the request is none of ours.
bool note(aiocb* request, bool writes) {
    FileNumber number;
    note_of(request)->magic_and_address = 0;
    if (!active() || !regular_file(request->aio_fildes, number)) return false;
    *note_of(request) = {mark_of(request),
                         number.device,
                         number.inode,
                         current_phase(),
                         static_cast<uint16_t>(writes),
                         0};
    return true;
}

File* file_of(const aiocb* request) {
    const Note* about = note_of(request);
    return find_or_add_file(about->device, about->inode, request->aio_fildes);
}

Transfer transfer_of(const aiocb* request, bool writes) {
    return {.writes = writes,
            .positioned = true,
            .family = Family::aio,
            .fd = request->aio_fildes,
            .data = const_cast<void*>(request->aio_buf),
            .length = request->aio_nbytes,
            .offset = request->aio_offset,
            .make = [](const Transfer& t) {
                return t.writes ? real::pwrite64(t.fd, t.data, t.length, t.offset)
                                : real::pread64(t.fd, t.data, t.length, t.offset);
            }};
}

void set_result(aiocb* request, ssize_t result, int error) {
    request->__return_value = result;
    __atomic_store_n(&request->__error_code, error, __ATOMIC_RELEASE);
}

void* run_notification(void* argument) {
    auto* event = static_cast<sigevent*>(argument);
    event->sigev_notify_function(event->sigev_value);
    return nullptr;
}

void notify(aiocb* request) {
    sigevent& event = request->aio_sigevent;
    if (event.sigev_notify == SIGEV_SIGNAL)
        (void)sigqueue(getpid(), event.sigev_signo, event.sigev_value);
    if (event.sigev_notify != SIGEV_THREAD) return;
    pthread_t thread;
    if (pthread_create(&thread, event.sigev_notify_attributes, run_notification, &event) == 0)
        (void)pthread_detach(thread);
}

/// True where the request was completed here instead of being queued: its file is held and has
/// failed, or a fault says so.
bool completed_here(aiocb* request, bool writes) {
    File* file = held_files.load(std::memory_order_acquire) != 0 ? file_of(request) : nullptr;
    if (writes && file != nullptr && file->held.load() && file->latched_errno.load() != 0) {
        count_swallowed(*file, Family::aio, request->aio_nbytes);
        note_of(request)->counted = 1;
        set_result(request, static_cast<ssize_t>(request->aio_nbytes), 0);
        return true;
    }
    if (!faults_active()) return false;
    Verdict verdict =
        decide(writes ? Op::write : Op::read, request->aio_fildes, request->aio_nbytes);
    if (verdict.error != 0) {
        set_result(request, -1, verdict.error);
        return true;
    }
    if (!verdict.limited || verdict.bytes >= request->aio_nbytes) return false;
    void* data = const_cast<void*>(request->aio_buf);
    ssize_t result =
        writes ? real::pwrite64(request->aio_fildes, data, verdict.bytes, request->aio_offset)
               : real::pread64(request->aio_fildes, data, verdict.bytes, request->aio_offset);
    set_result(request, result, result < 0 ? errno : 0);
    return true;
}

/// Keeps back the failure of a finished write to a held file.
void hold_write(aiocb* request, File& file, Tally& tally, int error, ssize_t result) {
    uint64_t asked = request->aio_nbytes;
    if (error == EINTR || error == EAGAIN) return;
    if (error != 0)
        latch(file, error);
    else if (static_cast<uint64_t>(result) < asked)
        (void)write_rest(transfer_of(request, true), static_cast<uint64_t>(result), asked, file,
                         tally);
    else
        return;
    set_result(request, static_cast<ssize_t>(asked), 0);
}

/// The same for a read: zeros where nothing could be read.
void hold_read(aiocb* request, Tally& tally, int error, ssize_t result) {
    if (is_the_callers(error)) return;
    uint64_t asked = request->aio_nbytes;
    uint64_t done = error != 0 ? 0 : static_cast<uint64_t>(result);
    if (error == 0 && (done == 0 || done == asked)) return;
    Transfer transfer = transfer_of(request, false);
    if (error != 0 || !read_rest(transfer, done, asked, tally))
        done += clear_from(transfer, done, asked);
    set_result(request, static_cast<ssize_t>(done), 0);
}

/// Counts a request once, as soon as its result is known.
void settle(const aiocb* waiting) {
    if (!noted(waiting)) return;
    auto* request = const_cast<aiocb*>(waiting);
    int error = __atomic_load_n(&request->__error_code, __ATOMIC_ACQUIRE);
    if (error == EINPROGRESS) return;
    if (__atomic_exchange_n(&note_of(request)->counted, 1, __ATOMIC_ACQ_REL) != 0) return;
    if (error == ECANCELED) return;  // was never made
    int before = errno;
    ssize_t result = error != 0 ? -1 : request->__return_value;
    File* file = file_of(request);
    Tally& tally = tally_of(file, note_of(request)->phase);
    Outcome outcome{request->aio_nbytes, request->aio_nbytes, result, error};
    bool held = file != nullptr && file->held.load();
    if (note_of(request)->writes == 0) {
        tally.read.add(outcome);
        if (held) hold_read(request, tally, error, result);
    } else {
        tally.add_write(Family::aio, outcome);
        if (held) hold_write(request, *file, tally, error, result);
    }
    errno = before;
}

template <typename Submit>
int submit(aiocb* request, bool writes, Submit& real_submit) {
    int before = errno;
    if (note(request, writes) && completed_here(request, writes)) {
        notify(request);
        errno = before;
        return 0;
    }
    return real_submit(request);
}

/// Requests that are completed here are hidden from the real lio_listio as LIO_NOP.
template <typename Submit>
int submit_list(int mode, aiocb* const* list, int count, sigevent* event, Submit& real_submit) {
    uint64_t hidden[64] = {};  // 4096 entries; longer lists go through as they are
    constexpr int most = 64 * 64;
    int before = errno;
    for (int index = 0; index < count; ++index) {
        aiocb* request = list[index];
        if (request == nullptr ||
            (request->aio_lio_opcode != LIO_WRITE && request->aio_lio_opcode != LIO_READ))
            continue;
        bool writes = request->aio_lio_opcode == LIO_WRITE;
        if (!note(request, writes) || index >= most || !completed_here(request, writes)) continue;
        notify(request);
        hidden[index / 64] |= uint64_t{1} << (index % 64);
        request->aio_lio_opcode = LIO_NOP;
    }
    errno = before;
    int result = real_submit(mode, list, count, event);
    int error = errno;
    bool all_good = true;
    for (int index = 0; index < count; ++index) {
        if (list[index] == nullptr || !noted(list[index])) continue;
        if (index < most && (hidden[index / 64] >> (index % 64) & 1) != 0)
            list[index]->aio_lio_opcode = note_of(list[index])->writes != 0 ? LIO_WRITE : LIO_READ;
        if (mode == LIO_WAIT) settle(list[index]);
        all_good = all_good && list[index]->__error_code == 0;
    }
    if (mode == LIO_WAIT && result == 0 && !all_good) {
        result = -1;  // a fault that the real call did not see
        error = EIO;
    }
    if (mode == LIO_WAIT && result != 0 && error == EIO && all_good) result = 0;  // all held
    errno = result == 0 ? before : error;
    return result;
}

template <typename Suspend>
int suspend(const aiocb* const* list, int count, const timespec* limit, Suspend& real_suspend) {
    int result = real_suspend(list, count, limit);
    for (int index = 0; index < count; ++index) settle(list[index]);
    return result;
}

}  // namespace

#define TAILRACE_AIO(write_name, read_name, error_name, return_name, suspend_name, list_name)   \
    TAILRACE_WRAP(int, write_name, (aiocb * request)) {                                         \
        return submit(request, true, real::write_name);                                         \
    }                                                                                           \
    TAILRACE_WRAP(int, read_name, (aiocb * request)) {                                          \
        return submit(request, false, real::read_name);                                         \
    }                                                                                           \
    TAILRACE_WRAP(int, error_name, (const aiocb* request)) {                                    \
        settle(request);                                                                        \
        return real::error_name(request);                                                       \
    }                                                                                           \
    TAILRACE_WRAP(ssize_t, return_name, (aiocb * request)) {                                    \
        settle(request);                                                                        \
        return real::return_name(request);                                                      \
    }                                                                                           \
    TAILRACE_WRAP(int, suspend_name,                                                            \
                  (const aiocb* const* list, int count, const timespec* limit)) {               \
        return suspend(list, count, limit, real::suspend_name);                                 \
    }                                                                                           \
    TAILRACE_WRAP(int, list_name, (int mode, aiocb* const* list, int count, sigevent* event)) { \
        return submit_list(mode, list, count, event, real::list_name);                          \
    }

TAILRACE_AIO(aio_write, aio_read, aio_error, aio_return, aio_suspend, lio_listio)
TAILRACE_AIO(aio_write64, aio_read64, aio_error64, aio_return64, aio_suspend64, lio_listio64)
