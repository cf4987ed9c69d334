// SPDX-License-Identifier: Apache-2.0
// What is counted, under which file, phase, family and size; and that nothing else changes.
#include <pthread.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include "not_run.hpp"
#include "support.hpp"

using namespace tailrace::hooks::posix::test;
namespace posix = tailrace::hooks::posix;

TEST_CASE("counts: every form of write and read once, with bytes, family and size class") {
    Scratch file;
    auto data = pattern(4096);
    iovec pieces[2] = {{data.data(), 1000}, {data.data() + 1000, 24}};
    CHECK(write(file.fd, data.data(), 1) == 1);
    CHECK(pwrite(file.fd, data.data(), 4096, 0) == 4096);
    CHECK(pwrite64(file.fd, data.data(), 4095, 8) == 4095);
    CHECK(writev(file.fd, pieces, 2) == 1024);
    CHECK(pwritev(file.fd, pieces, 2, 0) == 1024);
    CHECK(pwritev64(file.fd, pieces, 2, 0) == 1024);
    CHECK(pwritev2(file.fd, pieces, 2, 0, 0) == 1024);
    CHECK(pwritev64v2(file.fd, pieces, 2, -1, 0) == 1024);
    CHECK(write(file.fd, data.data(), 0) == 0);
    auto tally = file.tally();
    CHECK(tally.write.calls == 9);
    CHECK(tally.write.bytes_asked == 1 + 4096 + 4095 + 5 * 1024);
    CHECK(tally.write.bytes_done == tally.write.bytes_asked);
    CHECK(tally.write.failed_calls == 0);
    CHECK(tally.write.short_calls == 0);
    CHECK(tally.write.smallest == 0);
    CHECK(tally.write.largest == 4096);
    CHECK(tally.write.by_size[0] == 2);
    CHECK(tally.write.by_size[10] == 5);
    CHECK(tally.write.by_size[11] == 1);
    CHECK(tally.write.by_size[12] == 1);
    CHECK(tally.by_write == 2);
    CHECK(tally.by_pwrite == 2);
    CHECK(tally.by_writev == 5);
    CHECK(tally.read.calls == 0);

    std::vector<char> back(4096);
    iovec into[2] = {{back.data(), 10}, {back.data() + 10, 90}};
    lseek(file.fd, 0, SEEK_SET);
    CHECK(read(file.fd, back.data(), 100) == 100);
    CHECK(pread(file.fd, back.data(), 100, 0) == 100);
    CHECK(pread64(file.fd, back.data(), 100, 0) == 100);
    CHECK(readv(file.fd, into, 2) == 100);
    CHECK(preadv(file.fd, into, 2, 0) == 100);
    CHECK(preadv64(file.fd, into, 2, 0) == 100);
    CHECK(preadv2(file.fd, into, 2, 0, 0) == 100);
    CHECK(preadv64v2(file.fd, into, 2, 0, 0) == 100);
    CHECK(pread(file.fd, back.data(), 100, file.size() - 40) == 40);
    auto reads = file.reads();
    CHECK(reads.calls == 9);
    CHECK(reads.bytes_asked == 900);
    CHECK(reads.bytes_done == 840);
    CHECK(reads.short_calls == 1);
    CHECK(file.writes().calls == 9);
}

TEST_CASE("counts: a failed call has its errno, and errno is left alone by a good one") {
    Scratch file;
    int read_only = open(file.name().c_str(), O_RDONLY);
    REQUIRE(read_only >= 0);
    errno = 0;
    CHECK(write(read_only, "x", 1) == -1);
    CHECK(errno == EBADF);
    CHECK(pwrite(file.fd, "x", 1, -5) == -1);
    CHECK(errno == EINVAL);
    errno = EXDEV;
    CHECK(write(file.fd, "x", 1) == 1);
    CHECK(errno == EXDEV);
    CHECK(write(-1, "x", 1) == -1);
    CHECK(errno == EBADF);
    close(read_only);
    CHECK(file.writes().failed_calls == 2);
    CHECK(file.writes().first_errno == EBADF);
    CHECK(file.writes().bytes_done == 1);
    CHECK(file.writes().bytes_asked == 3);
}

