// SPDX-License-Identifier: Apache-2.0
// Keys of a site's own rules. Internal to src/intent.
#pragma once

#include "intent/plan/fields.hpp"
#include "intent/rules/site_rules.hpp"

namespace tailrace::intent::rules {
struct SiteRules {
    std::vector<SiteRule> rules;
};
}  // namespace tailrace::intent::rules

namespace tailrace::json {

template <>
struct Names<intent::rules::Scope> {
    static constexpr std::pair<intent::rules::Scope, std::string_view> all[] = {
        {intent::rules::Scope::file, "file"},
        {intent::rules::Scope::dataset, "dataset"},
    };
};

template <>
struct Names<intent::rules::Comparison> {
    static constexpr std::pair<intent::rules::Comparison, std::string_view> all[] = {
        {intent::rules::Comparison::equal, "equal"},
        {intent::rules::Comparison::not_equal, "not_equal"},
        {intent::rules::Comparison::less, "less"},
        {intent::rules::Comparison::at_most, "at_most"},
        {intent::rules::Comparison::greater, "greater"},
        {intent::rules::Comparison::at_least, "at_least"},
    };
};

template <>
struct Fields<intent::rules::Condition> {
    static constexpr std::string_view name = "condition";
    static void visit(auto& v, auto& s) {
        v("measure", s.measure, "What is looked at: tailrace rules --measures lists them.");
        v("is", s.is, "equal, not_equal, less, at_most, greater or at_least.");
        v("value", s.value, "With what it is compared: a number or a text.");
        v("held", s.held,
          "Of a guard: why the rule is held back where this is not so; may be "
          "empty.");
    }
};

template <>
struct Fields<intent::rules::SiteSetting> {
    static constexpr std::string_view name = "site_setting";
    static void visit(auto& v, auto& s) {
        v("key", s.key, "The setting, as in a plan.");
        v("value", s.value, "Its value, unless a function gives it.");
        v("function", s.function, "The function that gives it.");
    }
};

template <>
struct Fields<intent::rules::SiteRule> {
    static constexpr std::string_view name = "site_rule";
    static void visit(auto& v, auto& s) {
        v("id", s.id, "site. and a name of yours.");
        v("title", s.title, "What it does, in a few words.");
        v("scope", s.scope, "file or dataset.");
        v("class", s.cls, "safe, layout, collective, opt_in or advice.");
        v("trigger", s.trigger, "All of these have to hold.");
        v("guard", s.guard, "And these; else it says so.");
        v("when", s.when, "Only when it is created, or opened, or any.");
        v("settings", s.settings, "What it sets.");
        v("advice", s.advice, "What it says instead.");
        v("commands", s.commands, "Commands to type.");
        v("effect", s.effect, "What is expected of it.");
        v("source", s.source, "Where you know it from.");
    }
};

template <>
struct Fields<intent::rules::SiteRules> {
    static constexpr std::string_view name = "site_rules";
    static void visit(auto& v, auto& s) { v("rules", s.rules, "The rules."); }
};

}  // namespace tailrace::json
