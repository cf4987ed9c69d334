// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/words.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace tailrace::intent::rules {

std::string size(std::uint64_t bytes) {
    if (bytes == 1) return "1 byte";
    constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < units.size()) {
        amount /= 1024;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), amount < 10 && unit > 0 ? "%.3g %s" : "%.0f %s", amount,
                  units[unit]);
    return text.data();
}

std::string extents(const Extents& extents) {
    std::string text;
    for (const std::uint64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text.empty() ? "1 element" : text;
}

std::string percent(double share) {
    std::array<char, 32> text{};
    // 999,999 of a million are not all, and one of them is not none.
    if (share > 0 && share < 0.005) return "less than 1 %";
    if (share < 1 && share >= 0.995) return "more than 99 %";
    std::snprintf(text.data(), text.size(), "%.0f %%", share * 100);
    return text.data();
}

std::string fraction(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", number);
    return text.data();
}

std::string seconds(double number) {
    if (number > 0 && number < 0.001) return "less than 1 ms";
    std::array<char, 64> text{};
    const bool large = number >= 999.5;  // "%.3g" would write it with an exponent
    double unit = 1;
    while (large && number / unit >= 1000) unit *= 10;
    std::snprintf(text.data(), text.size(), large ? "%.0f s" : "%.3g s",
                  large ? std::round(number / unit) * unit : number);
    return text.data();
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

std::string shell_word(const std::string& text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
    std::string quoted = "'";
    for (const char letter : text) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
    return quoted + "'";
}

std::string shell_path(const std::string& path) {
    return shell_word(path.starts_with('-') ? "./" + path : path);
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace tailrace::intent::rules
