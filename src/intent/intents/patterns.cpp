// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/patterns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "intent/intents/path_parts.hpp"

namespace tailrace::intent {

namespace {

using Parts = std::vector<PathPart>;

/// Paths that differ in numbers only.
struct Group {
    std::vector<std::size_t> members;
    std::vector<Parts> parts;
};

std::string skeleton(const Parts& parts) {
    std::string text;
    for (const PathPart& part : parts)
        text += part.kind == PartKind::letters
                    ? part.text
                    : "\x01" + std::to_string(static_cast<int>(part.kind));
    return text;
}

/// The last word before a number, in lower case: "timestep" of "/Timestep_".
std::string word_before(const Parts& parts, std::size_t place) {
    if (place == 0 || parts[place - 1].kind != PartKind::letters) return {};
    const std::string& text = parts[place - 1].text;
    std::size_t end = text.size();
    while (end > 0 && (text[end - 1] == '_' || text[end - 1] == '-' || text[end - 1] == '.' ||
                       text[end - 1] == '='))
        --end;
    std::string word;
    for (std::size_t i = end; i > 0; --i) {
        const char c = text[i - 1];
        const bool upper = c >= 'A' && c <= 'Z';
        if (!is_letter(c)) break;
        word.insert(word.begin(), upper ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return word;
}

template <std::size_t N>
bool one_of(const std::string& word, const std::array<std::string_view, N>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<NumberKind> kind_of_word(const std::string& word) {
    static constexpr std::array<std::string_view, 25> steps{
        "step",      "timestep", "tstep",      "time", "ts",    "t",    "iter",
        "iteration", "it",       "cycle",      "cyc",  "dump",  "plt",  "plot",
        "chk",       "chkpoint", "checkpoint", "ckpt", "frame", "snap", "snapshot",
        "restart",   "rst",      "epoch",      "day"};
    static constexpr std::array<std::string_view, 8> ranks{"rank", "ranks", "proc", "process",
                                                           "pe",   "task",  "cpu",  "mpirank"};
    static constexpr std::array<std::string_view, 7> numbers{"job",  "jobid",  "run", "pid",
                                                             "seed", "member", "ens"};
    if (one_of(word, steps)) return NumberKind::step;
    if (one_of(word, ranks)) return NumberKind::rank;
    if (one_of(word, numbers)) return NumberKind::number;
    return std::nullopt;
}

/// The value of a run of digits, as far as 64 bits hold it.
std::optional<std::int64_t> value_of(const std::string& digits) {
    if (digits.size() > 18) return std::nullopt;
    return static_cast<std::int64_t>(std::stoll(digits));
}

/// Whether each path has one process and the number goes with it: rank_0 with process 0, and so on.
bool goes_with_the_process(const Group& group, std::size_t place,
                           const std::vector<PathUse>& paths) {
    std::optional<std::int64_t> distance;
    std::set<std::uint64_t> processes;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const PathUse& use = paths[group.members[i]];
        const auto number = value_of(group.parts[i][place].text);
        if (use.processes.size() != 1 || !number) return false;
        const std::uint64_t process = use.processes.ranges().front().first;
        const std::int64_t here = *number - static_cast<std::int64_t>(process);
        if (distance && *distance != here) return false;
        distance = here;
        processes.insert(process);
    }
    return processes.size() > 1;
}

/// Whether greater numbers were first used later, within each profile.
bool rises_with_time(const Group& group, std::size_t place, const std::vector<PathUse>& paths) {
    std::map<std::uint64_t, std::map<std::int64_t, Span>> times;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const PathUse& use = paths[group.members[i]];
        const auto number = value_of(group.parts[i][place].text);
        if (!number || !use.first_s) return false;
        const auto [found, fresh] =
            times[use.profile].try_emplace(*number, Span{*use.first_s, *use.first_s});
        if (!fresh) {
            found->second.start_s = std::min(found->second.start_s, *use.first_s);
            found->second.end_s = std::max(found->second.end_s, *use.first_s);
        }
    }
    bool compared = false;
    for (const auto& [profile, by_number] : times) {
        const Span* before = nullptr;
        for (const auto& [number, span] : by_number) {
            if (before && before->end_s > span.start_s) return false;
            compared = compared || before;
            before = &span;
        }
    }
    return compared;
}

std::set<std::string> values_at(const Group& group, std::size_t place) {
    std::set<std::string> values;
    for (const Parts& parts : group.parts) values.insert(parts[place].text);
    return values;
}

/// Few letters before the number and some right behind it: "t2m", the temperature at 2 m.
bool within_a_word(const Parts& parts, std::size_t place) {
    if (place + 1 >= parts.size() || parts[place + 1].kind != PartKind::letters) return false;
    const std::string word = word_before(parts, place);
    const std::string &before = parts[place - 1].text, &behind = parts[place + 1].text;
    return word.size() <= 2 && is_letter(before.back()) && !behind.empty() &&
           is_letter(behind.front());
}

/// The 1 of "1e-5".
bool is_mantissa(const Parts& parts, std::size_t place) {
    if (place + 2 >= parts.size() || parts[place + 2].kind != PartKind::number) return false;
    static constexpr std::array<std::string_view, 6> exponents{"e", "E", "e-", "E-", "e+", "E+"};
    return one_of(parts[place + 1].text, exponents);
}

/// Whether a number that stays the same is rather part of the name than what the word before it
/// counts: "T250", "t2m", "t_2m".
bool part_of_the_name(const Parts& parts, std::size_t place) {
    return word_before(parts, place).size() < 2 || within_a_word(parts, place);
}

/// Whether the number at `place` has so many digits and such a value in all paths.
bool all_within(const Group& group, std::size_t place, std::size_t digits, std::int64_t least,
                std::int64_t most) {
    return std::all_of(group.parts.begin(), group.parts.end(), [&](const Parts& parts) {
        const std::string& text = parts[place].text;
        const auto value = value_of(text);
        return text.size() == digits && value && *value >= least && *value <= most;
    });
}

/// "202403" at the begin of a word, in all paths: one step of many may look like it.
bool is_year_and_month(const Group& group, std::size_t place) {
    if (place == 0) return false;
    const std::string& before = group.parts.front()[place - 1].text;
    if (std::string_view("_.-/").find(before.back()) == std::string_view::npos) return false;
    return all_within(group, place, 6, 180001, 219912) &&
           std::all_of(group.parts.begin(), group.parts.end(), [&](const Parts& parts) {
               const std::int64_t month = *value_of(parts[place].text) % 100;
               return month >= 1 && month <= 12;
           });
}

/// How many folders from the number at `place` on are a year, its month, a day: "/2024/03/01/".
std::size_t dated_folders(const Group& group, std::size_t place) {
    struct Range {
        std::size_t digits;
        std::int64_t least, most;
    };
    static constexpr std::array<Range, 3> ranges{{{4, 1800, 2199}, {2, 1, 12}, {2, 1, 31}}};
    const Parts& parts = group.parts.front();
    std::size_t count = 0;
    for (const Range& range : ranges) {
        const std::size_t here = place + 2 * count;
        if (here == 0 || here + 1 >= parts.size() || parts[here].kind != PartKind::number) break;
        const std::string& before = parts[here - 1].text;
        const bool folder = count == 0 ? before.back() == '/' : before == "/";
        if (!folder || parts[here + 1].text.front() != '/') break;
        if (!all_within(group, here, range.digits, range.least, range.most)) break;
        ++count;
    }
    return count;
}

/// Whether the number at `place` is part of a date: a year alone is none.
bool is_dated(const Group& group, std::size_t place) {
    if (is_year_and_month(group, place)) return true;
    for (std::size_t which = 0; which < 3 && 2 * which <= place; ++which) {
        const std::size_t folders = dated_folders(group, place - 2 * which);
        if (folders >= 2 && folders > which) return true;
    }
    return false;
}

/// What the number at `place` counts; nothing where it is part of the name.
std::optional<NumberKind> kind_at(const Group& group, std::size_t place,
                                  const std::vector<PathUse>& paths, std::size_t least_values) {
    const PathPart& first = group.parts.front()[place];
    if (first.kind == PartKind::date) return NumberKind::date;
    if (first.kind == PartKind::id) return NumberKind::id;
    const std::size_t values = values_at(group, place).size();
    if (values > 1 && goes_with_the_process(group, place, paths)) return NumberKind::rank;
    const bool padded = first.text.size() >= 3 && first.text.front() == '0';
    const Parts& parts = group.parts.front();
    const auto said =
        is_mantissa(parts, place) ? std::nullopt : kind_of_word(word_before(parts, place));
    // A word has to come before it, so that there is a part before.
    if (said && (values > 1 || padded || !part_of_the_name(parts, place))) return said;
    if (is_dated(group, place)) return NumberKind::date;
    if (values < least_values) return padded ? std::optional(NumberKind::number) : std::nullopt;
    return rises_with_time(group, place, paths) ? NumberKind::step : NumberKind::number;
}

void add_letters(PathPattern& pattern, const std::string& text) {
    for (const char c : text) {
        if (c == '{' || c == '}') pattern.pattern += c;
        pattern.pattern += c;
        if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') pattern.glob += '\\';
        pattern.glob += c;
    }
}

/// The form of a number: digits as 0, letters of an identifier as a.
std::string form_of(const std::string& text, NumberKind kind) {
    std::string form = text;
    for (char& c : form) {
        if (kind == NumberKind::id && (is_letter(c) || (c >= '0' && c <= '9')))
            c = 'a';
        else if (c >= '0' && c <= '9')
            c = '0';
    }
    return form;
}

/// Whether all members have the form of the first, and the next run's will: dates, identifiers, and
/// numbers filled up with zeros to four digits or more.
bool keeps_its_form(const Group& group, std::size_t place, NumberKind kind) {
    const std::string form = form_of(group.parts.front()[place].text, kind);
    bool filled_up = false;
    for (const Parts& parts : group.parts) {
        const std::string& text = parts[place].text;
        if (form_of(text, kind) != form) return false;
        filled_up = filled_up || text.front() == '0';
    }
    return kind == NumberKind::date || kind == NumberKind::id || (filled_up && form.size() >= 4);
}

/// As narrow as a glob can be: it has no "any number of digits".
std::string glob_of(const Group& group, std::size_t place, NumberKind kind) {
    if (!keeps_its_form(group, place, kind)) return kind == NumberKind::id ? "*" : "[0-9]*";
    std::string glob;
    for (const char c : form_of(group.parts.front()[place].text, kind)) {
        if (kind == NumberKind::id && c == 'a')
            glob += "[0-9A-Fa-f]";
        else if (kind != NumberKind::id && c == '0')
            glob += "[0-9]";
        else
            glob += c;
    }
    return glob;
}

using Kinds = std::vector<std::optional<NumberKind>>;

/// What stands at the places of numbers, in one path.
std::vector<std::string> numbers_in(const Parts& parts, const Kinds& kinds) {
    std::vector<std::string> numbers;
    for (std::size_t place = 0; place < parts.size(); ++place)
        if (kinds[place]) numbers.push_back(parts[place].text);
    return numbers;
}

/// How many of the numbers stand before the last slash.
std::size_t numbers_in_folders(const Parts& parts, const Kinds& kinds) {
    std::size_t numbers = 0, in_folders = 0;
    for (std::size_t place = 0; place < parts.size(); ++place) {
        if (kinds[place])
            ++numbers;
        else if (parts[place].text.find('/') != std::string::npos)
            in_folders = numbers;
    }
    return in_folders;
}

PathPattern pattern_of(const Group& group, const Kinds& kinds) {
    PathPattern pattern;
    pattern.members = group.members;
    const Parts& parts = group.parts.front();
    pattern.in_folders = numbers_in_folders(parts, kinds);
    for (const Parts& one : group.parts) pattern.values.push_back(numbers_in(one, kinds));
    for (std::size_t place = 0; place < parts.size(); ++place) {
        if (!kinds[place]) {
            add_letters(pattern, parts[place].text);
            continue;
        }
        pattern.numbers.push_back(*kinds[place]);
        pattern.pattern += "{" + name(*kinds[place]) + "}";
        pattern.glob += glob_of(group, place, *kinds[place]);
    }
    const auto slash = pattern.glob.rfind('/');
    pattern.name_glob = slash == std::string::npos ? pattern.glob : pattern.glob.substr(slash + 1);
    return pattern;
}

/// The pattern of a group, or several where a number that is part of the name varies.
void add_patterns(std::vector<PathPattern>& patterns, const Group& group,
                  const std::vector<PathUse>& paths, std::size_t least_values) {
    Kinds kinds(group.parts.front().size());
    for (std::size_t place = 0; place < kinds.size(); ++place)
        if (group.parts.front()[place].kind != PartKind::letters)
            kinds[place] = kind_at(group, place, paths, least_values);
    std::map<std::string, Group> by_name;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        std::string name;
        for (std::size_t place = 0; place < kinds.size(); ++place)
            if (!kinds[place]) name += group.parts[i][place].text + "\x01";
        by_name[name].members.push_back(group.members[i]);
        by_name[name].parts.push_back(group.parts[i]);
    }
    for (const auto& [name, one] : by_name) patterns.push_back(pattern_of(one, kinds));
}

/// The paths by what is left without their numbers.
std::map<std::string, Group> by_skeleton(const Group& group) {
    std::map<std::string, Group> groups;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        Group& mine = groups[skeleton(group.parts[i])];
        mine.members.push_back(group.members[i]);
        mine.parts.push_back(group.parts[i]);
    }
    return groups;
}

}  // namespace

std::string name(NumberKind kind) {
    switch (kind) {
        case NumberKind::step:
            return "step";
        case NumberKind::rank:
            return "rank";
        case NumberKind::date:
            return "date";
        case NumberKind::id:
            return "id";
        case NumberKind::number:
            break;
    }
    return "number";
}

std::vector<PathPattern> patterns_of(const std::vector<PathUse>& paths, std::size_t least_values) {
    Group all;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        all.members.push_back(i);
        all.parts.push_back(parts_of(paths[i].path));
    }
    std::vector<PathPattern> patterns;
    for (const auto& [key, group] : by_skeleton(all))
        add_patterns(patterns, group, paths, least_values);
    return patterns;
}

}  // namespace tailrace::intent
