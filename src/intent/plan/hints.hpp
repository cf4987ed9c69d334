// SPDX-License-Identifier: Apache-2.0
// Hints in a variable of the environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tailrace::intent::plan {

/// "a=1;b=2" of PNETCDF_HINTS, in parts.  [local]
[[nodiscard]] std::vector<std::pair<std::string, std::string>> hints_of(const std::string& text);

}  // namespace tailrace::intent::plan
