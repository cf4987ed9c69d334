// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "intent/intents/derive.hpp"

namespace tailrace::intent {

namespace {

/// Whether the number at `place` is not the same in all files of some run.
bool varies_within_a_run(const PathPattern& pattern, const std::vector<PathUse>& uses,
                         std::size_t place) {
    std::map<std::uint64_t, const std::string*> seen;
    for (std::size_t i = 0; i < pattern.members.size(); ++i) {
        const std::string& value = pattern.values[i][place];
        const auto [found, fresh] = seen.emplace(uses[pattern.members[i]].profile, &value);
        if (!fresh && *found->second != value) return true;
    }
    return false;
}

/// Which numbers tell the files of a run from each other. One in a folder that stays the same
/// within each run is the run's own: its job, its date.
std::vector<bool> telling_numbers(const PathPattern& pattern, const std::vector<PathUse>& uses) {
    std::vector<bool> tells;
    for (std::size_t place = 0; place < pattern.numbers.size(); ++place) {
        const NumberKind kind = pattern.numbers[place];
        tells.push_back(place >= pattern.in_folders || kind == NumberKind::rank ||
                        kind == NumberKind::step || varies_within_a_run(pattern, uses, place));
    }
    return tells;
}

}  // namespace

std::map<std::string, std::string> same_files(const Names& names) {
    std::map<std::string, std::string> identities;
    for (const PathPattern& pattern : names.patterns) {
        const std::vector<bool> tells = telling_numbers(pattern, names.uses);
        for (std::size_t i = 0; i < pattern.members.size(); ++i) {
            std::string identity = pattern.pattern;
            for (std::size_t place = 0; place < tells.size(); ++place)
                if (tells[place]) identity += '\0' + pattern.values[i][place];
            identities.emplace(names.uses[pattern.members[i]].path, std::move(identity));
        }
    }
    return identities;
}

}  // namespace tailrace::intent
