// SPDX-License-Identifier: Apache-2.0
#include "tools/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/cleanup.hpp"

namespace tailrace::tools {

namespace {

volatile std::sig_atomic_t ending_code = -1;

extern "C" void clean_up(int signal) {
    if (ending_code >= 0) _exit(ending_code);
    core::remove_unfinished_files();
    _exit(128 + signal);
}

/// Waits until the last writer of the pipe, the parent, is gone.
[[noreturn]] void wait_and_clean_up(int pipe) {
    ::setsid();  // launchers and terminals signal whole process groups
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);
    char none = 0;
    while (::read(pipe, &none, 1) < 0 && errno == EINTR) {
    }
    core::remove_unfinished_files();
    _exit(0);
}

}  // namespace

void open_standard_descriptors() noexcept {
    for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(standard, F_GETFD) < 0 && errno == EBADF) {
            const int fd = ::open("/dev/null", O_RDWR);  // the lowest number that is free
            if (fd >= 0 && fd != standard) {
                ::dup2(fd, standard);
                ::close(fd);
            }
        }
}

void ignore_write_signals() noexcept {
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    for (int signal : {SIGXFSZ, SIGPIPE}) ::sigaction(signal, &action, nullptr);
}

void clean_up_after_death() noexcept {
    int ends[2] = {-1, -1};
    if (!core::share_unfinished_files() || ::pipe2(ends, O_CLOEXEC) != 0) return;
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[1]);
        wait_and_clean_up(ends[0]);
    }
    ::close(ends[0]);  // the other end stays open as long as this process lives
}

void clean_up_on_signals() noexcept {
    struct sigaction action {};
    action.sa_handler = clean_up;
    sigemptyset(&action.sa_mask);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

void ending_with(int exit_code) noexcept { ending_code = exit_code; }

}  // namespace tailrace::tools
