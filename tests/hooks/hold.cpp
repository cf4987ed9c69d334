// SPDX-License-Identifier: Apache-2.0
// Held errors: what fails below is success above, is remembered, and nothing more is written.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <csignal>

#include "not_run.hpp"
#include "support.hpp"

using namespace tailrace::hooks::posix::test;
using tailrace::hooks::posix::inject_faults;

TEST_CASE("hold: a failing write is complete for the caller, later ones are not made") {
    Scratch file, other;
    auto data = pattern(1000);
    file.hold();
    file.fault("write", "after=1,times=1,errno=ENOSPC");
    CHECK(pwrite(file.fd, data.data(), 1000, 0) == 1000);
    errno = EXDEV;
    CHECK(pwrite(file.fd, data.data(), 1000, 1000) == 1000);
    CHECK(errno == EXDEV);
    CHECK(pwrite(file.fd, data.data(), 500, 2000) == 500);
    CHECK(pwrite(file.fd, data.data(), 500, 0) == 500);
    CHECK(write(other.fd, data.data(), 1000) == 1000);
    CHECK(file.size() == 1000);
    auto writes = file.writes();
    CHECK(writes.calls == 4);
    CHECK(writes.failed_calls == 3);
    CHECK(writes.first_errno == ENOSPC);
    CHECK(writes.bytes_asked == 3000);
    CHECK(writes.bytes_done == 1000);
    CHECK(other.writes().failed_calls == 0);
    CHECK(other.size() == 1000);
}

TEST_CASE("hold: a short write is finished first; only then an error counts") {
    Scratch file;
    auto data = pattern(5000);
    file.hold();
    file.fault("write", "short=1000,times=2");
    CHECK(pwrite(file.fd, data.data(), 5000, 0) == 5000);
    auto back = content(file);
    CHECK(back == data);
    CHECK(file.writes().calls == 3);
    CHECK(file.writes().short_calls == 2);
    CHECK(file.writes().failed_calls == 0);
    CHECK(file.writes().bytes_asked == 5000);
    CHECK(file.writes().bytes_done == 5000);
}

TEST_CASE("hold: short, then a full disk") {
    Scratch file;
    auto data = pattern(5000);
    file.hold();
    file.fault("write", "errno=ENOSPC,short=1000");
    CHECK(pwrite(file.fd, data.data(), 5000, 100) == 5000);
    CHECK(pwrite(file.fd, data.data(), 5000, 100) == 5000);
    CHECK(file.size() == 1100);
    CHECK(file.writes().calls == 3);
    CHECK(file.writes().failed_calls == 2);
    CHECK(file.writes().first_errno == ENOSPC);
    CHECK(file.writes().bytes_asked == 10000);
    CHECK(file.writes().bytes_done == 1000);
}

TEST_CASE("hold: vectors, with every byte in its place") {
    Scratch file;
    auto data = pattern(3000);
    iovec pieces[4] = {{data.data(), 700},
                       {data.data() + 700, 0},
                       {data.data() + 700, 300},
                       {data.data() + 1000, 2000}};
    file.hold();
    file.fault("write", "short=900,times=1");
    CHECK(pwritev(file.fd, pieces, 4, 0) == 3000);
    CHECK(content(file) == data);
    CHECK(file.writes().failed_calls == 0);
    file.fault("write", "limit_bytes=900");
    CHECK(pwritev(file.fd, pieces, 4, 3000) == 3000);
    CHECK(file.size() == 3900);
    CHECK(file.writes().failed_calls == 1);
    CHECK(file.writes().bytes_done == 3900);
    CHECK(file.writes().bytes_asked == 6000);
}

TEST_CASE("hold: the file's position moves as if all had been written") {
    Scratch file;
    auto data = pattern(100);
    iovec piece{data.data(), 100};
    file.hold();
    file.fault("write", "limit_bytes=150");
    CHECK(write(file.fd, data.data(), 100) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 100);
    CHECK(write(file.fd, data.data(), 100) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 200);
    CHECK(writev(file.fd, &piece, 1) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 300);
    CHECK(pwritev2(file.fd, &piece, 1, -1, 0) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 400);
    CHECK(pwrite(file.fd, data.data(), 100, 0) == 100);
    CHECK(lseek(file.fd, 0, SEEK_CUR) == 400);
    CHECK(file.size() == 150);
}

