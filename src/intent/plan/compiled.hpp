// SPDX-License-Identifier: Apache-2.0
// The flat form of a plan: what a hook reads, without parsing JSON. Numbers in the byte order of
// the machine, places as offsets from the beginning; every text ends with a zero byte. The decoder
// checks each place once, so that later looks need no checks. Nothing here throws or allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "intent/plan/functions.hpp"
#include "intent/plan/keys.hpp"

namespace tailrace::intent::plan {

inline constexpr std::size_t largest_advised = 65536;  ///< bytes
/// A tune has each entry for up to four places in which its file may lie, under longer names.
inline constexpr std::size_t largest_plan = 8 * largest_advised;
inline constexpr std::array<char, 8> plan_magic{'T', 'R', 'P', 'L', 'A', 'N', '0', '1'};
inline constexpr std::uint32_t native_order = 0x01020304;

struct TextPlace {
    std::uint32_t offset, length;  ///< length without the zero byte
};
struct PlanHeader {
    std::array<char, 8> magic;
    std::uint32_t order, bytes;  ///< bytes: of the whole plan
    std::array<char, 32> hash;   ///< hexadecimal, over all that follows the header
    std::uint64_t checksum;      ///< checksum_of() the whole plan with 0 in its place
    std::uint32_t entries, first_entry;
    std::uint32_t settings, first_setting;
    std::uint32_t numbers, first_number;
    std::uint32_t texts, first_text;  ///< bytes of text
};
struct PlanEntry {
    TextPlace file, dataset;
    std::uint32_t first_setting, settings;
    std::uint32_t literal_file, literal_dataset;  ///< characters that are no pattern
    std::uint16_t when;                           ///< 0 any, 1 create, 2 open
    std::uint16_t exact_file, exact_dataset, name_only;
};
/// What `number`, `text` and the numbers mean depends on the shape.
struct PlanSetting {
    std::uint16_t key, shape, function, cls;
    std::uint32_t first_number, numbers;  ///< extents, or arguments and then extents of a function
    TextPlace name, text;                 ///< name: of a hint; text: a word or a hint's value
    TextPlace rule;
    std::uint64_t number;  ///< a flag, a whole number, or the bits of a real one
    std::uint64_t ranks;   ///< 0: any
};
static_assert(std::is_trivially_copyable_v<PlanHeader> && sizeof(PlanHeader) == 88);
static_assert(std::is_trivially_copyable_v<PlanEntry> && sizeof(PlanEntry) == 40);
static_assert(std::is_trivially_copyable_v<PlanSetting> && sizeof(PlanSetting) == 56);

/// What a hook, which has no library for the hash, can tell a damaged plan by.  [local]
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

/// A decoded plan: a look at bytes that somebody else keeps.
class PlanView {
public:
    PlanView() = default;
    /// The plan in `bytes`, which must begin at a multiple of 8 and live as long.  [local]
    /// @param problem  set to what is wrong, and the view is empty
    [[nodiscard]] static PlanView decode(std::span<const std::byte> bytes,
                                         std::string_view& problem) noexcept;

    [[nodiscard]] bool empty() const noexcept { return x_entries.empty(); }  ///< [local]
    [[nodiscard]] std::span<const PlanEntry> entries() const noexcept { return x_entries; }
    [[nodiscard]] std::span<const PlanSetting> settings(const PlanEntry& entry) const noexcept {
        return x_settings.subspan(entry.first_setting, entry.settings);
    }
    [[nodiscard]] std::span<const std::uint64_t> numbers(
        const PlanSetting& setting) const noexcept {
        return x_numbers.subspan(setting.first_number, setting.numbers);
    }
    /// A text; the byte after its end is zero.  [local]
    [[nodiscard]] std::string_view text(TextPlace place) const noexcept {
        return {x_texts.data() + place.offset, place.length};
    }
    /// 32 hexadecimal digits.  [local]
    [[nodiscard]] std::string_view hash() const noexcept { return x_hash; }

private:
    std::span<const PlanEntry> x_entries;
    std::span<const PlanSetting> x_settings;
    std::span<const std::uint64_t> x_numbers;
    std::span<const char> x_texts;
    std::string_view x_hash;
};

/// What a setting is worth at a place: a literal that is checked, or its function evaluated.
/// [local] The number of a real one is the bits of a double; words and hints are read from the
/// setting.
[[nodiscard]] Value value_of(const PlanView& plan, const PlanSetting& setting,
                             const Surroundings& around) noexcept;

}  // namespace tailrace::intent::plan
