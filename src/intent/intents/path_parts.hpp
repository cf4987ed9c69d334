// SPDX-License-Identifier: Apache-2.0
// A path cut into letters and numbers. Internal to src/intent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tailrace::intent {

/// Of ASCII.  [local]
[[nodiscard]] constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

enum class PartKind { letters, number, date, id };

struct PathPart {
    PartKind kind = PartKind::letters;
    std::string text;
};

/// The parts of a path in order: dates (2024-03-01, 2024-03, 20240301T120000, 2024030112),
/// identifiers (8 and more hexadecimal digits with letters among them, UUIDs), runs of digits, and
/// what is between. Digits that belong to a word (the 5 of ".h5", "3d", "f64") are letters. [local]
[[nodiscard]] std::vector<PathPart> parts_of(std::string_view path);

}  // namespace tailrace::intent
