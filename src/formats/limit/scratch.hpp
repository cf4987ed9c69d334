// SPDX-License-Identifier: Apache-2.0
// A file for the clock: it is nobody else's, and it goes with its object.
#pragma once

#include <cstdint>
#include <filesystem>

#include "comm/comm.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats::limit {

/// A name beside another that nobody has. The same on all ranks.  [collective]
[[nodiscard]] std::filesystem::path scratch_name(const comm::Comm& comm,
                                                 const std::filesystem::path& beside);

/// That the folder of `beside` has `bytes` free.  [local]
/// @throws core::Error{no_space_reserved | no_such_directory}
void check_folder(const std::filesystem::path& beside, std::uint64_t bytes);

/// Creates a file, and removes it in the end, also after an interrupt.
class Scratch {
public:
    /// @throws core::Error{already_exists | not_writable | io}  [local]
    explicit Scratch(std::filesystem::path path);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return x_path; }
    [[nodiscard]] int fd() const noexcept { return x_fd.get(); }
    /// @throws core::Error{io | no_space}  [local]
    void sync() const;
    void close();  ///< [local]

private:
    std::filesystem::path x_path;
    Descriptor x_fd;
};

}  // namespace tailrace::formats::limit
