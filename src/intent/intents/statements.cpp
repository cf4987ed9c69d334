// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/statements.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tailrace::intent {

Reasons& Reasons::note(const std::string& name, const Count& value, const std::string& unit) {
    if (value) x_evidence.push_back({name, *value, unit, x_from, 0});
    return *this;
}

Reasons& Reasons::note(const std::string& name, const Seconds& value) {
    if (value) x_evidence.push_back({name, *value, "s", x_from, 0});
    return *this;
}

Reasons& Reasons::note(const std::string& name, const std::string& text) {
    x_evidence.push_back({name, text, "", x_from, 0});
    return *this;
}

Reasons& Reasons::share(const std::string& name, double value) {
    x_evidence.push_back({name, std::round(value * 1e4) / 1e4, "1", x_from, 0});
    return *this;
}

Statement Reasons::say(std::string value, Confidence confidence) const {
    Statement statement;
    statement.value = std::move(value);
    statement.confidence = confidence;
    statement.evidence = x_evidence;
    return statement;
}

Count sum(const Count& a, const Count& b) {
    if (!a && !b) return std::nullopt;
    return a.value_or(0) + b.value_or(0);
}

std::optional<Span> cover(const std::optional<Span>& a, const std::optional<Span>& b) {
    if (!a || !b) return a ? a : b;
    return Span{std::min(a->start_s, b->start_s), std::max(a->end_s, b->end_s)};
}

std::string size_text(std::uint64_t bytes) {
    static constexpr std::array<const char*, 5> units{"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) return std::to_string(bytes) + " bytes";
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0 && tenths < 1000) text += "." + std::to_string(tenths % 10);
    return text + " " + units[unit];
}

}  // namespace tailrace::intent
