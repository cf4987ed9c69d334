// SPDX-License-Identifier: Apache-2.0
// What is in a finished raw file, known to all ranks.
#pragma once

#include <filesystem>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/schema.hpp"
#include "core/sink.hpp"
#include "formats/raw/description.hpp"

namespace tailrace::formats::raw {

/// Reads the description on rank 0 and hands it to all.  [collective]
/// @throws core::Error{no_such_file | io} on all ranks
[[nodiscard]] Contents load_contents(const comm::Comm& comm, const std::filesystem::path& path);

/// Pieces of all parts of a file per rank, in the order of the parts; each rank reads its share of
/// the descriptions.  [collective]
[[nodiscard]] std::vector<std::vector<StoredPiece>> load_parts(const comm::Comm& comm,
                                                               const std::filesystem::path& path,
                                                               const Contents& contents);

/// The objects as a Schema.  [local]
[[nodiscard]] core::Schema schema_of(const Contents& contents);

/// The file of a part.  [local]
[[nodiscard]] std::filesystem::path part_path(const std::filesystem::path& manifest,
                                              const std::string& part);

}  // namespace tailrace::formats::raw
