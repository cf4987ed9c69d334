// SPDX-License-Identifier: Apache-2.0
// The spools of one run become its profile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "intent/profile/model.hpp"
#include "intent/spool/decode.hpp"

namespace tailrace::intent::spool {

struct NamedSpool {
    std::string path;
    Spool spool;
};

/// The profile of the run that left `spools`.  [local]
/// @param command  the command line of the run; empty: that of the first process
[[nodiscard]] Profile merge(std::vector<NamedSpool> spools, const std::string& command);

/// The spools in a folder, ranks in their order; a damaged one is left out and named in `notes`.
/// [local]
/// @throws Error{no_such_directory} where there is no such folder
[[nodiscard]] std::vector<NamedSpool> read_folder(const std::filesystem::path& folder,
                                                  std::vector<std::string>& notes);

/// What became of a plan in all processes of a run, as JSON: `processes`, each with the `layers`
/// that applied something; and `outcomes`, each with rule, setting, file, dataset, became, value,
/// reason, count and the processes; `dropped` and `notes`.  [local]
/// @throws Error{no_such_directory} where there is no such folder
[[nodiscard]] std::string outcomes_of_folder(const std::filesystem::path& folder);

/// The profile of all spools in a folder; a damaged one is left out and named in the notes. [local]
/// @throws Error{no_such_directory} where there is no such folder
[[nodiscard]] Profile merge_folder(const std::filesystem::path& folder, const std::string& command);

}  // namespace tailrace::intent::spool
