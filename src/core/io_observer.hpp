// SPDX-License-Identifier: Apache-2.0
// The interface through which system-call counts of a hook reach a Sink and a Record.
// core does not know who counts: src/hooks/posix sets itself here when a program links it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tailrace::core {

/// What was asked of the kernel and what it did, for one file, one rank, one direction.
struct CallTally {
    static constexpr std::size_t size_classes = 48;  ///< class k: 2^k <= bytes < 2^(k+1)

    std::uint64_t calls = 0;         ///< calls that returned, failed ones included
    std::uint64_t bytes_asked = 0;   ///< sum of the lengths given
    std::uint64_t bytes_done = 0;    ///< sum of the return values
    std::uint64_t failed_calls = 0;  ///< returned -1, EINTR and EAGAIN apart
    std::uint64_t short_calls =
        0;                       ///< returned less than asked, 2^31-4096 (the kernel's limit) apart
    std::uint64_t smallest = 0;  ///< bytes asked by the smallest call; 0 where calls == 0
    std::uint64_t largest = 0;
    int first_errno = 0;  ///< of the first failed call
    std::array<std::uint64_t, size_classes> by_size{};

    CallTally& operator+=(const CallTally& other);
};

struct FileTally {
    CallTally write;
    CallTally read;
    /// Calls of `write` by family.
    std::uint64_t by_write = 0, by_pwrite = 0, by_writev = 0, by_aio = 0, by_uring = 0;

    FileTally& operator+=(const FileTally& other);
};

/// Counts per file, by inode: a renamed file keeps its counts.
class IoObserver {
public:
    virtual ~IoObserver() = default;
    /// From now on calls of this thread are also counted under this name (at most 31 characters).
    /// Those of a thread that never entered a phase count under that of the only thread that did;
    /// if several have, under none ("").  [local]
    virtual void enter_phase(std::string_view phase) noexcept = 0;
    /// All calls of this process on the file since start or the last forget().  [local]
    [[nodiscard]] virtual FileTally tally(const std::filesystem::path& file) const = 0;
    /// Only those made under `phase`.  [local]
    [[nodiscard]] virtual FileTally tally(const std::filesystem::path& file,
                                          std::string_view phase) const = 0;
    /// Drops the counts of a file (inode numbers are re-used).  [local]
    virtual void forget(const std::filesystem::path& file) noexcept = 0;
    /// While held, a write that fails or falls short is remembered in the tally but reported as
    /// complete to its caller, and later writes to that file are counted as failed and not made. A
    /// read that fails is remembered and gives zeros; one that falls short is continued up to the
    /// end of the file. Libraries above stay in step on all ranks, and the Sink or Source decides.
    /// [local]
    virtual void hold_errors(const std::filesystem::path& file, bool hold) noexcept = 0;
};

/// The observer of this process, or nullptr.  [local]
[[nodiscard]] IoObserver* io_observer() noexcept;
/// Sets it; nullptr takes it away. Not thread-safe: call it at the start of main.  [local]
void set_io_observer(IoObserver* observer) noexcept;

}  // namespace tailrace::core
