// SPDX-License-Identifier: Apache-2.0
// Declared intents win over derived ones, and are held against them. Internal to src/intent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// Puts what was declared into the statements of a file or dataset that was derived completely.
/// [local]
void take_declared(FileIntent& intent, const std::vector<Declared>& declared);
void take_declared(DatasetIntent& intent, const std::vector<Declared>& declared);  ///< [local]

/// Whether it would be worse to lose what has the reliability `a` than what has `b`.  [local]
[[nodiscard]] bool more_careful(std::string_view a, std::string_view b);

/// A dataset that was declared with more care than its file makes the file so, where nothing was
/// declared of that.  [local]
/// Evidence of a reliability: what was declared is not all known.
inline constexpr const char* declarations_not_kept = "declarations_not_kept";
/// Some declarations were lost, and one may have said that the file is to last.
void take_most_careful(FileIntent& file, std::uint64_t lost);
void take_careful(FileIntent& file, const DatasetIntent& dataset);
/// Holds what is declared of one run against what another run was seen to do.  [local]
void hold_against(FileIntent& intent, const FileIntent& other);
void hold_against(DatasetIntent& intent, const DatasetIntent& other);  ///< [local]

/// What a derived statement has against a declared word; nothing where it agrees, is a guess, or
/// one run cannot tell.  [local]
[[nodiscard]] std::optional<std::string> against(const std::string& key, const std::string& word,
                                                 const Statement& derived);
/// The same of an amount in bytes: more than twice, or less than half.  [local]
[[nodiscard]] std::optional<std::string> against(const std::string& what, std::uint64_t declared,
                                                 const Count& seen);

}  // namespace tailrace::intent