TEST_CASE("counts: invalid vectors and memory come back as the kernel's errors") {
    Scratch file;
    char byte = 0;
    iovec entry{&byte, 1};
    ssize_t (*volatile call)(int, const iovec*, int) = writev;  // unseen by the compiler's checks
    CHECK(call(file.fd, &entry, -1) == -1);
    CHECK(errno == EINVAL);
    CHECK(call(file.fd, reinterpret_cast<iovec*>(8), 1) == -1);
    CHECK(errno == EFAULT);
    CHECK(call(file.fd, &entry, 5000) == -1);
    CHECK(errno == EINVAL);
    CHECK(file.writes().failed_calls == 3);
}

TEST_CASE("counts: pipes and sockets are not counted") {
    Scratch file;
    const auto before = posix::unattributed_calls();
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    CHECK(write(ends[1], "abc", 3) == 3);
    char back[3];
    CHECK(read(ends[0], back, 3) == 3);
    close(ends[0]);
    close(ends[1]);
    CHECK(file.writes().calls == 0);
    CHECK(posix::unattributed_calls() == before);
}

TEST_CASE("counts: each phase for itself, and a renamed file keeps its counts") {
    Scratch file;
    auto& observer = Scratch::observer();
    observer.enter_phase("create");
    CHECK(write(file.fd, "abc", 3) == 3);
    observer.enter_phase("write");
    CHECK(write(file.fd, "abcdef", 6) == 6);
    CHECK(write(file.fd, "a", 1) == 1);
    observer.enter_phase("create");
    CHECK(write(file.fd, "ab", 2) == 2);
    observer.enter_phase("a name that is longer than thirty-one characters");
    CHECK(write(file.fd, "abcd", 4) == 4);
    observer.enter_phase("");
    const std::string other = file.name() + ".renamed";
    REQUIRE(rename(file.name().c_str(), other.c_str()) == 0);
    CHECK(observer.tally(other, "create").write.bytes_done == 5);
    CHECK(observer.tally(other, "write").write.calls == 2);
    CHECK(observer.tally(other, "write").write.bytes_done == 7);
    CHECK(observer.tally(other, "a name that is longer than thir").write.calls == 1);
    CHECK(observer.tally(other, "never entered").write.calls == 0);
    CHECK(observer.tally(other).write.bytes_done == 16);
    CHECK(observer.tally(file.name()).write.calls == 0);  // no such file now
    REQUIRE(rename(other.c_str(), file.name().c_str()) == 0);
}

TEST_CASE("counts: forget begins anew, and a hundred thousand files need no more memory") {
    Scratch file;
    CHECK(write(file.fd, "abc", 3) == 3);
    Scratch::observer().forget(file.name());
    CHECK(file.writes().calls == 0);
    CHECK(write(file.fd, "a", 1) == 1);
    CHECK(file.writes().calls == 1);
    const auto before = posix::unattributed_calls();
    for (int round = 0; round < 100000; ++round) {
        Scratch::observer().enter_phase(round % 2 == 0 ? "even" : "odd");
        REQUIRE(pwrite(file.fd, "a", 1, 0) == 1);
        REQUIRE(Scratch::observer().tally(file.name()).write.calls > 0);
        Scratch::observer().forget(file.name());
    }
    Scratch::observer().enter_phase("");
    CHECK(posix::unattributed_calls() == before);
}

