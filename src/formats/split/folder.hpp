// SPDX-License-Identifier: Apache-2.0
// A folder of plain files as one Sink: an object of bytes is a file, its path the name below the
// folder. For formats that are folders, such as a plot file of AMReX.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"

namespace tailrace::formats::split {

struct FolderOptions {
    /// The file by which a folder of this kind is known: one that has it may be replaced.
    std::string known_by{};
    /// Name of a file, written last, that lists the others with their sizes (JSON,
    /// "tailrace-folder/1"); empty: none.
    std::string manifest{};
};

/// Opens the folder `target.path` for writing by every rank of `comm`. Objects are of one
/// dimension and type u8, "/Level_0/Cell_H" is the file Level_0/Cell_H; any rank writes any part of
/// a file, with pwrite. Attributes have no place and are refused. The folder appears under its name
/// when all files are complete and synced, or not at all.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Sink> open_folder(const comm::Comm& comm,
                                                      const core::Target& target,
                                                      const FolderOptions& options,
                                                      core::Phases& phases);

/// What open_folder() finds out about the name before it makes anything.  [collective]
/// @throws core::Error on all ranks
void check_folder(const comm::Comm& comm, const core::Target& target, const FolderOptions& options);

/// Opens a folder for reading: its regular files, also those of folders below, are objects as
/// open_folder() has them, in the order of their names. Symbolic links are files.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_folder_source(const comm::Comm& comm,
                                                               const std::filesystem::path& folder,
                                                               core::Phases& phases);

}  // namespace tailrace::formats::split
