// SPDX-License-Identifier: Apache-2.0
// Held errors of reads: what cannot be read is zeros above, and is remembered; the end of a file
// is no error.
#include <aio.h>
#include <sys/uio.h>

#include <algorithm>

#include "support.hpp"

using namespace tailrace::hooks::posix::test;
using tailrace::hooks::posix::inject_faults;

namespace {

/// Holds 1000 times 'x', and its counts begin at zero.
void prepare(Scratch& file) {
    const std::vector<char> data(1000, 'x');
    REQUIRE(pwrite(file.fd, data.data(), data.size(), 0) == 1000);
    Scratch::observer().forget(file.name());
    file.hold();
}

std::size_t zeros(const std::vector<char>& data) {
    return static_cast<std::size_t>(std::count(data.begin(), data.end(), 0));
}

}  // namespace

TEST_CASE("hold reads: what fails gives zeros, is told, and later reads are made") {
    Scratch file;
    prepare(file);
    std::vector<char> data(600, 'y');
    file.fault("read", "times=1,errno=EIO");
    errno = EXDEV;
    CHECK(pread(file.fd, data.data(), 600, 0) == 600);
    CHECK(errno == EXDEV);
    CHECK(zeros(data) == 600);
    CHECK(pread(file.fd, data.data(), 600, 0) == 600);
    CHECK(data == std::vector<char>(600, 'x'));
    CHECK(file.reads().calls == 2);
    CHECK(file.reads().failed_calls == 1);
    CHECK(file.reads().first_errno == EIO);
    CHECK(file.reads().bytes_asked == 1200);
    CHECK(file.reads().bytes_done == 600);
    // A failed read is none of the writers' business.
    CHECK(pwrite(file.fd, "z", 1, 0) == 1);
    CHECK(file.writes().failed_calls == 0);
}

TEST_CASE("hold reads: a short read is continued; then an error counts") {
    Scratch file;
    prepare(file);
    std::vector<char> data(900, 'y');
    file.fault("read", "short=100,times=2");
    CHECK(pread(file.fd, data.data(), 900, 0) == 900);
    CHECK(data == std::vector<char>(900, 'x'));
    CHECK(file.reads().calls == 3);
    CHECK(file.reads().failed_calls == 0);
    CHECK(file.reads().bytes_asked == 900);
    CHECK(file.reads().bytes_done == 900);
    file.fault("read", "errno=EIO,short=300");
    CHECK(pread(file.fd, data.data(), 900, 0) == 900);
    CHECK(zeros(data) == 600);
    CHECK(data[299] == 'x');
    CHECK(data[300] == 0);
    CHECK(file.reads().failed_calls == 1);
    CHECK(file.reads().bytes_done == 1200);
}

TEST_CASE("hold reads: the end of the file is told as it is") {
    Scratch file;
    prepare(file);
    std::vector<char> data(500, 'y');
    CHECK(pread(file.fd, data.data(), 500, 700) == 300);
    CHECK(data[299] == 'x');
    CHECK(data[300] == 'y');
    CHECK(pread(file.fd, data.data(), 500, 5000) == 0);
    CHECK(file.reads().failed_calls == 0);
    CHECK(file.reads().bytes_asked == 1000);
    CHECK(file.reads().bytes_done == 300);
}

