// SPDX-License-Identifier: Apache-2.0
#include "core/units.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "core/checked.hpp"

namespace tailrace::core {

namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 10> suffixes{{
    {"", 1},
    {"B", 1},
    {"KiB", 1ULL << 10},
    {"MiB", 1ULL << 20},
    {"GiB", 1ULL << 30},
    {"TiB", 1ULL << 40},
    {"kB", 1000ULL},
    {"MB", 1000000ULL},
    {"GB", 1000000000ULL},
    {"TB", 1000000000000ULL},
}};

[[noreturn]] void not_a_size(std::string_view text, std::string_view what, const char* why) {
    throw Error(Code::bad_input, "\"" + std::string(text) + "\" " + why, std::string(what),
                "write a whole number of bytes, or one with KiB, MiB, GiB, TiB (powers of 1024) or "
                "kB, MB, GB, TB (powers of 1000)");
}

}  // namespace

std::string digits(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string mib_per_s(double bytes_per_s) { return digits(bytes_per_s / mebi) + " MiB/s"; }

std::string mb_per_s(double bytes_per_s) { return digits(bytes_per_s / mega) + " MB/s"; }

std::string rate_text(double bytes_per_s) {
    return mib_per_s(bytes_per_s) + " (" + mb_per_s(bytes_per_s) + ")";
}

std::string bytes_text(std::uint64_t bytes) {
    std::string plain = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    if (bytes < 1024) return plain;
    static constexpr std::array<const char*, 6> names{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t k = 0;
    for (; value >= 1024 && k + 1 < names.size(); ++k) value /= 1024;
    return plain + " (" + digits(value) + " " + names[k] + ")";
}

std::string seconds_text(double seconds) { return digits(seconds) + " s"; }

std::uint64_t parse_bytes(std::string_view text, std::string_view what) {
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure == std::errc::result_out_of_range) not_a_size(text, what, "does not fit 64 bits");
    if (failure != std::errc{}) not_a_size(text, what, "is not a number of bytes");
    std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
    if (suffix.size() > 1 && suffix.front() == ' ') suffix.remove_prefix(1);
    for (const auto& [name, factor] : suffixes)
        if (suffix == name) return checked_mul(number, factor, what);
    not_a_size(text, what, "has no unit that is known");
}

}  // namespace tailrace::core
