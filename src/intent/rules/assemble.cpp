// SPDX-License-Identifier: Apache-2.0
// Decisions of all profiles, by pattern: the plan.
#include <algorithm>
#include <array>
#include <tuple>

#include "intent/plan/check.hpp"
#include "intent/plan/compile.hpp"
#include "intent/plan/compiled.hpp"
#include "intent/plan/hints.hpp"
#include "intent/rules/decide.hpp"
#include "intent/rules/pattern_cost.hpp"
#include "intent/rules/relied_on.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

/// A path as a pattern that matches just it.
std::string literal(const std::string& path) {
    std::string pattern;
    for (const char letter : path) {
        if (letter == '*' || letter == '?' || letter == '[' || letter == '\\') pattern += '\\';
        pattern += letter;
    }
    return pattern;
}

std::string glob_of(const std::map<std::string, std::string>& globs, const std::string& path) {
    const auto found = globs.find(path);
    return found == globs.end() || found->second.empty() ? literal(path) : found->second;
}

struct PlanPlace {
    std::string file, dataset;
    plan::When when = plan::When::any;
    friend auto operator<=>(const PlanPlace&, const PlanPlace&) = default;
};

bool same(const plan::Planned& a, const plan::Planned& b) {
    if (a.value != b.value || a.ranks != b.ranks ||
        a.function.has_value() != b.function.has_value())
        return false;
    return !a.function || std::tie(a.function->name, a.function->numbers, a.function->extents) ==
                              std::tie(b.function->name, b.function->numbers, b.function->extents);
}

plan::Because because(const Decision& decision, const std::string& text) {
    return {decision.rule, text, decision.reason.evidence, decision.effect, decision.source};
}

/// What a rule saves at another file or dataset of the pattern; where that is not known of one, it
/// is not of all.
void add_saved(plan::Because& to, const plan::Because& other) {
    constexpr std::string_view saved = "estimated.saved";
    const auto mine = std::ranges::find(to.evidence, saved, &plan::Fact::name);
    if (mine == to.evidence.end()) return;
    const auto theirs = std::ranges::find(other.evidence, saved, &plan::Fact::name);
    if (theirs == other.evidence.end())
        to.evidence.erase(mine);
    else
        mine->value = std::get<double>(mine->value) + std::get<double>(theirs->value);
}

bool harms(const Decision& decision) {
    switch (harm(decision.held->guard)) {
        case Harm::none:
            return false;
        case Harm::unless_alike:  // elements without a value the hooks count again
            return decision.cls == plan::Class::collective && decision.rule != "59";
        case Harm::if_written:  // what one process made and never wrote has no chunks of any size
            return decision.weight > 0 || decision.ranks > 1;
        case Harm::always:
            break;
    }
    return true;
}

constexpr std::array every_call{plan::When::any, plan::When::create, plan::When::open};

/// Whether a setting delays what reaches the disk, by itself or with the others of its rule.
bool delays(const plan::Planned& planned) {
    const std::string& id = planned.because.rule;
    return plan::delays(planned.key, planned.value) ||
           std::ranges::any_of(all_rules(), [&id](const Rule* rule) {
               return rule->id == id && rule->needs.delays;
           });
}

/// A rule; of the class collective for so many ranks.
using Wish = std::pair<std::string, Count>;

Wish wish_of(const Decision& decision) {
    return {decision.rule,
            decision.cls == plan::Class::collective ? Count(decision.ranks) : std::nullopt};
}

class Assembler {
public:
    Assembler(const Options& options, plan::Plan& made) : x_options(options), x_plan(made) {}

    void add(const Decision& decision) {
        const std::string file = glob_of(x_options.file_globs, decision.file);
        const std::string dataset =
            decision.dataset.empty() ? "" : dataset_glob(decision.file, decision.dataset);
        if (decision.held) {
            if (decision.held->guard == Guard::nothing_to_set) return;
            if (harms(decision)) {
                x_vetoes[{file, dataset}].try_emplace(wish_of(decision), decision.held->text);
                x_harmful.try_emplace(decision.rule, decision.held->text);
            }
            hold(file, dataset, decision.held->guard,
                 because(decision, decision.reason.text + ". Held back: " + decision.held->text));
            return;
        }
        x_wanted.emplace(decision.file, decision.rule);
        if (!decision.proposal.advice.empty()) advise(file, dataset, decision);
        for (const auto& [name, value] : decision.proposal.environment) {
            plan::Variable one{name, value, because(decision, decision.reason.text)};
            if (decision.cls != plan::Class::safe) one.cls = decision.cls;
            x_exports.push_back({file, std::move(one)});
        }
        for (const Set& set : decision.proposal.settings) {
            plan::Planned planned{set.key, set.value, set.function, set.profiled, decision.cls,
                                  {},      {}};
            if (decision.cls == plan::Class::collective) planned.ranks = decision.ranks;
            planned.because = because(decision, decision.reason.text);
            put({file, dataset, decision.proposal.when}, std::move(planned), decision.weight);
        }
    }

