// SPDX-License-Identifier: Apache-2.0
// io_uring through liburing. A kernel that refuses io_uring is said so; one that offers it must
// be counted right.
#include <liburing.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cstring>

#include "support.hpp"

using namespace tailrace::hooks::posix::test;

namespace {

/// A ring, or the kernel's refusal in words.
class Uring {
public:
    explicit Uring(unsigned entries) {
        const int result = io_uring_queue_init(entries, &ring, 0);
        x_open = result == 0;
        if (!x_open) MESSAGE("this kernel refuses io_uring: " << std::strerror(-result));
        if (!x_open) CHECK_MESSAGE((result == -ENOSYS || result == -EPERM), "and not as it should");
    }
    ~Uring() { end(); }
    void end() {
        if (x_open) io_uring_queue_exit(&ring);
        x_open = false;
    }
    explicit operator bool() const { return x_open; }

    io_uring ring{};

private:
    bool x_open = false;
};

/// Takes `count` results, each of which must be `expected`.
void expect(Uring& uring, int count, int expected) {
    for (int index = 0; index < count; ++index) {
        io_uring_cqe* result = nullptr;
        REQUIRE(io_uring_wait_cqe(&uring.ring, &result) == 0);
        CHECK(result->res == expected);
        io_uring_cqe_seen(&uring.ring, result);
    }
}

}  // namespace

TEST_CASE("uring: writes, vectors and reads, with their results") {
    Scratch file;
    Uring uring(8);
    if (!uring) return;
    auto data = pattern(3000);
    iovec pieces[2] = {{data.data(), 100}, {data.data() + 100, 200}};
    io_uring_prep_write(io_uring_get_sqe(&uring.ring), file.fd, data.data(), 300, 0);
    io_uring_prep_writev(io_uring_get_sqe(&uring.ring), file.fd, pieces, 2, 300);
    CHECK(io_uring_submit(&uring.ring) == 2);
    expect(uring, 2, 300);
    CHECK(file.tally().by_uring == 2);
    CHECK(file.writes().bytes_asked == 600);
    CHECK(file.writes().bytes_done == 600);
    char back[300];
    io_uring_prep_read(io_uring_get_sqe(&uring.ring), file.fd, back, 300, 500);
    CHECK(io_uring_submit_and_wait(&uring.ring, 1) == 1);
    expect(uring, 1, 100);
    CHECK(file.reads().calls == 1);
    CHECK(file.reads().short_calls == 1);
    CHECK(file.writes().calls == 2);
}

TEST_CASE("uring: a registered buffer, a failing request, and other operations") {
    Scratch file;
    Uring uring(8);
    if (!uring) return;
    auto data = pattern(4096);
    iovec buffer{data.data(), data.size()};
    REQUIRE(io_uring_register_buffers(&uring.ring, &buffer, 1) == 0);
    io_uring_prep_write_fixed(io_uring_get_sqe(&uring.ring), file.fd, data.data(), 4096, 0, 0);
    CHECK(io_uring_submit_and_wait(&uring.ring, 1) == 1);
    expect(uring, 1, 4096);
    io_uring_prep_nop(io_uring_get_sqe(&uring.ring));
    CHECK(io_uring_submit(&uring.ring) == 1);
    expect(uring, 1, 0);
    int read_only = open(file.name().c_str(), O_RDONLY);
    io_uring_prep_write(io_uring_get_sqe(&uring.ring), read_only, data.data(), 10, 0);
    CHECK(io_uring_submit(&uring.ring) == 1);
    expect(uring, 1, -EBADF);
    close(read_only);
    CHECK(file.writes().calls == 2);
    CHECK(file.writes().failed_calls == 1);
    CHECK(file.writes().first_errno == EBADF);
    CHECK(file.writes().bytes_done == 4096);
}

TEST_CASE("uring: many rounds on a small ring, all with the same user data") {
    Scratch file, other;
    Uring uring(4);
    if (!uring) return;
    auto data = pattern(512);
    constexpr int rounds = 3000;
    for (int round = 0; round < rounds; ++round) {
        io_uring_prep_write(io_uring_get_sqe(&uring.ring), file.fd, data.data(), 512, 512L * round);
        io_uring_prep_write(io_uring_get_sqe(&uring.ring), other.fd, data.data(), 512, 0);
        REQUIRE(io_uring_submit(&uring.ring) == 2);
        expect(uring, 2, 512);
    }
    CHECK(file.tally().by_uring == rounds);
    CHECK(other.tally().by_uring == rounds);
    CHECK(file.writes().bytes_done == 512UL * rounds);
    uring.end();
    // The next ring may have the same address.
    Uring next(4);
    io_uring_prep_write(io_uring_get_sqe(&next.ring), file.fd, data.data(), 512, 0);
    CHECK(io_uring_submit(&next.ring) == 1);
    expect(next, 1, 512);
    CHECK(file.tally().by_uring == rounds + 1);
}

TEST_CASE("uring: results that nobody waited for are there at the end of the ring") {
    Scratch file;
    Uring uring(8);
    if (!uring) return;
    auto data = pattern(512);
    // The write waits for a byte from a pipe, so that it is not finished within the submission.
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    char byte = 0;
    auto* first = io_uring_get_sqe(&uring.ring);
    io_uring_prep_read(first, ends[0], &byte, 1, 0);
    io_uring_sqe_set_flags(first, IOSQE_IO_LINK);
    io_uring_prep_write(io_uring_get_sqe(&uring.ring), file.fd, data.data(), 512, 0);
    CHECK(io_uring_submit(&uring.ring) == 2);
    CHECK(write(ends[1], "x", 1) == 1);
    // No call of the library until then: it would be an occasion to look.
    while (__atomic_load_n(uring.ring.cq.ktail, __ATOMIC_ACQUIRE) < 2) usleep(1000);
    close(ends[0]);
    close(ends[1]);
    uring.end();
    CHECK(file.tally().by_uring == 1);
}

TEST_CASE("uring: a forked child does not count its parent's requests") {
    Scratch file;
    Uring uring(8);
    if (!uring) return;
    io_uring_prep_write(io_uring_get_sqe(&uring.ring), file.fd, "abc", 3, 0);
    CHECK(io_uring_submit(&uring.ring) == 1);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(file.writes().calls == 0 ? 0 : 1);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    expect(uring, 1, 3);
    CHECK(file.tally().by_uring == 1);
}
