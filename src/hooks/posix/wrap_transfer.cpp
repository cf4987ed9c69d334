// SPDX-License-Identifier: Apache-2.0
// write, read and their kin: each says what it was asked and how to ask the real one.
#include "hooks/posix/real.hpp"
#include "hooks/posix/transfer.hpp"
#include "hooks/posix/wrap.hpp"

using tailrace::hooks::posix::Family;
using tailrace::hooks::posix::observe;
using tailrace::hooks::posix::Transfer;
namespace real = tailrace::hooks::posix::real;

namespace {

const iovec* entries(const Transfer& t) { return static_cast<const iovec*>(t.data); }
int entry_count(const Transfer& t) { return static_cast<int>(t.length); }

Transfer plain_write(Family family, int fd, const void* data, size_t bytes) {
    return {.writes = true,
            .family = family,
            .fd = fd,
            .data = const_cast<void*>(data),
            .length = bytes};
}

Transfer plain_read(int fd, void* data, size_t bytes) {
    return {.fd = fd, .data = data, .length = bytes};
}

Transfer vector_call(bool writes, int fd, const iovec* data, int count) {
    // A negative count stays negative when it is cast back for the real call, which refuses it.
    return {.writes = writes,
            .vector = true,
            .family = Family::writev,
            .fd = fd,
            .data = const_cast<iovec*>(data),
            .length = static_cast<size_t>(count)};
}

ssize_t at(Transfer transfer, int64_t offset, ssize_t (*make)(const Transfer&)) {
    transfer.positioned = true;
    transfer.offset = offset;
    transfer.make = make;
    return observe(transfer);
}

ssize_t here(Transfer transfer, ssize_t (*make)(const Transfer&)) {
    transfer.make = make;
    return observe(transfer);
}

Transfer with_flags(Transfer transfer, int flags) {
    transfer.flags = flags;
    return transfer;
}

Transfer with_room(Transfer transfer, size_t room) {
    transfer.room = room;
    return transfer;
}

}  // namespace

// Plain and vector, with and without a position; the real function has the same name.
#define TAILRACE_WRITE(name)                                                               \
    TAILRACE_WRAP(ssize_t, name, (int fd, const void* data, size_t bytes)) {               \
        return here(plain_write(Family::write, fd, data, bytes),                           \
                    [](const Transfer& t) { return real::name(t.fd, t.data, t.length); }); \
    }
#define TAILRACE_PWRITE(name, offset_t)                                                            \
    TAILRACE_WRAP(ssize_t, name, (int fd, const void* data, size_t bytes, offset_t offset)) {      \
        return at(plain_write(Family::pwrite, fd, data, bytes), offset,                            \
                  [](const Transfer& t) { return real::name(t.fd, t.data, t.length, t.offset); }); \
    }
#define TAILRACE_VECTOR(name, writes)                                             \
    TAILRACE_WRAP(ssize_t, name, (int fd, const iovec* data, int count)) {        \
        return here(vector_call(writes, fd, data, count), [](const Transfer& t) { \
            return real::name(t.fd, entries(t), entry_count(t));                  \
        });                                                                       \
    }
#define TAILRACE_PVECTOR(name, writes, offset_t)                                            \
    TAILRACE_WRAP(ssize_t, name, (int fd, const iovec* data, int count, offset_t offset)) { \
        return at(vector_call(writes, fd, data, count), offset, [](const Transfer& t) {     \
            return real::name(t.fd, entries(t), entry_count(t), t.offset);                  \
        });                                                                                 \
    }
#define TAILRACE_PVECTOR2(name, writes, offset_t)                                             \
    TAILRACE_WRAP(ssize_t, name,                                                              \
                  (int fd, const iovec* data, int count, offset_t offset, int flags)) {       \
        return at(with_flags(vector_call(writes, fd, data, count), flags), offset,            \
                  [](const Transfer& t) {                                                     \
                      return real::name(t.fd, entries(t), entry_count(t), t.offset, t.flags); \
                  });                                                                         \
    }
#define TAILRACE_READ(name)                                                                \
    TAILRACE_WRAP(ssize_t, name, (int fd, void* data, size_t bytes)) {                     \
        return here(plain_read(fd, data, bytes),                                           \
                    [](const Transfer& t) { return real::name(t.fd, t.data, t.length); }); \
    }
#define TAILRACE_PREAD(name, offset_t)                                                             \
    TAILRACE_WRAP(ssize_t, name, (int fd, void* data, size_t bytes, offset_t offset)) {            \
        return at(plain_read(fd, data, bytes), offset,                                             \
                  [](const Transfer& t) { return real::name(t.fd, t.data, t.length, t.offset); }); \
    }
#define TAILRACE_PREAD_CHK(name, offset_t)                                                      \
    TAILRACE_WRAP(ssize_t, name,                                                                \
                  (int fd, void* data, size_t bytes, offset_t offset, size_t room)) {           \
        return at(with_room(plain_read(fd, data, bytes), room), offset, [](const Transfer& t) { \
            return real::name(t.fd, t.data, t.length, t.offset, t.room);                        \
        });                                                                                     \
    }

TAILRACE_WRITE(write)
TAILRACE_WRITE(__write)
TAILRACE_PWRITE(pwrite, off_t)
TAILRACE_PWRITE(pwrite64, int64_t)
TAILRACE_PWRITE(__pwrite64, int64_t)
TAILRACE_VECTOR(writev, true)
TAILRACE_PVECTOR(pwritev, true, off_t)
TAILRACE_PVECTOR(pwritev64, true, int64_t)
TAILRACE_PVECTOR2(pwritev2, true, off_t)
TAILRACE_PVECTOR2(pwritev64v2, true, int64_t)
TAILRACE_READ(read)
TAILRACE_READ(__read)
TAILRACE_PREAD(pread, off_t)
TAILRACE_PREAD(pread64, int64_t)
TAILRACE_PREAD(__pread64, int64_t)
TAILRACE_VECTOR(readv, false)
TAILRACE_PVECTOR(preadv, false, off_t)
TAILRACE_PVECTOR(preadv64, false, int64_t)
TAILRACE_PVECTOR2(preadv2, false, off_t)
TAILRACE_PVECTOR2(preadv64v2, false, int64_t)
TAILRACE_PREAD_CHK(__pread_chk, off_t)
TAILRACE_PREAD_CHK(__pread64_chk, int64_t)

// Programs built with _FORTIFY_SOURCE call these where the size is not a constant.
TAILRACE_WRAP(ssize_t, __read_chk, (int fd, void* data, size_t bytes, size_t room)) {
    return here(with_room(plain_read(fd, data, bytes), room),
                [](const Transfer& t) { return real::__read_chk(t.fd, t.data, t.length, t.room); });
}