    /// A variable is for all files of a program: a rule that would harm one of them gives it none.
    void export_variables() {
        for (const Export& one : x_exports) {
            const auto harm = x_harmful.find(one.variable.because.rule);
            if (harm == x_harmful.end()) {
                export_(one.variable);
                continue;
            }
            plan::Because why = one.variable.because;
            why.text += say(". Held back: ", one.variable.name,
                            " is for all files, and would harm another one: ", harm->second);
            hold(one.file, "", Guard::disagreement, std::move(why));
        }
    }

    /// The variable goes before what a program gives in its calls, for all its files: hints that
    /// it gives to one of them in another way stay.
    void leave_own_hints(const std::vector<Profile>& profiles) {
        for (plan::Variable& variable : x_plan.environment) {
            if (plan::hints_of(variable.value).empty()) continue;
            std::string kept;
            for (const auto& [key, value] : plan::hints_of(variable.value)) {
                const plan::Advice own = own_hint(profiles, variable, key, value);
                if (own.text.empty())
                    kept += (kept.empty() ? "" : ";") + key + "=" + value;
                else
                    x_plan.advice.push_back(own);
            }
            variable.value = kept;
        }
        std::erase_if(x_plan.environment,
                      [](const plan::Variable& one) { return one.value.empty(); });
    }

    /// A rule looks at what fires it; what else its pattern matches may be small, or break.
    void weigh(const Profile& profile) {
        for (const File& file : profile.files) {
            Subject subject{profile, file};
            subject.reliability = reliability_of(x_options, file.path);
            const std::string glob = glob_of(x_options.file_globs, file.path);
            weigh(subject, {glob, "", plan::When::create});
            for (const auto when : every_call) look_at_pieces(subject, {glob, "", when});
            for (const auto when : every_call) look_at_reliability(subject, {glob, "", when});
            for (const Dataset& dataset : file.datasets) {
                subject.dataset = &dataset;
                const std::string name = dataset_glob(file.path, dataset.path);
                weigh(subject, {glob, name, plan::When::create});
                for (const auto when : {plan::When::any, plan::When::create})
                    look_at_layout(subject, {glob, name, when});
            }
        }
    }

