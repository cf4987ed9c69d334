// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/json/schema.hpp"
#include "intent/plan/check.hpp"
#include "intent/rules/site_fields.hpp"

namespace tailrace::intent::rules {

namespace {

constexpr json::Kind kind{"tailrace-rules/1", "file of rules", "docs/user/advise.md has an example",
                          true};

void check_conditions(const SiteRule& rule, const std::vector<Condition>& conditions,
                      const std::string& where, const std::string& place) {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        const std::string& name = conditions[i].measure;
        const std::string one = place + "[" + std::to_string(i) + "]";
        const auto all = measures();
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const Measure& measure) { return measure.name == name; });
        if (found == all.end()) {
            std::vector<std::string> known;
            for (const Measure& measure : all) known.emplace_back(measure.name);
            const std::string guess = core::nearest(name, known);
            throw json::error_at(
                where, one,
                "there is no measure " + core::in_quotes(name) +
                    (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?"),
                "`tailrace rules --measures` lists them");
        }
        if (found->dataset && rule.scope == Scope::file)
            throw json::error_at(where, one,
                                 core::in_quotes(name) + " is of datasets, and the rule of files");
        const Setting& value = conditions[i].value;
        const bool number =
            std::holds_alternative<std::uint64_t>(value) || std::holds_alternative<double>(value);
        if (found->text ? !std::holds_alternative<std::string>(value) : !number)
            throw json::error_at(
                where, one + ".value",
                core::in_quotes(name) + (found->text ? " is a text, and is compared with one"
                                                     : " is a number, and is compared with one"));
    }
}

void check_settings(const SiteRule& rule, const std::string& where, const std::string& place) {
    std::set<std::string> keys;
    for (std::size_t i = 0; i < rule.settings.size(); ++i) {
        const SiteSetting& setting = rule.settings[i];
        const std::string one = place + ".settings[" + std::to_string(i) + "]";
        const plan::Planned planned{.key = setting.key,
                                    .value = setting.value,
                                    .function = setting.function,
                                    .cls = rule.cls};
        const std::string problem = plan::problem_of(planned);
        if (!problem.empty()) throw json::error_at(where, one, problem);
        if (!keys.insert(setting.key).second)
            throw json::error_at(where, one,
                                 core::in_quotes(setting.key) + " is set twice by this rule");
        const plan::Level level = plan::find_key(setting.key)->level;
        if (rule.when == plan::When::open &&
            (level == plan::Level::file_create || level == plan::Level::dataset_create))
            throw json::error_at(where, one,
                                 core::in_quotes(setting.key) +
                                     " is for what is created, and the rule for what is opened");
        const bool of_dataset = level == plan::Level::dataset_create ||
                                level == plan::Level::dataset_access ||
                                level == plan::Level::transfer;
        if (of_dataset != (rule.scope == Scope::dataset))
            throw json::error_at(where, one,
                                 core::in_quotes(setting.key) + " is a setting of " +
                                     (of_dataset ? "datasets" : "files"));
        const plan::Key key = plan::find_key(setting.key)->key;
        if (!plan::is_enough(rule.cls, key))
            throw json::error_at(
                where, one,
                core::in_quotes(setting.key) + " is at least of the class " +
                    (plan::least_class(key) == plan::Class::layout ? "layout" : "opt_in"));
    }
}

void check(const SiteRule& rule, const std::string& where, const std::string& place) {
    if (rule.id.rfind("site.", 0) != 0 || rule.id.size() < 6)
        throw json::error_at(
            where, place,
            "the id of a site's rule begins with \"site.\", not " + core::in_quotes(rule.id));
    if (!std::ranges::all_of(rule.id, [](unsigned char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   c == '.' || c == '_' || c == '-';
        }))
        throw json::error_at(
            where, place,
            "the id of a rule has letters, digits and . _ - only, not " + core::in_quotes(rule.id));
    if (rule.trigger.empty()) throw json::error_at(where, place, "it has no trigger");
    if (rule.settings.empty() && !rule.advice)
        throw json::error_at(where, place, "it has neither settings nor advice");
    if (rule.cls == plan::Class::advice && !rule.settings.empty())
        throw json::error_at(where, place, "a rule of the class advice sets nothing");
    check_conditions(rule, rule.trigger, where, place + ".trigger");
    check_conditions(rule, rule.guard, where, place + ".guard");
    check_settings(rule, where, place);
}

}  // namespace

std::vector<SiteRule> site_rules_from_json(std::string_view text, const std::string& where) {
    SiteRules all;
    json::read(json::parse(text, where, kind), all, where, "");
    std::set<std::string> ids;
    for (std::size_t i = 0; i < all.rules.size(); ++i) {
        const std::string place = "rules[" + std::to_string(i) + "]";
        check(all.rules[i], where, place);
        if (!ids.insert(all.rules[i].id).second)
            throw json::error_at(
                where, place, "the id " + core::in_quotes(all.rules[i].id) + " stands there twice");
        all.rules[i].file = where;
    }
    return all.rules;
}

std::string rules_schema() {
    return json::text_of(json::document_schema<SiteRules>(
        std::string(kind.schema),
        "A site's own rules: conditions on measures of a profile, and settings of a plan, checked "
        "as the built-in ones are."));
}

}  // namespace tailrace::intent::rules
