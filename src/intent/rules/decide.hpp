// SPDX-License-Identifier: Apache-2.0
// From profiles to decisions, and from decisions to the plan.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "intent/rules/rule.hpp"
#include "intent/rules/site_rules.hpp"

namespace tailrace::intent::rules {

struct Options {
    std::set<plan::Class> allowed{plan::Class::safe, plan::Class::layout};
    std::map<std::string, std::string> file_globs;     ///< by path: the pattern of its like
    std::map<std::string, std::string> dataset_globs;  ///< by "path of the file:path within it"
    std::map<std::string, Reliability> reliability;    ///< by path of the file
    std::vector<SiteRule> site_rules;
    /// By path of the file: bytes that other runs only read, and how many those are.
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> read_elsewhere;
};

/// Durable where nothing says otherwise.  [local]
[[nodiscard]] Reliability reliability_of(const Options& options, const std::string& path);

/// What became of one rule at one file or dataset.
struct Decision {
    std::string rule, effect, source;
    plan::Class cls = plan::Class::safe;
    std::string file, dataset;  ///< as in the profile
    Reason reason;              ///< of the trigger
    std::optional<Held> held;   ///< nothing: it applies
    Proposal proposal;
    std::uint64_t ranks = 0;   ///< of the file; a collective setting holds for those only
    std::uint64_t weight = 0;  ///< bytes that the file or dataset moved
    bool failing = false;      ///< the program fails as it is
    std::string_view instead;  ///< of the rule
};

/// Every rule that fires, at each file and dataset, with the written order of conflicts applied.
/// [local]
[[nodiscard]] std::vector<Decision> decide(const Profile& profile, const Options& options);

/// The plan of several profiles. Where they, or files of one pattern, do not agree on a setting, or
/// a rule would harm one of them, it is held back.  [local]
/// @param sources  names of the profiles, for the plan's origin
[[nodiscard]] plan::Plan plan_of(const std::vector<Profile>& profiles, const Options& options,
                                 const std::vector<std::string>& sources);

}  // namespace tailrace::intent::rules
