// SPDX-License-Identifier: Apache-2.0
// What the system calls of this rank do to the files of one target.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/io_observer.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats {

/// Files as the core::IoObserver sees them, by open descriptors: the counts must be found after a
/// rename or an unlink by rank 0. Without an observer nothing is counted and nothing held.
class CountedFiles {
public:
    CountedFiles() = default;
    /// Inode numbers are used again: nothing of ours may stick to them.
    ~CountedFiles();
    CountedFiles(const CountedFiles&) = delete;
    CountedFiles& operator=(const CountedFiles&) = delete;

    /// Counts a file from now on. One that cannot be opened is looked for by its name.  [local]
    void add(const std::filesystem::path& name, Descriptor seen);
    [[nodiscard]] bool empty() const noexcept { return x_files.empty(); }  ///< [local]
    /// The descriptor of a file that was added; -1 where it is not open.  [local]
    [[nodiscard]] int descriptor(const std::filesystem::path& name) const noexcept;

    /// Holds the errors of all files, those that are added later included
    /// (core::IoObserver::hold_errors).  [local]
    void hold(bool hold) noexcept;
    [[nodiscard]] bool holds() const noexcept { return x_holding; }  ///< [local]

    /// The failure that was seen since the files were added, if any. Never throws.  [local]
    /// @param doing  "writing /d"
    [[nodiscard]] std::optional<core::Error> failure(
        const std::string& doing, const std::filesystem::path& where) const noexcept;
    /// Counts of all files together, those of parts that were renamed included.  [local]
    [[nodiscard]] std::optional<core::WriterReport> writer(int rank,
                                                           const core::Phases& phases) const;

private:
    struct File {
        std::filesystem::path name;
        Descriptor seen;
        [[nodiscard]] std::filesystem::path counted() const {
            return seen.open() ? seen.name() : name;
        }
    };
    std::vector<File> x_files;
    bool x_holding = false;
};

}  // namespace tailrace::formats
