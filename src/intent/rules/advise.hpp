// SPDX-License-Identifier: Apache-2.0
// From the texts of profiles and rules to the text of a plan.
#pragma once

#include <string>
#include <vector>

#include "intent/plan/compile.hpp"

namespace tailrace::intent::rules {

struct Document {
    std::string name, text;  ///< name: of the file, for messages
};

/// What makes a plan.
struct Maker {
    plan::Hasher hasher;
    std::string version = {};  ///< for the plan's origin; empty: not told
};

/// The plan that follows, as JSON.  [local]
/// @param inputs  profiles or intents
/// @param rules   files of a site's own rules
/// @param declarations  what is declared of the profiles' files
/// @param allow   names of the classes that are allowed besides safe and layout
/// @throws Error{bad_input | unknown_key | missing_key} naming file and place
[[nodiscard]] std::string advise(const std::vector<Document>& inputs,
                                 const std::vector<Document>& rules,
                                 const std::vector<std::string>& allow,
                                 const std::vector<Document>& declarations, const Maker& maker);
/// The table of rules as JSON, a site's own at its end.  [local]
[[nodiscard]] std::string table_of(const std::vector<Document>& rules);

}  // namespace tailrace::intent::rules