TEST_CASE("counts: a new file with the inode of a forgotten one starts at zero") {
    Scratch file;
    const std::string name = file.name() + ".new";
    ino_t first = 0;
    bool reused = false;
    for (int round = 0; round < 200 && !reused; ++round) {
        int fd = open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
        struct stat status {};
        REQUIRE(fstat(fd, &status) == 0);
        reused = status.st_ino == first;
        first = status.st_ino;
        CHECK(write(fd, "abc", 3) == 3);
        CHECK(Scratch::observer().tally(name).write.calls == 1);
        Scratch::observer().hold_errors(name, true);
        close(fd);
        Scratch::observer().forget(name);
        unlink(name.c_str());
    }
    if (!reused) MESSAGE("this file system gave no inode number twice");
}

TEST_CASE("counts: more files than the table holds are counted as unattributed") {
    Scratch file;
    const auto before = posix::unattributed_calls();
    const std::string folder = file.name() + ".many";
    std::filesystem::create_directory(folder);
    std::vector<std::string> names;
    for (int index = 0; index < 4200; ++index) {
        names.push_back(folder + "/" + std::to_string(index));
        int fd = open(names.back().c_str(), O_WRONLY | O_CREAT, 0600);
        REQUIRE(fd >= 0);
        REQUIRE(write(fd, "x", 1) == 1);
        close(fd);
    }
    std::uint64_t found = 0;
    for (const auto& name : names) found += Scratch::observer().tally(name).write.calls;
    CHECK(found + (posix::unattributed_calls() - before) == 4200);
    CHECK(found > 4000);
    CHECK(found < 4200);
    // A place is kept for a file whose errors are to be held.
    file.hold();
    file.fault("write", "errno=ENOSPC");
    CHECK(write(file.fd, "x", 1) == 1);
    CHECK(file.writes().failed_calls == 1);
    tailrace::hooks::posix::inject_faults("");
    Scratch::observer().forget(file.name());
    for (const auto& name : names) Scratch::observer().forget(name);
    std::filesystem::remove_all(folder);
    CHECK(write(file.fd, "x", 1) == 1);
    CHECK(file.writes().calls == 1);
}

TEST_CASE("counts: threads hammering old and new files lose nothing") {
    Scratch shared;
    constexpr int threads = 8, rounds = 2000;
    std::vector<std::thread> team;
    for (int index = 0; index < threads; ++index)
        team.emplace_back([&shared, index] {
            for (int round = 0; round < rounds; ++round) {
                REQUIRE(pwrite(shared.fd, "ab", 2, index * 2) == 2);
                if (round % 100 != 0) continue;
                Scratch::observer().enter_phase("phase " + std::to_string(round / 100 % 40));
                const std::string name = shared.name() + "." + std::to_string(index);
                int fd = open(name.c_str(), O_CREAT | O_RDWR, 0600);
                REQUIRE(write(fd, "abc", 3) == 3);
                CHECK(Scratch::observer().tally(name).write.bytes_done == 3);
                Scratch::observer().forget(name);
                close(fd);
                unlink(name.c_str());
            }
        });
    for (auto& thread : team) thread.join();
    Scratch::observer().enter_phase("");
    CHECK(shared.writes().calls == threads * rounds);
    CHECK(shared.writes().bytes_done == 2 * threads * rounds);
    CHECK(shared.tally().by_pwrite == threads * rounds);
}

TEST_CASE("counts: a forked child starts at zero and leaves its parent's counts alone") {
    Scratch file;
    CHECK(write(file.fd, "abc", 3) == 3);
    std::atomic<bool> stop{false};
    std::thread busy([&] {  // so that locks may be held at the moment of the fork
        while (!stop) REQUIRE(pwrite(file.fd, "z", 1, 100) == 1);
    });
    for (int round = 0; round < 20; ++round) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            bool good = file.writes().calls == 0 && write(file.fd, "ab", 2) == 2 &&
                        file.writes().calls == 1 && file.writes().bytes_done == 2;
            _exit(good ? 0 : 1);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    stop = true;
    busy.join();
    CHECK(file.tally().by_write == 1);
}

