// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/read_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace tailrace::formats::mpiio {

using core::Code;
using core::Error;

namespace {

std::filesystem::path name_of(const Descriptor& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
}

/// Size of an open file; nothing where it is not known.
std::optional<std::uint64_t> size_of(const Descriptor& file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

ReadWatch::ReadWatch(const std::filesystem::path& path)
    : x_observer(core::io_observer()), x_seen(open_file(path, O_RDONLY)) {
    if (!x_seen.open()) throw system_error(errno, "this rank cannot open the file", path);
    x_bytes = size_of(x_seen).value_or(0);
    if (x_observer == nullptr) return;
    x_before = tally();
    x_observer->hold_errors(name_of(x_seen), true);
}

ReadWatch::~ReadWatch() {
    if (x_observer != nullptr) x_observer->hold_errors(name_of(x_seen), false);
}

core::CallTally ReadWatch::tally() const { return x_observer->tally(name_of(x_seen)).read; }

std::optional<Error> ReadWatch::failure(const std::string& doing, const std::string& where,
                                        bool data) {
    const std::uint64_t now_bytes = size_of(x_seen).value_or(x_bytes);
    if (now_bytes < x_bytes)
        return Error(Code::data_lost,
                     doing + " failed: the file was cut from " + std::to_string(x_bytes) + " to " +
                         std::to_string(now_bytes) + " bytes since it was opened",
                     where, "find out which program writes to it; then write the file again");
    if (x_observer == nullptr) return std::nullopt;
    const core::CallTally before = std::exchange(x_before, tally());
    const std::uint64_t asked = x_before.bytes_asked - before.bytes_asked;
    const std::uint64_t done = x_before.bytes_done - before.bytes_done;
    const std::string how_much =
        std::to_string(asked) + " bytes asked, " + std::to_string(done) + " read";
    if (x_before.failed_calls != before.failed_calls)
        return Error(
            Code::io,
            doing + " failed: " + how_much + ": " + core::describe_errno(x_before.first_errno),
            where, "check the disk and the file system's log; the file was not changed");
    if (data && done < asked)
        return Error(Code::data_lost, doing + " fell short: " + how_much + ": the file ends before",
                     where, "find out which program cut it; then write the file again");
    return std::nullopt;
}

}  // namespace tailrace::formats::mpiio
