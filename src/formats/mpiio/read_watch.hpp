// SPDX-License-Identifier: Apache-2.0
// What the system calls of this rank see of a file that it reads: MPI-IO and HDF5 do not tell all
// of it, and where one rank alone hears of a failure they leave the others waiting.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/io_observer.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats::mpiio {

/// Holds the errors of a file that this process reads (core::IoObserver::hold_errors), and knows
/// them. Without an observer only the size of the file is watched.
class ReadWatch {
public:
    /// @throws core::Error where the file cannot be opened  [local]
    explicit ReadWatch(const std::filesystem::path& path);
    ~ReadWatch();
    ReadWatch(const ReadWatch&) = delete;
    ReadWatch& operator=(const ReadWatch&) = delete;

    /// Libraries above do not hear of failures: they are in step on all ranks.  [local]
    [[nodiscard]] bool holds() const noexcept { return x_observer != nullptr; }

    /// The failure of this rank since the last call, if any.  [local]
    /// @param doing  "reading /d"
    /// @param data   what was read was data, all of which must be in the file; a library that looks
    ///               for its metadata may come to the end of the file
    [[nodiscard]] std::optional<core::Error> failure(const std::string& doing,
                                                     const std::string& where, bool data);

private:
    [[nodiscard]] core::CallTally tally() const;

    core::IoObserver* x_observer;
    Descriptor x_seen;  ///< names the inode to the observer, whatever becomes of the path
    std::uint64_t x_bytes = 0;
    core::CallTally x_before;
};

}  // namespace tailrace::formats::mpiio
