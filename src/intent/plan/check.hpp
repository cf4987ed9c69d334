// SPDX-License-Identifier: Apache-2.0
// What the types of a plan cannot say. Also for rules, of ours and of a site.
#pragma once

#include <string>

#include "intent/plan/model.hpp"

namespace tailrace::intent::plan {

/// What is wrong with a setting: an unknown key, a value of another shape, out of range, an unknown
/// function or wrong arguments. Empty: nothing.  [local]
[[nodiscard]] std::string problem_of(const Planned& setting);
/// What a setting of this key is at least, whoever sets it.  [local]
[[nodiscard]] Class least_class(Key key) noexcept;
/// Whether a setting of this class may be of that key.  [local]
[[nodiscard]] bool is_enough(Class cls, Key key) noexcept;
/// Whether a setting delays what reaches the disk: not for files that are to last.  [local]
[[nodiscard]] bool delays(const std::string& key, const std::optional<Setting>& value);
/// What is wrong with a variable of the environment. Empty: nothing.  [local]
[[nodiscard]] std::string problem_of(const Variable& variable);
/// @param where  file name for messages
/// @throws Error{bad_input} with the place in the document  [local]
void check(const Plan& plan, const std::string& where);

}  // namespace tailrace::intent::plan
