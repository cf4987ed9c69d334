// SPDX-License-Identifier: Apache-2.0
// Guards of rules that rest on what a program did not do. Internal to src/intent/rules.
#pragma once

#include <optional>

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

/// Where reads (or, of what is only read, writes) may have happened of which the profile does not
/// say anything.  [local]
[[nodiscard]] std::optional<Held> unseen_transfers(const Subject& s);

}  // namespace tailrace::intent::rules