    void finish() {
        std::vector<std::pair<std::uint64_t, plan::Entry>> entries;
        for (auto& [place, found] : x_found) {
            drop_what_harms(place, found);
            drop_what_swells(place, found);
            plan::Entry entry{place.file, place.dataset, place.when, {}};
            for (plan::Planned& planned : found.settings)
                if (!found.dropped.contains(planned.key))
                    entry.settings.push_back(std::move(planned));
            if (!entry.settings.empty()) entries.emplace_back(found.weight, std::move(entry));
        }
        std::stable_sort(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        for (auto& [weight, entry] : entries) x_plan.entries.push_back(std::move(entry));
        fit();
    }

private:
    [[nodiscard]] std::string dataset_glob(const std::string& file,
                                           const std::string& dataset) const {
        const auto found = x_options.dataset_globs.find(file + ":" + dataset);
        return found == x_options.dataset_globs.end() || found->second.empty() ? literal(dataset)
                                                                               : found->second;
    }

    struct Found {
        std::vector<plan::Planned> settings;
        std::map<std::string, std::set<Wish>> wishes;  ///< by key: the rules that set it
        std::map<std::string, Stored> stored;          ///< by key: all that the pattern matches
        std::set<std::string> dropped;
        std::uint64_t weight = 0;
    };
    struct Export {
        std::string file;
        plan::Variable variable;
    };

    void put(const PlanPlace& place, plan::Planned planned, std::uint64_t weight) {
        Found& found = x_found[place];
        found.weight += weight;
        found.wishes[planned.key].emplace(planned.because.rule, planned.ranks);
        const auto before =
            std::find_if(found.settings.begin(), found.settings.end(),
                         [&](const plan::Planned& one) { return one.key == planned.key; });
        if (before == found.settings.end()) {
            found.settings.push_back(std::move(planned));
        } else if (!same(*before, planned) && found.dropped.insert(planned.key).second) {
            plan::Because why = planned.because;
            why.text += say(". Held back: files or runs of this pattern want other values of ",
                            planned.key);
            hold(place.file, place.dataset, Guard::disagreement, std::move(why));
        } else if (before->because.rule == planned.because.rule) {
            add_saved(before->because, planned.because);
        }
    }

    /// Why no rule may set this key at what a pattern matches; nothing: they may.
    [[nodiscard]] std::optional<std::string> veto(const PlanPlace& place, const Found& found,
                                                  const std::string& key) const {
        const auto vetoes = x_vetoes.find({place.file, place.dataset});
        if (vetoes == x_vetoes.end()) return std::nullopt;
        for (const Wish& wish : found.wishes.at(key))
            if (const auto one = vetoes->second.find(wish); one != vetoes->second.end())
                return one->second;
        return std::nullopt;
    }

    /// The entry is for all files and datasets of the pattern: one that a rule would harm decides.
    void drop_what_harms(const PlanPlace& place, Found& found) {
        for (const plan::Planned& planned : found.settings) {
            const auto harm = veto(place, found, planned.key);
            if (!harm || !found.dropped.insert(planned.key).second) continue;
            plan::Because why = planned.because;
            why.text += say(". Held back: it would harm others of this pattern: ", *harm);
            hold(place.file, place.dataset, Guard::disagreement, std::move(why));
        }
    }

    /// Rules of a site know what they do.
    void weigh(const Subject& s, const PlanPlace& place) {
        const auto found = x_found.find(place);
        if (found == x_found.end()) return;
        for (const plan::Planned& planned : found->second.settings) {
            const std::string& rule = planned.because.rule;
            if (rule.starts_with("site.")) continue;
            std::optional<Stored> one;
            if (planned.key == "chunk") one = stored_in_chunks(s, planned);
            if (planned.key == "meta_block_bytes" || planned.key == "small_data_block_bytes")
                one = stored_in_blocks(s, planned, x_wanted.contains({s.file.path, rule}));
            if (one) found->second.stored[planned.key] += *one;
        }
    }

    void look_at_pieces(const Subject& s, const PlanPlace& place) {
        const auto found = x_found.find(place);
        if (found == x_found.end()) return;
        for (const plan::Planned& planned : found->second.settings) {
            if (planned.because.rule != "11") continue;
            if (const auto held =
                    held_by_pieces_of_file(s, std::get<std::uint64_t>(*planned.value)))
                x_vetoes[{place.file, ""}].try_emplace({planned.because.rule, std::nullopt},
                                                       held->text);
        }
    }

    void forbid(const PlanPlace& place, const plan::Planned& planned, const std::string& why) {
        const std::string& rule = planned.because.rule;
        for (const Wish& wish : {Wish{rule, std::nullopt}, Wish{rule, planned.ranks}})
            x_vetoes[{place.file, place.dataset}].try_emplace(wish, why);
    }

    /// Also of what moves too little for the rule itself.
    void look_at_layout(const Subject& s, const PlanPlace& place) {
        const auto found = x_found.find(place);
        if (found == x_found.end()) return;
        for (const plan::Planned& planned : found->second.settings)
            if (const auto held = held_by_use(planned.key, s)) forbid(place, planned, held->text);
    }

    void look_at_reliability(const Subject& s, const PlanPlace& place) {
        const auto found = x_found.find(place);
        if (found == x_found.end() || s.reliability != Reliability::durable) return;
        if (place.when == plan::When::create && !created(s)) return;
        for (const plan::Planned& planned : found->second.settings)
            if (delays(planned))
                forbid(place, planned,
                       "what is delayed would be lost with the program, and " + s.file.path +
                           " counts as durable");
    }

    void drop_what_swells(const PlanPlace& place, Found& found) {
        for (const plan::Planned& planned : found.settings) {
            const auto stored = found.stored.find(planned.key);
            if (stored == found.stored.end() || !swells(stored->second)) continue;
            if (!found.dropped.insert(planned.key).second) continue;
            plan::Because why = planned.because;
            why.text += say(". Held back: all that this pattern matches would take ",
                            size(stored->second.then), " instead of ", size(stored->second.now));
            hold(place.file, place.dataset, Guard::disagreement, std::move(why));
        }
    }

    void hold(const std::string& file, const std::string& dataset, Guard guard, plan::Because why) {
        if (x_seen
                .insert("held\n" + file + "\n" + dataset + "\n" + why.rule + "\n" +
                        std::string(name(guard)))
                .second)
            x_plan.held_back.push_back({file, dataset, std::string(name(guard)), std::move(why)});
    }

    void advise(const std::string& file, const std::string& dataset, const Decision& decision) {
        if (x_seen.insert("advice\n" + file + "\n" + dataset + "\n" + decision.rule).second) {
            x_plan.advice.push_back(
                {file, dataset, decision.proposal.advice, decision.proposal.commands,
                 because(decision, decision.reason.text), decision.proposal.chunk,
                 decision.failing ? std::optional(true) : std::nullopt});
            return;
        }
        // Files of one pattern that want different chunks get no line with either.
        for (plan::Advice& one : x_plan.advice)
            if (one.file == file && one.dataset == dataset && one.because.rule == decision.rule &&
                !one.chunk.empty() && one.chunk != decision.proposal.chunk) {
                one.chunk.clear();
                one.text += "; other files of this pattern want other chunks";
            }
    }

    /// Without a text: no file has it in another way.
    [[nodiscard]] plan::Advice own_hint(const std::vector<Profile>& profiles,
                                        const plan::Variable& variable, const std::string& key,
                                        const std::string& value) const {
        for (const Profile& profile : profiles)
            for (const File& file : profile.files) {
                if (!file.pnetcdf || !file.mpiio) continue;
                const auto given = file.mpiio->hints_given.find(key);
                if (given == file.mpiio->hints_given.end() || given->second == value) continue;
                return {glob_of(x_options.file_globs, file.path),
                        "",
                        say("the hint that is given stays: ", key, "=", given->second,
                            "; other files would get ", value, " from ", variable.name,
                            ", which goes before what a program gives, for all files. The plan "
                            "leaves it out: set it in the program"),
                        {},
                        variable.because};
            }
        return {};
    }

    /// "a=1;b=2" and "b=3;c=4" become "a=1;b=2;c=4".
    void export_(const plan::Variable& variable) {
        const auto before =
            std::find_if(x_plan.environment.begin(), x_plan.environment.end(),
                         [&](const plan::Variable& one) { return one.name == variable.name; });
        if (before == x_plan.environment.end()) {
            x_plan.environment.push_back(variable);
            return;
        }
        before->cls = std::max(before->cls, variable.cls);
        for (const auto& [key, wanted] : plan::hints_of(variable.value)) {
            if ((";" + before->value).find(";" + key + "=") != std::string::npos) continue;
            before->value += ";" + key + "=" + wanted;
            before->because.text += "; " + variable.because.text;
            if (before->because.rule.find(variable.because.rule) == std::string::npos)
                before->because.rule += ", " + variable.because.rule;
        }
    }

    /// What moves the fewest bytes is left out where the plan would become too large.
    void fit() {
        std::size_t left_out = 0;
        while (!x_plan.entries.empty() && plan::compiled_bytes(x_plan) > plan::largest_advised) {
            const std::size_t some = std::max<std::size_t>(x_plan.entries.size() / 16, 1);
            x_plan.entries.resize(x_plan.entries.size() - some);
            left_out += some;
        }
        if (left_out > 0)
            x_plan.origin.notes.push_back(
                say(left_out,
                    " entries that move the fewest bytes are left out: a plan has at most "
                    "64 KiB when compiled"));
    }

    const Options& x_options;
    plan::Plan& x_plan;
    std::map<PlanPlace, Found> x_found;
    /// By pattern of the file and of the dataset: rules that would harm one of it, and why.
    std::map<std::pair<std::string, std::string>, std::map<Wish, std::string>> x_vetoes;
    std::map<std::string, std::string> x_harmful;  ///< rules that would harm any file, and why
    std::set<std::pair<std::string, std::string>>
        x_wanted;  ///< files, and rules that apply to them
    std::vector<Export> x_exports;
    std::set<std::string> x_seen;
};

}  // namespace

