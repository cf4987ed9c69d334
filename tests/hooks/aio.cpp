// SPDX-License-Identifier: Apache-2.0
// POSIX asynchronous I/O: counted once when the result is known, made to fail, and held.
#include <aio.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "support.hpp"

using namespace tailrace::hooks::posix::test;

namespace {

aiocb request(const Scratch& file, void* data, std::size_t bytes, off_t offset) {
    aiocb block;
    std::memset(&block, 0xa5, sizeof block);  // what a program leaves on its stack
    block.aio_fildes = file.fd;
    block.aio_reqprio = 0;
    block.aio_buf = data;
    block.aio_nbytes = bytes;
    block.aio_offset = offset;
    block.aio_sigevent.sigev_notify = SIGEV_NONE;
    return block;
}

void wait_for(const aiocb& block) {
    const aiocb* list[] = {&block};
    while (aio_error(&block) == EINPROGRESS) aio_suspend(list, 1, nullptr);
}

}  // namespace

TEST_CASE("aio: writes and reads are counted once, however often one asks") {
    Scratch file;
    auto data = pattern(5000);
    auto one = request(file, data.data(), 5000, 0);
    REQUIRE(aio_write(&one) == 0);
    wait_for(one);
    CHECK(aio_error(&one) == 0);
    CHECK(aio_error(&one) == 0);
    CHECK(file.writes().calls == 1);
    CHECK(aio_return(&one) == 5000);
    CHECK(file.tally().by_aio == 1);
    CHECK(file.writes().bytes_asked == 5000);
    CHECK(file.writes().bytes_done == 5000);
    CHECK(file.writes().calls == 1);
    std::vector<char> back(6000);
    auto two = request(file, back.data(), 6000, 0);
    REQUIRE(aio_read(&two) == 0);
    wait_for(two);
    CHECK(aio_return(&two) == 5000);
    CHECK(file.reads().calls == 1);
    CHECK(file.reads().short_calls == 1);
    CHECK(file.reads().bytes_done == 5000);
}

TEST_CASE("aio: many at a time, and each under the phase that asked for it") {
    Scratch file;
    auto data = pattern(64);
    std::vector<aiocb> blocks;
    for (int index = 0; index < 6000; ++index)
        blocks.push_back(request(file, data.data(), 64, 64L * index));
    Scratch::observer().enter_phase("write");
    for (auto& block : blocks) REQUIRE(aio_write(&block) == 0);
    Scratch::observer().enter_phase("flush");
    for (auto& block : blocks) {
        wait_for(block);
        REQUIRE(aio_return(&block) == 64);
    }
    Scratch::observer().enter_phase("");
    CHECK(Scratch::observer().tally(file.name(), "write").by_aio == 6000);
    CHECK(Scratch::observer().tally(file.name(), "flush").by_aio == 0);
    CHECK(file.writes().bytes_done == 6000 * 64);
}

TEST_CASE("aio: a list") {
    Scratch file;
    auto data = pattern(300);
    auto first = request(file, data.data(), 100, 0);
    auto second = request(file, data.data() + 100, 200, 100);
    first.aio_lio_opcode = second.aio_lio_opcode = LIO_WRITE;
    aiocb* list[] = {&first, nullptr, &second};
    REQUIRE(lio_listio(LIO_WAIT, list, 3, nullptr) == 0);
    CHECK(file.tally().by_aio == 2);
    CHECK(aio_return(&first) == 100);
    CHECK(aio_return(&second) == 200);
    CHECK(file.writes().calls == 2);
    CHECK(content(file) == data);
    REQUIRE(lio_listio(LIO_NOWAIT, list, 3, nullptr) == 0);
    wait_for(first);
    wait_for(second);
    CHECK(file.writes().calls == 4);
}

