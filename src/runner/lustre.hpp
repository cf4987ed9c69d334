// SPDX-License-Identifier: Apache-2.0
// Striping by the tool `lfs`, called without a shell.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/plan.hpp"

namespace tailrace::runner {

/// What a program printed on both streams, and how it ended.
struct Finished {
    int status = 0;  ///< exit status; 128 + signal; 127 where it could not be started
    std::string output;
};
/// Runs a program found on PATH with these arguments, no shell between.  [local]
[[nodiscard]] Finished run_program(const std::vector<std::string>& arguments);

/// True where `lfs` is on PATH.  [local]
[[nodiscard]] bool lfs_there();

/// Creates `file` with the striping asked for.  [local]
/// @throws core::Error{Code::io} with the text of lfs
void set_striping(const Striping& striping, const std::filesystem::path& file);

/// The striping in force: "stripe_count", "stripe_size_bytes", as lfs getstripe tells; empty where
/// it tells nothing.  [local]
[[nodiscard]] std::map<std::string, std::string> striping_in_force(
    const std::filesystem::path& file);

}  // namespace tailrace::runner
