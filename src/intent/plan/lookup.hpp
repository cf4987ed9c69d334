// SPDX-License-Identifier: Apache-2.0
// Which settings of a plan are for this file, or this dataset of it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "intent/plan/compiled.hpp"

namespace tailrace::intent::plan {

enum class Moment : std::uint8_t { create, open };

/// The settings found, at most one per key (and per name of a hint). A transfer of many hints is no
/// use to anyone: beyond 96 none are taken.
struct Found {
    static constexpr std::size_t most = 96;
    std::array<const PlanSetting*, most> settings{};
    std::size_t count = 0;
    [[nodiscard]] std::span<const PlanSetting* const> all() const noexcept {
        return std::span(settings).first(count);
    }
};

/// The settings for a path: of several patterns the exact one wins, then the one with the most
/// literal characters in its file (then in its dataset), then the first; each key by itself.
/// [local]
/// @param file     absolute path; the character after its end is zero
/// @param dataset  path within the file, "/a/b"; empty: settings of the file
/// @param ranks    size of the communicator of the file
[[nodiscard]] Found find(const PlanView& plan, std::string_view file, std::string_view dataset,
                         Moment moment, std::uint64_t ranks) noexcept;
/// Which entries match the file at all, with any dataset, as one number: the same for two files
/// only where the plan has the same for both. 0: none.  [local]
[[nodiscard]] std::uint64_t match_of(const PlanView& plan, std::string_view file) noexcept;
/// Whether an entry for the file is about datasets.  [local]
[[nodiscard]] bool has_datasets(const PlanView& plan, std::string_view file) noexcept;
/// Whether a pattern of the plan matches the file at all, with any dataset.  [local]
[[nodiscard]] bool matches_file(const PlanView& plan, std::string_view file) noexcept;

}  // namespace tailrace::intent::plan