TEST_CASE("aio: faults") {
    Scratch file;
    auto data = pattern(1000);
    file.fault("write", "errno=ENOSPC,short=400");
    auto one = request(file, data.data(), 1000, 0);
    REQUIRE(aio_write(&one) == 0);
    wait_for(one);
    CHECK(aio_return(&one) == 400);
    auto two = request(file, data.data(), 1000, 0);
    REQUIRE(aio_write(&two) == 0);
    wait_for(two);
    CHECK(aio_error(&two) == ENOSPC);
    CHECK(aio_return(&two) == -1);
    CHECK(file.writes().calls == 2);
    CHECK(file.writes().short_calls == 1);
    CHECK(file.writes().failed_calls == 1);
    CHECK(file.writes().bytes_done == 400);
    auto three = request(file, data.data(), 1000, 0);
    three.aio_lio_opcode = LIO_WRITE;
    aiocb* list[] = {&three};
    CHECK(lio_listio(LIO_WAIT, list, 1, nullptr) == -1);
    CHECK(errno == EIO);
    CHECK(aio_error(&three) == ENOSPC);
    CHECK(three.aio_lio_opcode == LIO_WRITE);
}

TEST_CASE("aio: held errors") {
    Scratch file;
    auto data = pattern(1000);
    file.hold();
    file.fault("write", "limit_bytes=1400");
    auto one = request(file, data.data(), 1000, 0);
    auto two = request(file, data.data(), 1000, 1000);
    auto three = request(file, data.data(), 1000, 2000);
    auto four = request(file, data.data(), 1000, 3000);
    four.aio_lio_opcode = LIO_WRITE;
    aiocb* list[] = {&four};
    for (auto* block : {&one, &two, &three}) {
        REQUIRE(aio_write(block) == 0);
        wait_for(*block);
        CHECK(aio_error(block) == 0);
        CHECK(aio_return(block) == 1000);
    }
    CHECK(lio_listio(LIO_WAIT, list, 1, nullptr) == 0);
    CHECK(aio_return(&four) == 1000);
    auto writes = file.writes();
    CHECK(file.size() == 1400);
    CHECK(writes.bytes_asked == 4000);
    CHECK(writes.bytes_done == 1400);
    CHECK(writes.first_errno == ENOSPC);
    CHECK(writes.failed_calls == 3);  // the rest of the second, and two that were not made
    CHECK(writes.short_calls == 1);
}

TEST_CASE("aio: a request that is really refused, held") {
    Scratch file;
    char byte = 0;
    int read_only = open(file.name().c_str(), O_RDONLY);
    file.hold();
    auto one = request(file, &byte, 1, 0);
    one.aio_fildes = read_only;
    REQUIRE(aio_write(&one) == 0);
    wait_for(one);
    CHECK(aio_error(&one) == 0);
    CHECK(aio_return(&one) == 1);
    CHECK(file.writes().first_errno == EBADF);
    close(read_only);
}

namespace {
std::atomic<int> notified{0};
void on_signal(int) { ++notified; }
void on_thread(sigval) { ++notified; }
}  // namespace

TEST_CASE("aio: notifications also come for requests that were completed here") {
    Scratch file;
    char byte = 0;
    struct sigaction action {
    }, old{};
    action.sa_handler = on_signal;
    sigaction(SIGUSR2, &action, &old);
    file.fault("write", "errno=EIO");
    auto one = request(file, &byte, 1, 0);
    one.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
    one.aio_sigevent.sigev_signo = SIGUSR2;
    REQUIRE(aio_write(&one) == 0);
    auto two = request(file, &byte, 1, 0);
    two.aio_sigevent.sigev_notify = SIGEV_THREAD;
    two.aio_sigevent.sigev_notify_function = on_thread;
    two.aio_sigevent.sigev_notify_attributes = nullptr;
    REQUIRE(aio_write(&two) == 0);
    for (int wait = 0; wait < 1000 && notified < 2; ++wait) usleep(1000);
    CHECK(notified == 2);
    CHECK(aio_return(&one) == -1);
    CHECK(aio_return(&two) == -1);
    sigaction(SIGUSR2, &old, nullptr);
}
