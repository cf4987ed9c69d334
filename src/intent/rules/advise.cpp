// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/advise.hpp"

#include "core/config.hpp"
#include "core/error.hpp"
#include "intent/plan/plan_json.hpp"
#include "intent/profile/profile_json.hpp"
#include "intent/rules/decide.hpp"
#include "intent/rules/table_json.hpp"

namespace tailrace::intent::rules {

namespace {

plan::Class class_of(const std::string& name) {
    if (name == "collective") return plan::Class::collective;
    if (name == "opt_in") return plan::Class::opt_in;
    if (name == "safe") return plan::Class::safe;
    if (name == "layout") return plan::Class::layout;
    throw core::Error(core::Code::bad_input, "there is no class " + core::in_quotes(name),
                      "--allow", "safe and layout are always allowed; others: collective, opt_in");
}

std::vector<SiteRule> site_rules(const std::vector<Document>& rules) {
    std::vector<SiteRule> all;
    for (const Document& document : rules)
        for (SiteRule& rule : site_rules_from_json(document.text, document.name)) {
            for (const SiteRule& other : all)
                if (other.id == rule.id)
                    throw core::Error(
                        core::Code::bad_input,
                        "the id " + core::in_quotes(rule.id) + " is also in " + other.file,
                        document.name);
            all.push_back(std::move(rule));
        }
    return all;
}

}  // namespace

std::string advise(const std::vector<Document>& inputs, const std::vector<Document>& rules,
                   const std::vector<std::string>& allow, const plan::Hasher& hasher) {
    Options options;
    for (const std::string& name : allow) options.allowed.insert(class_of(name));
    options.site_rules = site_rules(rules);
    std::vector<Profile> profiles;
    std::vector<std::string> names;
    for (const Document& input : inputs) {
        profiles.push_back(profile_from_json(input.text, input.name));
        names.push_back(input.name);
    }
    return to_json(plan_of(profiles, options, names), hasher);
}

std::string table_of(const std::vector<Document>& rules) { return table_json(site_rules(rules)); }

}  // namespace tailrace::intent::rules
