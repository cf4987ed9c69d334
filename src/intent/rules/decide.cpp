// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/decide.hpp"

#include <algorithm>

#include "intent/plan/check.hpp"
#include "intent/plan/functions.hpp"
#include "intent/plan/hints.hpp"
#include "intent/rules/relied_on.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

/// The class last: a rule that is not allowed still says what else would hold it back.
std::optional<Held> not_allowed(plan::Class cls, const Subject& s, bool opt_in = false) {
    if (opt_in && !s.allowed.contains(plan::Class::opt_in))
        return Held{Guard::rule_class, "it needs --allow opt-in, and --allow collective"};
    if (cls == plan::Class::advice || s.allowed.contains(cls)) return std::nullopt;
    const std::string name = cls == plan::Class::collective ? "collective" : "opt-in";
    return Held{Guard::rule_class, say("rules of the class ", name, " need --allow ", name)};
}

/// What a hook will find where the profile was taken.
class Here {
public:
    explicit Here(const Subject& s) : x_around() {
        x_around.ranks = file_ranks(s);
        x_around.block_bytes = fs_block(s).value_or(0);
        x_around.memory_bytes = memory_of_process(s);
        if (s.dataset == nullptr) return;
        for (std::size_t d = 0; d < s.dataset->dims.size(); ++d)
            x_most.push_back(d < s.dataset->max_dims.size()
                                 ? s.dataset->max_dims[d].value_or(plan::unlimited)
                                 : s.dataset->dims[d]);
        x_around.dims = s.dataset->dims;
        x_around.max_dims = x_most;
        const auto anew = laid_out_anew(s);
        x_chunk = anew ? anew->dataset.chunk : s.dataset->chunk;
        x_around.chunk = x_chunk;
        x_around.type_bytes = type_bytes(*s.dataset);
    }

    /// Takes down what a function gives; what is wrong with the setting, or nothing.
    std::string look_at(Set& set, plan::Class cls) const {
        const plan::Planned planned{
            .key = set.key, .value = set.value, .function = set.function, .cls = cls};
        if (const std::string problem = plan::problem_of(planned); !problem.empty()) return problem;
        const plan::KeyInfo& info = *plan::find_key(set.key);
        plan::Value value;
        if (set.function) {
            const plan::FunctionInfo& function = *plan::find_function(set.function->name);
            Extents numbers;
            for (const std::string_view& name : function.numbers)
                if (!name.empty()) numbers.push_back(set.function->numbers.at(std::string(name)));
            value = evaluate(function.function, numbers, set.function->extents, x_around);
            if (function.result == plan::Shape::number)
                set.profiled = value.number;
            else
                set.profiled =
                    Extents(value.extents.begin(),
                            value.extents.begin() + static_cast<std::ptrdiff_t>(value.ndims));
        } else if (info.shape == plan::Shape::extents) {
            value = plan::literal_chunk(std::get<Extents>(*set.value), x_around);
        } else {
            return "";
        }
        if (value.state != plan::Value::State::good) return std::string(text(value.state));
        const auto* number = set.profiled ? std::get_if<std::uint64_t>(&*set.profiled) : nullptr;
        const bool fits = number == nullptr || (static_cast<double>(*number) >= info.low &&
                                                static_cast<double>(*number) <= info.high);
        return fits ? "" : say(set.key, " would be ", *number, ", which is out of range");
    }

private:
    plan::Surroundings x_around;
    Extents x_most, x_chunk;
};

/// A plan is looked up by name, which has to be there when the dataset is created.
bool comes_too_late(const Decision& decision, const Subject& s) {
    if (s.dataset == nullptr || !s.dataset->settings_of_program.contains("made_without_name"))
        return false;
    return std::ranges::any_of(decision.proposal.settings, [](const Set& set) {
        const plan::KeyInfo* info = plan::find_key(set.key);
        return info != nullptr && info->level == plan::Level::dataset_create;
    });
}

void keep_what_fits(Decision& decision, const Subject& s) {
    if (comes_too_late(decision, s)) {
        decision.held =
            Held{Guard::name,
                 "it is created before it has a name, by which a plan could know it "
                 "(h5py: file[\"x\"] = data; create_dataset(\"x\", data=data) names it)"};
        return;
    }
    const Here here(s);
    for (Set& set : decision.proposal.settings)
        if (const std::string problem = here.look_at(set, decision.cls); !problem.empty()) {
            decision.held = Held{Guard::validity, say("its setting would not be valid: ", problem)};
            return;
        }
    if (decision.proposal.settings.empty() && decision.proposal.environment.empty() &&
        decision.proposal.advice.empty())
        decision.held = Held{Guard::nothing_to_set, "it would change nothing"};
}

