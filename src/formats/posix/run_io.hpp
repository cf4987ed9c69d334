// SPDX-License-Identifier: Apache-2.0
// Runs of bytes to and from a file with few system calls.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace tailrace::formats::posix {

/// Writes runs that follow each other in the file with one call. Long runs go straight from the
/// caller's memory; short ones are packed first. Nothing is kept from one object's life to the
/// next.
class RunWriter {
public:
    /// @param name  for messages
    RunWriter(int fd, std::filesystem::path name);
    /// Takes a run; `data` must live until flush().  [local]
    /// @throws core::Error{no_space | io} of this or an earlier run
    void add(std::uint64_t offset, const std::byte* data, std::uint64_t bytes);
    void flush();  ///< [local]

private:
    void append(const std::byte* data, std::size_t bytes);
    void start_write_back(std::uint64_t offset, std::uint64_t bytes) const noexcept;

    int x_fd;
    std::filesystem::path x_name;
    std::vector<struct iovec> x_runs;
    std::uint64_t x_offset = 0, x_bytes = 0;  ///< of the pending call
    std::vector<std::byte> x_packed;
    std::size_t x_packed_used = 0;
};

/// Reads runs; short ones that lie near each other with one call for all.
class RunReader {
public:
    RunReader(int fd, std::filesystem::path name);
    /// Takes a run; `data` is filled after flush().  [local]
    /// @throws core::Error{io}
    void add(std::uint64_t offset, std::byte* data, std::uint64_t bytes);
    void flush();  ///< [local]

private:
    struct Run {
        std::uint64_t offset;
        std::byte* data;
        std::uint64_t bytes;
    };
    int x_fd;
    std::filesystem::path x_name;
    std::vector<Run> x_runs;
    std::vector<std::byte> x_window;
};

}  // namespace tailrace::formats::posix