namespace {
int known_fd = -1;
std::atomic<int> new_fd{-1};
void write_in_handler(int) {
    int before = errno;
    (void)!write(known_fd, "s", 1);
    (void)!write(new_fd, "s", 1);  // wants the lock that the interrupted code may hold
    errno = before;
}
}  // namespace

TEST_CASE("counts: a signal handler may write, also where it interrupts the interposer") {
    Scratch file;
    known_fd = file.fd;
    CHECK(write(file.fd, "s", 1) == 1);
    const auto before = posix::unattributed_calls();
    struct sigaction action {
    }, old{};
    action.sa_handler = write_in_handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &old);
    pthread_t self = pthread_self();
    std::atomic<bool> stop{false};
    std::thread sender([&] {
        while (!stop) {
            pthread_kill(self, SIGUSR1);
            usleep(20);
        }
    });
    const std::string other = file.name() + ".other";
    for (int round = 0; round < 30000; ++round) {
        int fd = open(other.c_str(), O_CREAT | O_RDWR, 0600);
        new_fd = fd;
        REQUIRE(pwrite(fd, "ab", 2, 0) == 2);
        Scratch::observer().forget(other);  // so that the next one takes the lock again
        new_fd = -1;
        close(fd);
    }
    stop = true;
    sender.join();
    unlink(other.c_str());
    sigaction(SIGUSR1, &old, nullptr);
    const auto made = static_cast<std::uint64_t>(file.size());
    CHECK(made > 100);
    CHECK(file.writes().calls == made);
    MESSAGE("interrupted while it held the lock: " << posix::unattributed_calls() - before);
}

TEST_CASE("counts: a file that gets the number of a removed one does not get its counts") {
    Scratch file;
    const std::string old = file.name() + ".old", next = file.name() + ".new";
    for (const bool by_another : {false, true}) {
        CAPTURE(by_another);
        bool reused = false;
        for (int attempt = 0; attempt < 100 && !reused; ++attempt) {
            const int fd = open(old.c_str(), O_CREAT | O_RDWR, 0600);
            REQUIRE(write(fd, "forty", 5) == 5);
            struct stat before {
            }, after{};
            REQUIRE(fstat(fd, &before) == 0);
            close(fd);
            usleep(20000);  // times of birth are those of the kernel's ticks
            REQUIRE(unlink(old.c_str()) == 0);
            const pid_t child = by_another ? fork() : -1;
            if (child <= 0) {
                const int made = open(next.c_str(), O_CREAT | O_RDWR, 0600);
                if (child == 0) _exit(made < 0);
                REQUIRE(made >= 0);
                close(made);
            } else {
                int status = 1;
                REQUIRE(waitpid(child, &status, 0) == child);
                REQUIRE(status == 0);
            }
            REQUIRE(stat(next.c_str(), &after) == 0);
            reused = after.st_ino == before.st_ino;
            if (reused) {
                CHECK(Scratch::observer().tally(next).write.calls == 0);
                const int again = open(next.c_str(), O_CREAT | O_RDWR, 0600);
                CHECK(write(again, "abc", 3) == 3);
                close(again);
                CHECK(Scratch::observer().tally(next).write.bytes_done == 3);
            }
            Scratch::observer().forget(next);
            REQUIRE(unlink(next.c_str()) == 0);
        }
        if (!reused)
            tailrace::test::not_run(
                "needs a temporary folder whose file system uses numbers of inodes again, as ext4");
    }
}

// AddressSanitizer is not told of frames that a cancellation unwinds, and takes their red zones for
// an error when the thread ends.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("counts: a thread that is cancelled inside a call unwinds through the interposer") {
    Scratch file;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pthread_t thread{};
    auto body = [](void* fd) -> void* {
        char byte = 0;
        (void)!read(*static_cast<int*>(fd), &byte, 1);
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, nullptr, body, &ends[0]) == 0);
    usleep(20000);
    REQUIRE(pthread_cancel(thread) == 0);
    void* result = nullptr;
    REQUIRE(pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    close(ends[0]);
    close(ends[1]);
}
#endif