Decision decided(const Subject& s, Reason reason) {
    Decision decision;
    decision.file = s.file.path;
    if (s.dataset != nullptr) decision.dataset = s.dataset->path;
    decision.reason = std::move(reason);
    decision.ranks = file_ranks(s);
    decision.weight = s.dataset != nullptr
                          ? moved_bytes(s.dataset->reads) + moved_bytes(s.dataset->writes)
                          : bytes_read(s) + bytes_written(s);
    return decision;
}

/// Where the creates were not counted: what the rule takes instead.
void note_creation(Reason& reason, const Subject& s) {
    const Statement made = creation(s);
    if (made.value != "yes" || made.evidence.empty() || made.evidence.front().name == "creates")
        return;
    reason.note("created", std::string(made.confidence == Confidence::high ? "high" : "medium"));
    for (const Evidence& one : made.evidence)
        reason.evidence.push_back({one.from + "." + one.name, one.value, one.unit});
}

void try_rule(const Rule& rule, const Subject& s, std::vector<Decision>& out) {
    std::optional<Reason> reason = rule.fires(s);
    if (!reason) return;
    Decision decision = decided(s, std::move(*reason));
    decision.rule = rule.id;
    decision.effect = decision.reason.effect;
    if (decision.effect.empty()) decision.effect = rule.effect;
    decision.source = source_titles(rule.source);
    decision.cls = rule.cls;
    decision.failing = rule.failing;
    decision.instead = rule.instead;
    if (rule.needs.created) note_creation(decision.reason, s);
    decision.held = unmet(rule.needs, s);
    if (!decision.held && rule.held != nullptr) decision.held = rule.held(s);
    if (!decision.held) decision.held = not_allowed(rule.cls, s, rule.needs.opt_in);
    if (!decision.held) {
        decision.proposal = rule.act(s);
        if (!decision.proposal.effect.empty()) decision.effect = decision.proposal.effect;
        keep_what_fits(decision, s);
    }
    out.push_back(std::move(decision));
}

/// What holds back a single setting of a site's own rule.
std::optional<Held> held(const SiteSetting& setting, const Subject& s) {
    if (program_sets(s, setting.key))
        return Held{Guard::program, say("the program sets ", setting.key, " itself")};
    if (setting.key == "chunk" && created(s) && !s.dataset->chunk.empty())
        return Held{Guard::program,
                    say("the program sets chunk itself, to ", extents(s.dataset->chunk))};
    if (s.reliability == Reliability::durable && plan::delays(setting.key, setting.value))
        return held_for_durable();
    if (auto used = held_by_use(setting.key, s)) return used;
    const plan::Level level = plan::find_key(setting.key)->level;
    const bool of_hdf5 = level == plan::Level::file_access || level == plan::Level::file_create;
    // A log of Darshan may lack the part about HDF5.
    if (of_hdf5 && !s.file.hdf5 && s.profile.origin.kind == OriginKind::hook)
        return Held{Guard::format, "it is a setting of HDF5, which did not open the file"};
    return std::nullopt;
}

void try_rule(const SiteRule& rule, const Subject& s, std::vector<Decision>& out) {
    std::optional<Reason> reason = fires(rule, s);
    if (!reason) return;
    Decision decision = decided(s, std::move(*reason));
    decision.rule = rule.id;
    decision.effect = rule.effect;
    decision.source = rule.source.empty() ? rule.file : rule.source + " (" + rule.file + ")";
    decision.cls = rule.cls;
    decision.held = held(rule, s);
    if (!decision.held) decision.held = not_allowed(rule.cls, s);
    for (const SiteSetting& setting : rule.settings)
        if (!decision.held) decision.held = held(setting, s);
    if (!decision.held) {
        decision.proposal = proposal(rule);
        keep_what_fits(decision, s);
    }
    out.push_back(std::move(decision));
}

bool about_same(const Decision& a, const Decision& b) {
    return a.file == b.file && (a.dataset == b.dataset || a.dataset.empty() || b.dataset.empty());
}

const std::string* both_set(const Decision& one, const Decision& other) {
    for (const Set& a : one.proposal.settings)
        for (const Set& b : other.proposal.settings)
            if (a.key == b.key) return &a.key;
    return nullptr;
}

/// A rule that goes before another one where things are created, or where they are opened, leaves
/// it the rest, if that one sets nothing else.
bool goes_on_at_other_calls(const Decision& first, Decision& second) {
    using plan::When;
    if (second.proposal.when != When::any || first.proposal.when == When::any) return false;
    const bool all = std::ranges::all_of(second.proposal.settings, [&](const Set& b) {
        return std::ranges::any_of(first.proposal.settings,
                                   [&](const Set& a) { return a.key == b.key; });
    });
    if (!all || !second.proposal.environment.empty()) return false;
    second.proposal.when = first.proposal.when == When::create ? When::open : When::create;
    return true;
}

