// SPDX-License-Identifier: Apache-2.0
// The names of the parts of a file per rank, and what may stand there. Shared by a run and by a dry
// run.
#pragma once

#include <filesystem>

#include "core/sink.hpp"
#include "formats/file/names.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::posix {

/// Which names the parts of a set have: a set that takes the place of another has other names than
/// that one.
enum class PartNames { first, second };  // F.00003 and F.00003.b

/// Those of a set that is written as `manifest` now.  [local]
[[nodiscard]] PartNames part_names_for(const std::filesystem::path& manifest);

/// The part of a rank, beside its manifest.  [local]
[[nodiscard]] std::filesystem::path part_of_rank(const std::filesystem::path& manifest, int rank,
                                                 PartNames names);

/// Whether a file is a part that a run of this format has left: its description says so.  [local]
[[nodiscard]] bool is_part(const std::filesystem::path& file);

/// That options make sense in a file per rank.  [local]
/// @throws core::Error{bad_input}
void check_per_rank(const Options& options, const std::filesystem::path& manifest);

/// That the parts beside `manifest` that it does not name are left-overs, and not the data of a set
/// whose manifest was renamed.  [local]
/// @throws core::Error{already_exists} with the part and the manifest that names it
void check_parts_beside(const std::filesystem::path& manifest);

/// That a part may be made.  [local]
/// @throws core::Error
void check_part(const std::filesystem::path& part, core::Existing existing, LeftOver left_over);

}  // namespace tailrace::formats::posix
