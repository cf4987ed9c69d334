// SPDX-License-Identifier: Apache-2.0
// What became of a plan in all processes of a run.
#pragma once

#include <filesystem>
#include <string>

namespace tailrace::intent::spool {

/// A JSON text: `processes`, each with the `layers` that applied something; and `outcomes`, each
/// with rule, setting, file, dataset, became, value, reason, count and the processes; `dropped` and
/// `notes`.  [local]
/// @throws Error{no_such_directory} where there is no such folder
[[nodiscard]] std::string outcomes_of_folder(const std::filesystem::path& folder);

}  // namespace tailrace::intent::spool