TEST_CASE("hold reads: who reads on until the end finds it, although every read fails") {
    Scratch file;
    prepare(file);
    std::vector<char> data(300, 'y');
    iovec pieces[2] = {{data.data(), 100}, {data.data() + 100, 200}};
    const auto by_read = [&](off_t) { return read(file.fd, data.data(), 300); };
    const auto by_readv = [&](off_t) { return readv(file.fd, pieces, 2); };
    const auto by_pread = [&](off_t at) { return pread(file.fd, data.data(), 300, at); };
    const auto sizes_of = [&](const auto& one_read) {
        std::vector<ssize_t> sizes;
        off_t at = lseek(file.fd, 0, SEEK_SET);
        for (ssize_t got = 1; got > 0 && sizes.size() < 9; at += got)
            sizes.push_back(got = one_read(at));
        return sizes;
    };
    file.fault("read", "errno=EIO");
    const std::vector<ssize_t> up_to_the_end{300, 300, 300, 100, 0};
    CHECK(sizes_of(by_read) == up_to_the_end);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 1000);
    CHECK(sizes_of(by_readv) == up_to_the_end);
    CHECK(sizes_of(by_pread) == up_to_the_end);
    CHECK(zeros(data) == 300);
    CHECK(file.reads().failed_calls == 15);
    // The first part of each read comes, then an error: in the last one 50 bytes before the end.
    file.fault("read", "errno=EIO,short=50,after=3");
    CHECK(sizes_of(by_read) == up_to_the_end);
}

TEST_CASE("hold reads: vectors and the file's position") {
    Scratch file;
    prepare(file);
    std::vector<char> one(100, 'y'), two(200, 'y');
    iovec pieces[3] = {{one.data(), 100}, {nullptr, 0}, {two.data(), 200}};
    file.fault("read", "errno=EIO,short=150");
    CHECK(preadv(file.fd, pieces, 3, 0) == 300);
    CHECK(zeros(one) == 0);
    CHECK(two[49] == 'x');
    CHECK(zeros(two) == 150);
    CHECK(lseek(file.fd, 0, SEEK_SET) == 0);
    CHECK(readv(file.fd, pieces, 3) == 300);
    CHECK(zeros(one) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 300);
    CHECK(read(file.fd, one.data(), 100) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 400);
    CHECK(file.reads().failed_calls == 3);
}

TEST_CASE("hold reads: mistakes of the caller, EINTR and EAGAIN go to the caller") {
    Scratch file;
    prepare(file);
    char data[10];
    iovec bad{nullptr, 10};
    CHECK(preadv(file.fd, &bad, 1, 0) == -1);
    CHECK(errno == EFAULT);
    file.fault("read", "errno=EAGAIN,times=1");
    CHECK(read(file.fd, data, 10) == -1);
    CHECK(errno == EAGAIN);
    Scratch::observer().hold_errors(file.name(), false);
    file.fault("read", "errno=EIO,times=1");
    CHECK(read(file.fd, data, 10) == -1);
    CHECK(errno == EIO);
}

TEST_CASE("hold reads: asynchronous ones, also short ones") {
    Scratch file;
    prepare(file);
    for (const char* fault : {"errno=EIO", "errno=EIO,short=100", "short=100,times=1"}) {
        std::vector<char> data(500, 'y');
        aiocb request{};
        request.aio_fildes = file.fd;
        request.aio_buf = data.data();
        request.aio_nbytes = 500;
        file.fault("read", fault);
        REQUIRE(aio_read(&request) == 0);
        const aiocb* list[1] = {&request};
        while (aio_error(&request) == EINPROGRESS) (void)aio_suspend(list, 1, nullptr);
        CHECK(aio_error(&request) == 0);
        CHECK(aio_return(&request) == 500);
        const std::string what = fault;
        CHECK(zeros(data) == (what == "errno=EIO" ? 500U : what.starts_with("errno") ? 400U : 0U));
        inject_faults("");
    }
    CHECK(file.reads().failed_calls == 2);
    CHECK(file.reads().bytes_asked == 1500);
    CHECK(file.reads().bytes_done == 600);
    for (const auto& [offset, left] : {std::pair{700, 300}, std::pair{1000, 0}}) {
        std::vector<char> data(500, 'y');
        aiocb request{};
        request.aio_fildes = file.fd;
        request.aio_buf = data.data();
        request.aio_nbytes = 500;
        request.aio_offset = offset;
        file.fault("read", "errno=EIO");
        REQUIRE(aio_read(&request) == 0);
        CHECK(aio_error(&request) == 0);
        CHECK(aio_return(&request) == left);
    }
}