/// The written order first; then, for a key that two rules set all the same, the rule that stands
/// earlier: a site's own before ours.
void settle(std::vector<Decision>& all) {
    for (const Conflict& conflict : conflicts())
        for (const Decision& winner : all) {
            if (winner.rule != conflict.winner) continue;
            // A rule that leaves things as they are holds others back by just that.
            if (winner.held && winner.held->guard != Guard::nothing_to_set) continue;
            for (Decision& loser : all)
                if (loser.rule == conflict.loser && !loser.held && about_same(winner, loser))
                    loser.held =
                        Held{Guard::conflict, say("rule ", conflict.winner, ": ", conflict.why)};
        }
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = i + 1; k < all.size(); ++k) {
            if (all[i].held || all[k].held) continue;
            if (all[i].file != all[k].file || all[i].dataset != all[k].dataset) continue;
            if (const std::string* key = both_set(all[i], all[k]); key != nullptr) {
                if (goes_on_at_other_calls(all[i], all[k])) continue;
                all[k].held =
                    Held{Guard::conflict, say("rule ", all[i].rule, " sets ", *key, " already")};
            }
        }
}

/// What makes a program fail has to be changed in the program, if its rule is held back.
void advise_instead(std::vector<Decision>& all) {
    std::vector<Decision> found;
    for (const Decision& one : all) {
        if (one.instead.empty() || !one.held) continue;
        Decision advice = one;
        advice.held.reset();
        advice.cls = plan::Class::advice;
        advice.reason.text += ". A plan cannot mend it: " + one.held->text;
        advice.proposal = {};
        advice.proposal.advice = one.instead;
        found.push_back(std::move(advice));
    }
    std::move(found.begin(), found.end(), std::back_inserter(all));
}

/// "nc_var_align_size=7" for each hint of `text` that the program gives in another way.
std::string own_of(const std::string& text, const Subject& s) {
    std::string own;
    for (const auto& [key, value] : plan::hints_of(text)) {
        const auto given = s.file.mpiio->hints_given.find(key);
        if (given == s.file.mpiio->hints_given.end() || given->second == value) continue;
        own += (own.empty() ? "" : ";") + key + "=" + given->second;
    }
    return own;
}

/// PnetCDF takes hints of its variable and of the program's calls together: which of the two they
/// come from cannot be told, and either stays.
void advise_own_hints(const Subject& s, std::vector<Decision>& all) {
    if (!s.file.mpiio) return;
    std::vector<Decision> found;
    for (const Decision& one : all) {
        if (!one.held || one.held->guard != Guard::program || !one.dataset.empty()) continue;
        const Rule* const* rule =
            std::find_if(all_rules().data(), all_rules().data() + all_rules().size(),
                         [&](const Rule* each) { return each->id == one.rule; });
        if (rule == all_rules().data() + all_rules().size()) continue;  // a site's own
        if ((*rule)->held != nullptr && (*rule)->held(s)) continue;
        for (const auto& [name, value] : (*rule)->act(s).environment) {
            const std::string own = own_of(value, s);
            if (own.empty()) continue;
            Decision advice = one;
            advice.held.reset();
            advice.cls = plan::Class::advice;
            advice.proposal = {};
            advice.proposal.advice =
                say("the hints that are given stay: ", own, ", where the rule wants ", value,
                    ". They come from the program or from ", name,
                    " of its environment; to try the others change them there");
            found.push_back(std::move(advice));
        }
    }
    std::move(found.begin(), found.end(), std::back_inserter(all));
}

}  // namespace

Reliability reliability_of(const Options& options, const std::string& path) {
    const auto found = options.reliability.find(path);
    return found == options.reliability.end() ? Reliability::durable : found->second;
}

std::vector<Decision> decide(const Profile& profile, const Options& options) {
    std::vector<Decision> all;
    for (const File& file : profile.files) {
        std::vector<Decision> here;
        Subject subject{profile,         file, nullptr, reliability_of(options, file.path),
                        options.allowed, 0,    0};
        if (const auto read = options.read_elsewhere.find(file.path);
            read != options.read_elsewhere.end()) {
            subject.read_elsewhere = read->second.first;
            subject.readers_elsewhere = read->second.second;
        }
        const auto try_all = [&](Scope scope) {
            for (const SiteRule& rule : options.site_rules)
                if (rule.scope == scope) try_rule(rule, subject, here);
            for (const Rule* rule : all_rules())
                if (rule->scope == scope) try_rule(*rule, subject, here);
        };
        try_all(Scope::file);
        for (const Dataset& dataset : file.datasets) {
            subject.dataset = &dataset;
            try_all(Scope::dataset);
        }
        settle(here);
        advise_instead(here);
        subject.dataset = nullptr;
        advise_own_hints(subject, here);
        std::move(here.begin(), here.end(), std::back_inserter(all));
    }
    const File none;
    const Subject run{profile, none, nullptr, Reliability::durable, options.allowed, 0, 0};
    for (const Rule* rule : all_rules())
        if (rule->scope == Scope::run) try_rule(*rule, run, all);
    return all;
}

}  // namespace tailrace::intent::rules
