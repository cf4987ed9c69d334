// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/run_io.hpp"

#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats::posix {

namespace {

constexpr std::uint64_t largest_call_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t short_run_bytes = 4096;  // below that a copy costs less than an iovec
constexpr std::size_t packed_bytes = std::size_t{1} << 20;
constexpr std::uint64_t write_back_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t window_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t largest_gap_bytes = 16384;  // read and thrown away rather than seeked over

/// pwritev until all is written.
void write_vector(int fd, std::vector<struct iovec>& runs, std::uint64_t offset,
                  std::uint64_t bytes, const std::filesystem::path& name) {
    std::uint64_t done = 0;
    std::size_t first = 0;
    while (done < bytes) {
        const ssize_t wrote =
            ::pwritev(fd, runs.data() + first, static_cast<int>(runs.size() - first),
                      static_cast<off_t>(offset + done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            throw system_error(wrote < 0 ? errno : ENOSPC,
                               "writing failed at offset " + std::to_string(offset + done) + ": " +
                                   std::to_string(bytes) + " bytes asked, " + std::to_string(done) +
                                   " written",
                               name);
        done += static_cast<std::uint64_t>(wrote);
        for (std::size_t left = static_cast<std::size_t>(wrote); left > 0;) {
            struct iovec& run = runs[first];
            const std::size_t taken = std::min(left, run.iov_len);
            run.iov_base = static_cast<char*>(run.iov_base) + taken;
            run.iov_len -= taken;
            left -= taken;
            if (run.iov_len == 0) ++first;
        }
    }
}

}  // namespace

RunWriter::RunWriter(int fd, std::filesystem::path name) : x_fd(fd), x_name(std::move(name)) {}

void RunWriter::append(const std::byte* data, std::size_t bytes) {
    if (!x_runs.empty()) {
        struct iovec& last = x_runs.back();
        if (static_cast<const std::byte*>(last.iov_base) + last.iov_len == data) {
            last.iov_len += bytes;
            x_bytes += bytes;
            return;
        }
    }
    x_runs.push_back({const_cast<std::byte*>(data), bytes});
    x_bytes += bytes;
}

void RunWriter::add(std::uint64_t offset, const std::byte* data, std::uint64_t bytes) {
    const bool follows = offset == x_offset + x_bytes;
    if (!follows || x_runs.size() >= IOV_MAX || x_bytes + bytes > largest_call_bytes) flush();
    if (x_bytes == 0) x_offset = offset;
    if (bytes >= largest_call_bytes) {
        write_fully(x_fd, data, bytes, offset, x_name);
        start_write_back(offset, bytes);
        return;
    }
    // A run that goes on where the last one ended in memory needs no copy, however short.
    const bool goes_on =
        !x_runs.empty() &&
        static_cast<const std::byte*>(x_runs.back().iov_base) + x_runs.back().iov_len == data;
    if (bytes >= short_run_bytes || goes_on) {
        append(data, bytes);
        return;
    }
    if (x_packed_used + bytes > packed_bytes) {
        flush();
        x_offset = offset;
    }
    x_packed.resize(packed_bytes);
    std::byte* copy = x_packed.data() + x_packed_used;
    std::memcpy(copy, data, bytes);
    x_packed_used += bytes;
    append(copy, bytes);
}

// All of it is synced in the end. A long run starts on its way to the disk at once, beside the
// writes that follow; for short ones, which share pages, the kernel knows better.
void RunWriter::start_write_back(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    if (bytes < write_back_bytes) return;
    // A hint: where it has no meaning it fails, and nothing is lost.
    (void)::sync_file_range(x_fd, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                            SYNC_FILE_RANGE_WRITE);
}

void RunWriter::flush() {
    if (x_runs.size() == 1)
        write_fully(x_fd, x_runs[0].iov_base, x_bytes, x_offset, x_name);
    else if (!x_runs.empty())
        write_vector(x_fd, x_runs, x_offset, x_bytes, x_name);
    start_write_back(x_offset, x_bytes);
    x_runs.clear();
    x_bytes = 0;
    x_packed_used = 0;
}

RunReader::RunReader(int fd, std::filesystem::path name) : x_fd(fd), x_name(std::move(name)) {}

void RunReader::add(std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
    if (!x_runs.empty()) {
        const Run& last = x_runs.back();
        const std::uint64_t end = last.offset + last.bytes;
        const bool near = offset >= end && offset - end <= largest_gap_bytes &&
                          offset + bytes - x_runs.front().offset <= window_bytes;
        if (!near) flush();
    }
    if (!x_runs.empty() && x_runs.back().offset + x_runs.back().bytes == offset &&
        x_runs.back().data + x_runs.back().bytes == data) {
        x_runs.back().bytes += bytes;
        return;
    }
    x_runs.push_back({offset, data, bytes});
}

void RunReader::flush() {
    if (x_runs.size() == 1) {
        read_fully(x_fd, x_runs[0].data, x_runs[0].bytes, x_runs[0].offset, x_name);
    } else if (!x_runs.empty()) {
        const std::uint64_t begin = x_runs.front().offset;
        const std::uint64_t bytes = x_runs.back().offset + x_runs.back().bytes - begin;
        x_window.resize(bytes);
        read_fully(x_fd, x_window.data(), bytes, begin, x_name);
        for (const Run& run : x_runs)
            std::memcpy(run.data, x_window.data() + (run.offset - begin), run.bytes);
    }
    x_runs.clear();
}

}  // namespace tailrace::formats::posix
