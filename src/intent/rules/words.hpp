// SPDX-License-Identifier: Apache-2.0
// Sentences with numbers in them. Internal to src/intent/rules.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "intent/profile/model.hpp"

namespace tailrace::intent::rules {

constexpr std::uint64_t kib = 1024, mib = 1048576, gib = 1073741824;

/// "4 KiB", "1.5 MiB": sizes for a person.  [local]
[[nodiscard]] std::string size(std::uint64_t bytes);
/// "100 x 20"; "1 element" of none.  [local]
[[nodiscard]] std::string extents(const Extents& extents);
/// "12 %" of a share of 1.  [local]
[[nodiscard]] std::string percent(double share);
/// "0.5", "0".  [local]
[[nodiscard]] std::string fraction(double number);
/// "1.54 s", "11200 s": three digits, since a time says no more.  [local]
[[nodiscard]] std::string seconds(double number);

/// "1 rank", "2 ranks".  [local]
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// A text as one word of a shell, in quotes where it needs them.  [local]
[[nodiscard]] std::string shell_word(const std::string& text);
/// A path in the same way; one that begins with a dash is no option.  [local]
[[nodiscard]] std::string shell_path(const std::string& path);
/// "/data" of "/data/f.h5", "." of "f.h5".  [local]
[[nodiscard]] std::string folder_of(const std::string& path);

inline std::string word(std::string_view text) { return std::string(text); }
inline std::string word(const char* text) { return text; }
inline std::string word(const std::string& text) { return text; }
template <std::integral T>
std::string word(T number) {
    return std::to_string(number);
}

/// All parts as one text.  [local]
template <class... Parts>
std::string say(const Parts&... parts) {
    std::string text;
    ((text += word(parts)), ...);
    return text;
}

}  // namespace tailrace::intent::rules
