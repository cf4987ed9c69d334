// SPDX-License-Identifier: Apache-2.0
// The settings of a plan for a file or dataset, as values: for what is not a hook.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intent/plan/lookup.hpp"
#include "intent/profile/model.hpp"

namespace tailrace::intent::plan {

/// A setting, with the rule that it comes from.
struct Resolved {
    std::string key, rule;
    std::optional<Setting> value{};
    std::string misfit{};  ///< why there is none; a chunk beyond the extents has both
};

/// What lookup.hpp finds for one that a single process makes or opens.  [local]
/// @param file     absolute path
/// @param dataset  path within the file, "/a/b"; empty: settings of the file
[[nodiscard]] std::vector<Resolved> resolve(const PlanView& plan, const std::string& file,
                                            const std::string& dataset, const Surroundings& around,
                                            Moment moment = Moment::create);

}  // namespace tailrace::intent::plan
