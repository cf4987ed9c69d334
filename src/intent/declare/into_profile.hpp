// SPDX-License-Identifier: Apache-2.0
// Declarations that come to a profile. Internal to src/intent.
#pragma once

#include <string>
#include <vector>

#include "intent/declare/declaration.hpp"

namespace tailrace::intent::declare {

// Where a declaration comes from, weakest first: what the program says itself wins.
inline constexpr const char* from_environment = "environment";
inline constexpr const char* from_file = "file";
inline constexpr const char* from_command_line = "command_line";
inline constexpr const char* from_context = "context_manager";
inline constexpr const char* from_list = "property_list";
/// 0 is the weakest; 5 where there is no such source.  [local]
[[nodiscard]] std::size_t strength_of(const std::string& from);

/// Adds what is declared of a file and its datasets; equal ones of several processes are one.
/// [local]
void add(File& file, const OfFile& of, const std::string& from, const ProcessSet& processes);
void add(Dataset& dataset, const Values& values, const std::string& from,
         const ProcessSet& processes);  ///< [local]

/// Adds what a document declares of the files that `processes` touched (empty: of all files).
/// [local]
/// @return  what `unmatched` says of these files
std::vector<std::string> declare(Profile& profile, const Document& document,
                                 const std::string& from, const ProcessSet& processes = {});
/// A sentence for each pattern that no file matches, or no dataset of those that its file's pattern
/// matches, with the nearest name.  [local]
[[nodiscard]] std::vector<std::string> unmatched(const Document& document,
                                                 const std::vector<const File*>& files);

}  // namespace tailrace::intent::declare
