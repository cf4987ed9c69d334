// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/lookup.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace tailrace::intent::plan {

namespace {

bool file_matches(const PlanView& plan, const PlanEntry& entry, std::string_view file) noexcept {
    const std::string_view pattern = plan.text(entry.file);
    if (entry.name_only != 0) {
        const std::size_t slash = file.rfind('/');
        if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
    }
    if (entry.exact_file != 0) return pattern == file;
    return fnmatch(pattern.data(), file.data(), FNM_PATHNAME) == 0;
}

bool dataset_matches(const PlanView& plan, const PlanEntry& entry,
                     std::string_view dataset) noexcept {
    const std::string_view pattern = plan.text(entry.dataset);
    if (pattern.empty() || dataset.empty()) return pattern.empty() && dataset.empty();
    if (entry.exact_dataset != 0) return pattern == dataset;
    return fnmatch(pattern.data(), dataset.data(), 0) == 0;
}

/// True where `a` goes before `b`, which stands later in the plan.
bool wins(const PlanEntry& a, const PlanEntry& b) noexcept {
    // A name alone is no exact path.
    const bool exact_a = a.exact_file != 0 && a.name_only == 0;
    const bool exact_b = b.exact_file != 0 && b.name_only == 0;
    if (exact_a != exact_b) return exact_a;
    if (a.literal_file != b.literal_file) return a.literal_file > b.literal_file;
    if (a.exact_dataset != b.exact_dataset) return a.exact_dataset > b.exact_dataset;
    return a.literal_dataset >= b.literal_dataset;
}

}  // namespace

Found find(const PlanView& plan, std::string_view file, std::string_view dataset, Moment moment,
           std::uint64_t ranks) noexcept {
    Found found;
    std::array<const PlanEntry*, Found::most> from{};
    for (const PlanEntry& entry : plan.entries()) {
        if (entry.when != 0 && entry.when != (moment == Moment::create ? 1 : 2)) continue;
        if (!file_matches(plan, entry, file) || !dataset_matches(plan, entry, dataset)) continue;
        for (const PlanSetting& setting : plan.settings(entry)) {
            if (setting.ranks != 0 && setting.ranks != ranks) continue;
            std::size_t at = 0;
            while (at < found.count &&
                   (found.settings[at]->key != setting.key ||
                    plan.text(found.settings[at]->name) != plan.text(setting.name)))
                ++at;
            if (at == found.settings.size()) continue;
            if (at < found.count && wins(*from[at], entry)) continue;
            found.settings[at] = &setting;
            from[at] = &entry;
            found.count = std::max(found.count, at + 1);
        }
    }
    return found;
}

std::uint64_t match_of(const PlanView& plan, std::string_view file) noexcept {
    std::uint64_t match = 0;
    std::uint64_t number = 0;
    for (const PlanEntry& entry : plan.entries()) {
        ++number;
        if (!file_matches(plan, entry, file)) continue;
        match = (match ^ number) * 0x9e3779b97f4a7c15U;
        match ^= match >> 29U;
        if (match == 0) match = 1;
    }
    return match;
}

bool has_datasets(const PlanView& plan, std::string_view file) noexcept {
    const auto entries = plan.entries();
    return std::any_of(entries.begin(), entries.end(), [&](const PlanEntry& entry) {
        return !plan.text(entry.dataset).empty() && file_matches(plan, entry, file);
    });
}

bool matches_file(const PlanView& plan, std::string_view file) noexcept {
    return match_of(plan, file) != 0;
}

}  // namespace tailrace::intent::plan
