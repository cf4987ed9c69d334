// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/functions.hpp"
#include "intent/rules/site_fields.hpp"
#include "intent/rules/site_rules.hpp"

namespace tailrace::intent::rules {

namespace {

using json::Json;

std::string_view name_of(Scope scope) {
    return scope == Scope::run ? "run" : json::name_of(scope);  // a site's own have no such scope
}

Json row(const Rule& rule) {
    Json guards = Json::array();
    for (const std::string& words : words_of(rule.needs)) guards.push_back(words);
    if (!rule.guard.empty()) guards.push_back(std::string(rule.guard));
    return {{"id", rule.id},
            {"title", rule.title},
            {"scope", name_of(rule.scope)},
            {"class", json::name_of(rule.cls)},
            {"trigger", rule.trigger},
            {"guards", guards},
            {"action", rule.action},
            {"effect", rule.effect},
            {"source", rule.source},
            {"origin", "tailrace"}};
}

std::string words(const Condition& condition) {
    const std::string is(json::name_of(condition.is));
    return condition.measure + " " + is + " " + json::written(condition.value).dump();
}

Json row(const SiteRule& rule) {
    std::string trigger;
    for (const Condition& condition : rule.trigger)
        trigger += (trigger.empty() ? "" : ", ") + words(condition);
    Json guards = Json::array();
    for (const Condition& condition : rule.guard) guards.push_back(words(condition));
    std::string action = rule.advice ? "advice: " + *rule.advice : "";
    for (const SiteSetting& setting : rule.settings)
        action += (action.empty() ? "" : ", ") + setting.key + " " +
                  (setting.value ? json::written(*setting.value).dump() : setting.function->name);
    return {{"id", rule.id},
            {"title", rule.title},
            {"scope", json::name_of(rule.scope)},
            {"class", json::name_of(rule.cls)},
            {"trigger", trigger},
            {"guards", guards},
            {"action", action},
            {"effect", rule.effect},
            {"source", rule.source},
            {"origin", rule.file}};
}

constexpr std::string_view level_name(plan::Level level) {
    switch (level) {
        case plan::Level::file_create:
            return "new file";
        case plan::Level::file_access:
            return "file";
        case plan::Level::dataset_create:
            return "new dataset";
        case plan::Level::dataset_access:
            return "dataset";
        case plan::Level::transfer:
            return "transfer";
        case plan::Level::hint:
            return "MPI-IO hint";
    }
    return "";
}

}  // namespace

std::string table_json(const std::vector<SiteRule>& site_rules) {
    Json all = Json::array(), order = Json::array(), measured = Json::array(), from = Json::array(),
         settings = Json::array(), named = Json::array();
    for (const Rule* rule : all_rules()) all.push_back(row(*rule));
    for (const SiteRule& rule : site_rules) all.push_back(row(rule));
    for (const Conflict& one : conflicts())
        order.push_back({{"winner", one.winner}, {"loser", one.loser}, {"why", one.why}});
    for (const Measure& one : measures())
        measured.push_back({{"name", one.name},
                            {"scope", one.dataset ? "dataset" : "file"},
                            {"sentence", one.sentence}});
    for (const plan::KeyInfo& one : plan::keys())
        settings.push_back({{"key", one.key == plan::Key::hint ? "hint.NAME" : one.name},
                            {"of", level_name(one.level)},
                            {"words", one.words},
                            {"low", one.low},
                            {"high", one.high},
                            {"sentence", one.sentence}});
    for (const Source& one : sources())
        from.push_back({{"letter", one.letter}, {"title", one.title}, {"address", one.address}});
    for (const plan::FunctionInfo& one : plan::functions()) {
        if (one.name.empty()) continue;
        Json numbers = Json::array();
        for (const std::string_view& name : one.numbers)
            if (!name.empty()) numbers.push_back(name);
        named.push_back({{"name", one.name},
                         {"numbers", numbers},
                         {"extents", one.extents},
                         {"sentence", one.sentence}});
    }
    return json::text_of({{"rules", all},
                          {"conflicts", order},
                          {"measures", measured},
                          {"settings", settings},
                          {"functions", named},
                          {"sources", from}});
}

}  // namespace tailrace::intent::rules
