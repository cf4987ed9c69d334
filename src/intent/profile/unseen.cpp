// SPDX-License-Identifier: Apache-2.0
#include "intent/profile/unseen.hpp"

#include <algorithm>

namespace tailrace::intent {
namespace {

bool moves_virtual(const Profile& profile, std::optional<Transfers> Dataset::*way) {
    return std::ranges::any_of(profile.files, [way](const File& file) {
        return std::ranges::any_of(file.datasets, [way](const Dataset& dataset) {
            const auto& moved = dataset.*way;
            return dataset.layout == "virtual" && moved && moved->calls.value_or(0) > 0;
        });
    });
}

}  // namespace

bool incomplete(const Origin& origin) {
    if (!origin.dropped.empty())
        for (const auto& [kind, count] : origin.dropped)
            if (count > 0 && kind != "lock test files" && kind != "declarations") return true;
    return std::any_of(origin.sources.begin(), origin.sources.end(), [](const Source& source) {
        return std::any_of(source.parts.begin(), source.parts.end(),
                           [](const std::string& part) { return part.rfind('!', 0) == 0; });
    });
}

bool reads_virtual(const Profile& profile) { return moves_virtual(profile, &Dataset::reads); }
bool writes_virtual(const Profile& profile) { return moves_virtual(profile, &Dataset::writes); }

}  // namespace tailrace::intent
