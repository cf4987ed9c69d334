// SPDX-License-Identifier: Apache-2.0
// Writes 3 x 1000 bytes to a held file and prints what the caller saw and what was counted:
// held_writer FILE
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "core/error.hpp"
#include "core/io_observer.hpp"
#include "hooks/posix/observer.hpp"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    try {
        tailrace::hooks::posix::install();
    } catch (const tailrace::core::Error& error) {
        std::fprintf(stderr, "refused: %s\n", error.what());
        return tailrace::core::exit_code(error.code());
    }
    int fd = open(argv[1], O_CREAT | O_RDWR, 0600);
    auto& observer = *tailrace::core::io_observer();
    observer.hold_errors(argv[1], true);
    char data[1000] = {};
    for (int call = 0; call < 3; ++call)
        std::printf("%ld ", static_cast<long>(pwrite(fd, data, sizeof data, call * 1000L)));
    const auto writes = observer.tally(argv[1]).write;
    std::printf("calls %llu done %llu failed %llu errno %d\n",
                static_cast<unsigned long long>(writes.calls),
                static_cast<unsigned long long>(writes.bytes_done),
                static_cast<unsigned long long>(writes.failed_calls), writes.first_errno);
    return 0;
}
