// SPDX-License-Identifier: Apache-2.0
// What a program may declare of its files and datasets: one table for all languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intent/declare/limits.hpp"

namespace tailrace::intent::declare {

/// What a key can be declared of.
enum class Of : std::uint8_t { both, file, dataset };
enum class Kind : std::uint8_t { word, number };

struct KeyInfo {
    std::string_view name;
    Of of;
    Kind kind;
    std::string_view words;  ///< of a word: those allowed, with blanks between
    std::string_view sentence;
};

/// All keys, in the order in which they are written.  [local]
[[nodiscard]] std::span<const KeyInfo> keys() noexcept;
/// The key of a name; null where there is none.  [local]
[[nodiscard]] const KeyInfo* find_key(std::string_view name) noexcept;
/// The words of a key.  [local]
[[nodiscard]] std::vector<std::string> words_of(const KeyInfo& info);

inline constexpr std::size_t most_patterns = 256;  ///< of files, and of datasets of each
inline constexpr std::size_t most_pattern_bytes = 1024;

}  // namespace tailrace::intent::declare
