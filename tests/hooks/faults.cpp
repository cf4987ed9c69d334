// SPDX-License-Identifier: Apache-2.0
// The grammar of TAILRACE_FAULT, and each fault at the place of the real call.
#include <sys/uio.h>

#include <chrono>

#include "core/error.hpp"
#include "support.hpp"

using namespace tailrace::hooks::posix::test;
using tailrace::hooks::posix::inject_faults;
namespace core = tailrace::core;

namespace {

std::string problem(const std::string& rules) {
    tailrace::hooks::posix::install();
    try {
        inject_faults(rules);
    } catch (const core::Error& error) {
        CHECK(error.code() == core::Code::bad_input);
        return error.message();
    }
    inject_faults("");
    return "";
}

}  // namespace

TEST_CASE("faults: what is wrong with a rule is said, with its number and text") {
    CHECK(problem("") == "");
    CHECK(problem(" op=write, errno=EIO ;; op=read,errno=5,rank=3 ; ") == "");
    CHECK(problem("op=wrte,errno=EIO") ==
          "rule 1 \"op=wrte,errno=EIO\": op is \"wrte\"; it must be one of open, write, read, "
          "fsync, ftruncate, fallocate, rename, close, unlink");
    CHECK(problem("op=write,errno=EIO;op=read,erno=EIO") ==
          "rule 2 \"op=read,erno=EIO\": unknown key \"erno\"; keys are op, rank, path, phase, "
          "after, times, errno, short, delay_ms, limit_bytes");
    CHECK(problem("errno=EIO") ==
          "rule 1 \"errno=EIO\": op is missing; it must be one of open, write, read, fsync, "
          "ftruncate, fallocate, rename, close, unlink");
    CHECK(problem("op=write") ==
          "rule 1 \"op=write\": nothing would happen; give one of errno, "
          "short, delay_ms, limit_bytes");
    for (const char* bad :
         {"op=write,errno=ENOSUCH", "op=write,errno=0", "op=write,errno=-5",
          "op=write,errno=", "op=write,errno=EIO,rank=-1", "op=write,errno=EIO,rank=x",
          "op=write,errno=EIO,times=0", "op=write,errno=EIO,after=99999999999999999999999",
          "op=write,errno=EIO,after=1.5", "op=write,short=0", "op=fsync,short=3",
          "op=read,limit_bytes=5", "op=write,errno=EIO,path=", "op=write,op=write,errno=EIO",
          "op=write,limit_bytes=5,short=2", "op", "garbage", "op=write,errno=EIO,delay_ms=0"})
        CHECK_MESSAGE(problem(bad) != "", bad);
    std::string many;
    for (int index = 0; index < 33; ++index) many += "op=write,errno=EIO;";
    CHECK(problem(many) == "more than 32 rules");
}

TEST_CASE("faults: after a bad rule none is in force") {
    Scratch file;
    CHECK_THROWS_AS(inject_faults("op=write,errno=EIO;op=writ,errno=EIO"), core::Error);
    CHECK(write(file.fd, "a", 1) == 1);
}

TEST_CASE("faults: after, times and errno") {
    Scratch file;
    file.fault("write", "after=2,times=3,errno=EDQUOT");
    std::string outcome;
    for (int call = 0; call < 8; ++call) {
        errno = 0;
        outcome += write(file.fd, "a", 1) == 1 ? 'k' : errno == EDQUOT ? 'Q' : '?';
    }
    CHECK(outcome == "kkQQQkkk");
    CHECK(file.size() == 5);
    CHECK(file.writes().calls == 8);
    CHECK(file.writes().failed_calls == 3);
    CHECK(file.writes().first_errno == EDQUOT);
}

TEST_CASE("faults: first a short write, then the error, as a real disk does") {
    Scratch file;
    auto data = pattern(5000);
    file.fault("write", "after=1,errno=ENOSPC,short=1000");
    CHECK(write(file.fd, data.data(), 5000) == 5000);
    CHECK(write(file.fd, data.data(), 5000) == 1000);
    CHECK(write(file.fd, data.data(), 5000) == -1);
    CHECK(errno == ENOSPC);
    CHECK(file.size() == 6000);
    CHECK(file.writes().short_calls == 1);
    CHECK(file.writes().bytes_done == 6000);
}

TEST_CASE("faults: a vector is cut inside an entry, with every byte in its place") {
    Scratch file;
    auto data = pattern(3000);
    iovec pieces[3] = {{data.data(), 1000}, {data.data() + 1000, 0}, {data.data() + 1000, 2000}};
    file.fault("write", "short=1500");
    CHECK(pwritev(file.fd, pieces, 3, 10) == 1500);
    auto back = content(file);
    REQUIRE(back.size() == 1510);
    CHECK(std::equal(back.begin() + 10, back.end(), data.begin()));
    CHECK(writev(file.fd, pieces, 3) == 1500);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 1500);
}

