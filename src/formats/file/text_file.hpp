// SPDX-License-Identifier: Apache-2.0
// A file of text that goes with the data: whole under its name, or not there.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/file/part_file.hpp"

namespace tailrace::formats {

/// An empty part that goes with the object, unless it has got its final name by then. For one rank:
/// what comes of it is agreed on by the caller.
class TextFile {
public:
    /// [local]
    /// @throws core::Error of the system call
    explicit TextFile(const std::filesystem::path& path);
    ~TextFile();
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    /// Writes, syncs and renames it, as the data are: who reads the name meets the older file or
    /// the new one.  [local]
    /// @throws core::Error, and then what stood there is as it was
    void publish(std::string_view text);

private:
    std::filesystem::path x_path, x_part;
    Descriptor x_file;
};

}  // namespace tailrace::formats
