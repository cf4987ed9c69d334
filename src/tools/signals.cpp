// SPDX-License-Identifier: Apache-2.0
#include "tools/signals.hpp"

#include <unistd.h>
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

}  // namespace

void clean_up_on_signals() noexcept {
    struct sigaction action {};
    action.sa_handler = clean_up;
    sigemptyset(&action.sa_mask);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

void ending_with(int exit_code) noexcept { ending_code = exit_code; }

}  // namespace tailrace::tools