TEST_CASE("hold: EINTR and EAGAIN go to the caller, fsync errors are not held") {
    Scratch file;
    file.hold();
    file.fault("write", "errno=EINTR,times=1");
    CHECK(write(file.fd, "abc", 3) == -1);
    CHECK(errno == EINTR);
    CHECK(write(file.fd, "abc", 3) == 3);
    CHECK(file.writes().failed_calls == 0);
    file.fault("fsync", "errno=EIO");
    CHECK(fsync(file.fd) == -1);
    CHECK(errno == EIO);
    // Interrupted after the first bytes: it goes on.
    inject_faults("op=write,path=" + file.name() + ",errno=EINTR,short=1,times=1");
    CHECK(pwrite(file.fd, "abcdef", 6, 0) == 6);
    CHECK(file.size() == 6);
    CHECK(file.writes().failed_calls == 0);
    // For ever interrupted: it does not turn for ever.
    inject_faults("op=write,path=" + file.name() + ",errno=EINTR,short=1");
    CHECK(pwrite(file.fd, "abcdef", 6, 0) == 6);
    CHECK(write(file.fd, "abcdef", 6) == 6);
    CHECK(file.writes().failed_calls == 2);
    CHECK(file.writes().first_errno == EIO);
}

TEST_CASE("hold: ends, is remembered, and forget wipes the slate clean") {
    Scratch file;
    auto& observer = Scratch::observer();
    file.hold();
    file.fault("write", "errno=EIO,times=1");
    CHECK(write(file.fd, "abc", 3) == 3);
    observer.hold_errors(file.name(), false);
    CHECK(write(file.fd, "abc", 3) == 3);
    CHECK(file.size() == 6);  // a hole where the swallowed bytes would be
    CHECK(file.writes().failed_calls == 1);
    file.hold();
    CHECK(write(file.fd, "abc", 3) == 3);
    CHECK(file.size() == 6);
    CHECK(file.writes().failed_calls == 2);
    observer.forget(file.name());
    CHECK(write(file.fd, "abc", 3) == 3);
    CHECK(file.size() == 12);
    CHECK(file.writes().failed_calls == 0);
}

TEST_CASE("hold: by file, whichever descriptor or name is used; a new file is not concerned") {
    Scratch file;
    file.hold();
    file.fault("write", "errno=EIO,times=1");
    int again = open(file.name().c_str(), O_WRONLY);
    CHECK(write(again, "abc", 3) == 3);
    CHECK(write(file.fd, "abc", 3) == 3);
    CHECK(file.writes().failed_calls == 2);
    CHECK(file.size() == 0);
    close(again);
}

namespace {

/// Four blocks of 1 MiB to a place that takes 1.5 MiB; 0 where all is as it should be, else the
/// line that is not.
int fill_up(const std::string& folder, int expected_errno) {
    Scratch file(folder);
    auto data = pattern(1 << 20);
    file.hold();
    for (long block = 0; block < 4; ++block)
        if (pwrite(file.fd, data.data(), data.size(), block << 20) != 1 << 20) return __LINE__;
    auto writes = file.writes();
    if (writes.first_errno != expected_errno) return __LINE__;
    if (writes.bytes_asked != 4 << 20) return __LINE__;
    if (writes.bytes_done != 3 << 19 || writes.bytes_done != std::uint64_t(file.size()))
        return __LINE__;
    if (writes.short_calls != 1) return __LINE__;   // the second block, as real disks do
    if (writes.failed_calls != 3) return __LINE__;  // its rest, and two blocks not tried
    if (writes.calls != 5) return __LINE__;
    return 0;
}

/// Runs `body` in a child; its exit code.
template <typename Body>
int in_child(Body body) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(body());
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

constexpr int not_allowed = 255;

bool wrote(const char* path, const std::string& text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done =
        fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (fd >= 0) close(fd);
    return done;
}

/// Mounts of one's own: root's right; others get it in a user name space where they are root.
bool own_mounts() {
    const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
    if (unshare(CLONE_NEWNS) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !wrote("/proc/self/setgroups", "deny") ||
         !wrote("/proc/self/uid_map", "0 " + user + " 1") ||
         !wrote("/proc/self/gid_map", "0 " + group + " 1")))
        return false;
    return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

TEST_CASE("hold: a really full disk (tmpfs of 1.5 MiB)") {
    tailrace::hooks::posix::install();
    int result = in_child([] {
        if (!own_mounts()) return not_allowed;
        const auto folder = std::filesystem::temp_directory_path() / "small";
        std::filesystem::create_directory(folder);
        if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1536k") != 0) return not_allowed;
        return fill_up(folder, ENOSPC);
    });
    if (result == not_allowed)
        tailrace::test::not_run(
            "needs `unshare -m`; run it as root with CAP_SYS_ADMIN, or allow user name spaces: "
            "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000");
    else
        CHECK(result == 0);
}

TEST_CASE("hold: a really refused write (file size limit of 1.5 MiB)") {
    tailrace::hooks::posix::install();
    CHECK(in_child([] {
              signal(SIGXFSZ, SIG_IGN);
              rlimit limit{3 << 19, 3 << 19};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return __LINE__;
              return fill_up(std::filesystem::temp_directory_path(), EFBIG);
          }) == 0);
}
