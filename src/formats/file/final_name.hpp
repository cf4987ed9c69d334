// SPDX-License-Identifier: Apache-2.0
// The step from the name of a part to the final name, in a way that can be taken back.
#pragma once

#include <filesystem>
#include <string>

#include "core/sink.hpp"

namespace tailrace::formats {

/// Gives the part its final name; refuses to replace anything with Existing::refuse.  [local]
/// @throws core::Error
void rename_part(const std::filesystem::path& part, const std::filesystem::path& path,
                 core::Existing existing);

/// Makes names in a folder durable; file systems that cannot sync folders are forgiven.  [local]
/// @throws core::Error{Code::io}
void sync_folder(const std::filesystem::path& folder);

/// A part, a file or a folder, that is given its final name. What stood there before is kept until
/// the new name is known to be durable.
class FinalName {
public:
    /// Renames.  [local]
    /// @throws core::Error, and then nothing has changed
    FinalName(std::filesystem::path part, std::filesystem::path path, core::Existing existing);
    ~FinalName();
    FinalName(const FinalName&) = delete;
    FinalName& operator=(const FinalName&) = delete;

    /// Syncs the folder and removes what stood there before. Where the sync fails the names are
    /// as they were again, if stays() does not say otherwise.  [local]
    /// @throws core::Error{Code::io}
    void confirm();

    /// True where the sync of the folder failed and the names could not be put back: the new file
    /// stays, complete, and the name of the part is not ours any more.  [local]
    [[nodiscard]] bool stays() const noexcept { return x_stays; }

private:
    enum class Before { nothing, under_the_part, under_another_name, gone };
    [[nodiscard]] Before put() const;
    [[nodiscard]] bool keep_the_older() const;
    bool take_back() noexcept;
    [[nodiscard]] std::string fate_of_the_older() const;

    std::filesystem::path x_part, x_path, x_old;
    core::Existing x_existing;
    bool x_folder;  ///< and not a file
    Before x_before = Before::nothing;
    bool x_stays = false;
};

}  // namespace tailrace::formats
