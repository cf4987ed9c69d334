// SPDX-License-Identifier: Apache-2.0
// What rules take from intents. Internal to src/intent/rules.
#pragma once

#include "intent/intents/derive.hpp"
#include "intent/intents/model.hpp"
#include "intent/rules/decide.hpp"

namespace tailrace::intent::rules {

/// Patterns of names, and how bad it would be to lose a file.  [local]
void take_names(const Intents& intents, Options& options);
/// The same for files of other runs, which stand under `others` among the names.  [local]
void take_other_names(const std::vector<NamedProfile>& profiles, const OtherPaths& others,
                      Options& options);
/// As much of a profile as intents hold, for rules where there is no profile.  [local]
[[nodiscard]] Profile profile_of(const Intents& intents);

}  // namespace tailrace::intent::rules
