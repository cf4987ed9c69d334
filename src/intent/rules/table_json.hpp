// SPDX-License-Identifier: Apache-2.0
// The table of rules for `tailrace rules` and the reference page.
#pragma once

#include <string>
#include <vector>

#include "intent/rules/site_rules.hpp"

namespace tailrace::intent::rules {

/// {"rules": [...], "conflicts": [...], "measures": [...], "settings": [...], "functions": [...]}.
/// [local]
[[nodiscard]] std::string table_json(const std::vector<SiteRule>& site_rules);

}  // namespace tailrace::intent::rules
