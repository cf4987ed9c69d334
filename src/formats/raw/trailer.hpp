// SPDX-License-Identifier: Apache-2.0
// The description at the end of a raw file, and the 24 bytes that say where it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tailrace::formats::raw {

/// Cuts or extends the file to `data_end` and appends `text` and the trailer.  [local]
/// @throws core::Error{no_space | io}
void write_description(const std::filesystem::path& file, std::uint64_t data_end,
                       const std::string& text);

/// The text that says what is in a file, and the size of what it speaks of.
struct Described {
    std::string text;
    std::uint64_t data_bytes = 0;
};

/// The description of a file.  [local]
/// @throws core::Error{no_such_file | io} also where there is no trailer
[[nodiscard]] Described read_description(const std::filesystem::path& file);

/// The text of a small file (a manifest), or its description where it is a shared file.  [local]
/// @throws core::Error
[[nodiscard]] Described read_description_or_manifest(const std::filesystem::path& file);

}  // namespace tailrace::formats::raw