TEST_CASE("faults: a disk that fills up") {
    Scratch file;
    auto data = pattern(600);
    file.fault("write", "limit_bytes=1000");
    CHECK(write(file.fd, data.data(), 600) == 600);
    CHECK(write(file.fd, data.data(), 600) == 400);
    CHECK(write(file.fd, data.data(), 600) == -1);
    CHECK(errno == ENOSPC);
    CHECK(write(file.fd, data.data(), 1) == -1);
    CHECK(file.size() == 1000);
    file.fault("write", "limit_bytes=0,errno=EDQUOT");
    CHECK(write(file.fd, data.data(), 1) == -1);
    CHECK(errno == EDQUOT);
}

TEST_CASE("faults: only the named path, phase and rank") {
    Scratch file, other;
    file.fault("write", "errno=EIO");
    CHECK(write(other.fd, "a", 1) == 1);
    CHECK(write(file.fd, "a", 1) == -1);
    inject_faults("op=write,path=*/interposer.*,phase=write,errno=EIO");
    CHECK(write(file.fd, "a", 1) == 1);
    Scratch::observer().enter_phase("write");
    CHECK(write(file.fd, "a", 1) == -1);
    Scratch::observer().enter_phase("");
    CHECK(write(file.fd, "a", 1) == 1);
    setenv("OMPI_COMM_WORLD_RANK", "2", 1);
    inject_faults("op=write,path=*/interposer.*,rank=1,errno=EIO");
    CHECK(write(file.fd, "a", 1) == 1);
    inject_faults("op=write,path=*/interposer.*,rank=2,errno=EIO");
    CHECK(write(file.fd, "a", 1) == -1);
    unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST_CASE("faults: read, open, sync, sizes, names and close") {
    Scratch file;
    char byte = 0;
    CHECK(write(file.fd, "abc", 3) == 3);
    file.fault("read", "errno=EIO,times=1");
    CHECK(pread(file.fd, &byte, 1, 0) == -1);
    CHECK(errno == EIO);
    CHECK(pread(file.fd, &byte, 1, 0) == 1);
    file.fault("read", "short=1");
    char three[3];
    CHECK(pread(file.fd, three, 3, 0) == 1);

    file.fault("open", "errno=EMFILE");
    CHECK(open(file.name().c_str(), O_RDONLY) == -1);
    CHECK(errno == EMFILE);
    CHECK(openat(AT_FDCWD, file.name().c_str(), O_RDONLY) == -1);
    CHECK(creat(file.name().c_str(), 0600) == -1);
    CHECK(file.size() == 3);
    file.fault("fsync", "errno=EIO");
    CHECK(fsync(file.fd) == -1);
    CHECK(fdatasync(file.fd) == -1);
    CHECK(errno == EIO);
    file.fault("ftruncate", "errno=EFBIG");
    CHECK(ftruncate(file.fd, 0) == -1);
    CHECK(truncate(file.name().c_str(), 0) == -1);
    CHECK(errno == EFBIG);
    CHECK(file.size() == 3);
    file.fault("fallocate", "errno=ENOSPC");
    CHECK(fallocate(file.fd, 0, 0, 100) == -1);
    CHECK(posix_fallocate(file.fd, 0, 100) == ENOSPC);
    CHECK(file.size() == 3);
    file.fault("unlink", "errno=EACCES");
    CHECK(unlink(file.name().c_str()) == -1);
    CHECK(errno == EACCES);
    const std::string target = file.name() + ".to";
    file.fault("rename", "errno=EXDEV");
    CHECK(rename(file.name().c_str(), target.c_str()) == -1);
    CHECK(errno == EXDEV);
    inject_faults("op=rename,path=*.to,errno=EIO");  // the target's name does as well
    CHECK(rename(file.name().c_str(), target.c_str()) == -1);
    CHECK(errno == EIO);
    CHECK(access(file.name().c_str(), F_OK) == 0);

    int extra = dup(file.fd);
    file.fault("close", "errno=EIO");
    CHECK(close(extra) == -1);
    CHECK(errno == EIO);
    inject_faults("");
    CHECK(fcntl(extra, F_GETFD) == -1);  // gone all the same
}

TEST_CASE("faults: a relative name is matched as absolute, too") {
    Scratch file;
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path(file.name()).parent_path());
    file.fault("open", "errno=EMFILE");
    const std::string base = std::filesystem::path(file.name()).filename();
    CHECK(open(base.c_str(), O_RDONLY) == -1);
    std::filesystem::current_path(here);
}

TEST_CASE("faults: a delay") {
    Scratch file;
    file.fault("write", "delay_ms=60,times=2");
    using Clock = std::chrono::steady_clock;
    auto begin = Clock::now();
    for (int call = 0; call < 5; ++call) CHECK(write(file.fd, "a", 1) == 1);
    auto took = Clock::now() - begin;
    CHECK(took >= std::chrono::milliseconds(120));
    CHECK(file.size() == 5);
}
