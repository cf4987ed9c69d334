// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/advise.hpp"

#include "core/config.hpp"
#include "core/error.hpp"
#include "intent/intents/derive.hpp"
#include "intent/intents/intents_json.hpp"
#include "intent/plan/plan_json.hpp"
#include "intent/profile/profile_json.hpp"
#include "intent/rules/decide.hpp"
#include "intent/rules/from_intents.hpp"

namespace tailrace::intent::rules {

namespace {

plan::Class class_of(const std::string& name) {
    if (name == "collective") return plan::Class::collective;
    if (name == "opt_in") return plan::Class::opt_in;
    if (name == "safe") return plan::Class::safe;
    if (name == "layout") return plan::Class::layout;
    throw core::Error(core::Code::bad_input, "there is no class " + core::in_quotes(name),
                      "--allow", "safe and layout are always allowed; others: collective, opt-in");
}

/// Intents say so in their first key; whatever else it is, reading it as a profile tells.
bool is_intents(const std::string& text) {
    return text.substr(0, 4096).find("\"tailrace-intents/") != std::string::npos;
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
                   const std::vector<std::string>& allow, const std::vector<Document>& declarations,
                   const Maker& maker) {
    Options options;
    for (const std::string& name : allow) options.allowed.insert(class_of(name));
    options.site_rules = site_rules(rules);
    std::vector<NamedProfile> profiles;
    std::vector<Profile> all;
    std::vector<std::size_t> places;  // of the profiles among all
    std::vector<std::string> names;
    for (const Document& input : inputs) {
        names.push_back(input.name);
        if (is_intents(input.text)) {
            const Intents intents = intents_from_json(input.text, input.name);
            take_names(intents, options);
            all.push_back(profile_of(intents));
        } else {
            profiles.push_back({input.name, profile_from_json(input.text, input.name)});
            places.push_back(all.size());
            all.emplace_back();
        }
    }
    if (profiles.empty() && !declarations.empty())
        throw core::Error(core::Code::bad_input, "intents are given, and no profile to declare of",
                          "--declare", "give it to `tailrace intents`, or give the profile");
    std::vector<std::pair<std::string, std::string>> texts;
    for (const Document& one : declarations) texts.emplace_back(one.name, one.text);
    declare_of(profiles, texts);
    for (std::size_t i = 0; i < profiles.size(); ++i) all[places[i]] = profiles[i].profile;
    if (!profiles.empty()) {
        OtherPaths others;
        take_names(intents_of(profiles, others), options);
        take_other_names(profiles, others, options);
    }
    plan::Plan made = plan_of(all, options, names);
    made.origin.version = maker.version;
    return to_json(made, maker.hasher);
}

std::string table_of(const std::vector<Document>& rules) { return table_json(site_rules(rules)); }

}  // namespace tailrace::intent::rules