namespace {

/// Files that other runs read and do not write: bytes, and the number of those runs.
std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> read_elsewhere(
    const std::vector<Profile>& profiles, const Profile& but) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> found;
    for (const Profile& profile : profiles) {
        if (&profile == &but) continue;
        for (const File& file : profile.files) {
            const Subject s{profile, file};
            if (bytes_written(s) > 0 || bytes_read(s) == 0) continue;
            auto& [bytes, runs] = found[file.path];
            bytes += bytes_read(s);
            ++runs;
        }
    }
    return found;
}

}  // namespace

plan::Plan plan_of(const std::vector<Profile>& profiles, const Options& options,
                   const std::vector<std::string>& sources) {
    plan::Plan made;
    made.origin.sources = sources;
    made.origin.classes.assign(options.allowed.begin(), options.allowed.end());
    for (const SiteRule& rule : options.site_rules)
        if (std::find(made.origin.rules.begin(), made.origin.rules.end(), rule.file) ==
            made.origin.rules.end())
            made.origin.rules.push_back(rule.file);
    Assembler assembler(options, made);
    for (const Profile& profile : profiles) {
        Options here = options;
        here.read_elsewhere = read_elsewhere(profiles, profile);
        for (const Decision& decision : decide(profile, here)) assembler.add(decision);
        for (const std::string& note : profile.origin.notes) made.origin.notes.push_back(note);
    }
    for (const Profile& profile : profiles) assembler.weigh(profile);
    assembler.export_variables();
    assembler.leave_own_hints(profiles);
    assembler.finish();
    return made;
}

}  // namespace tailrace::intent::rules
