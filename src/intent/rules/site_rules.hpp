// SPDX-License-Identifier: Apache-2.0
// A site's own rules, schema tailrace-rules/1: conditions on named measures, and settings with the
// same checks as ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

enum class Comparison { equal, not_equal, less, at_most, greater, at_least };

/// "dataset.write_call_bytes at_least 1048576".
struct Condition {
    std::string measure;
    Comparison is = Comparison::equal;
    Setting value;
    std::string held;  ///< of a guard: why it holds back
};
struct SiteSetting {
    std::string key;
    std::optional<Setting> value;
    std::optional<plan::Call> function;
};
struct SiteRule {
    std::string id, title;
    Scope scope = Scope::file;
    plan::Class cls = plan::Class::safe;
    std::vector<Condition> trigger, guard;
    plan::When when = plan::When::any;
    std::vector<SiteSetting> settings;
    std::optional<std::string> advice;
    std::vector<std::string> commands;
    std::string effect, source;
    std::string file;  ///< where it was read from: its origin
};

using Measured = std::optional<std::variant<double, std::string>>;

struct Measure {
    std::string_view name;
    bool dataset;  ///< only of datasets
    std::string_view sentence;
    Measured (*of)(const Subject&);
    bool text = false;  ///< else a number
};

[[nodiscard]] std::span<const Measure> measures();  ///< [local]
/// Rules in a JSON text.  [local]
/// @param where  file name, for messages and as their origin
/// @throws Error{bad_input | unknown_key | missing_key} with the place in the document
[[nodiscard]] std::vector<SiteRule> site_rules_from_json(std::string_view text,
                                                         const std::string& where);
/// The JSON Schema that stands in schemas/rules-1.schema.json.  [local]
[[nodiscard]] std::string rules_schema();
/// The table of rules for `tailrace rules` and the reference page, as JSON: `rules`, `conflicts`,
/// `measures`, `settings` and `functions`.  [local]
[[nodiscard]] std::string table_json(const std::vector<SiteRule>& site_rules);

/// Whether all conditions hold, with what was measured; nothing where one does not, or is not
/// known.  [local]
[[nodiscard]] std::optional<Reason> fires(const SiteRule& rule, const Subject& s);
[[nodiscard]] std::optional<Held> held(const SiteRule& rule, const Subject& s);  ///< [local]
[[nodiscard]] Proposal proposal(const SiteRule& rule);                           ///< [local]

}  // namespace tailrace::intent::rules
