// SPDX-License-Identifier: Apache-2.0
#include "core/statistics_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace tailrace::core::statistics_parts {

void bad(const std::string& message, const std::string& remedy) {
    throw Error(Code::bad_input, message, "statistics", remedy);
}

void check_finite(std::span<const double> values) {
    for (double value : values)
        if (!std::isfinite(value)) bad("a value is not finite", "leave failed repetitions out");
}

void check_positive(std::span<const double> values, const std::string& whose) {
    for (std::size_t k = 0; k < values.size(); ++k)
        if (!std::isfinite(values[k]) || values[k] <= 0)
            bad("value " + std::to_string(k) + " of " + whose + " is not a number above 0",
                "leave failed repetitions out");
}

void check_bootstrap(const Bootstrap& how) {
    if (how.resamples < 100 || !(how.level > 0 && how.level < 1))
        bad("a bootstrap wants at least 100 resamples and a level between 0 and 1", "");
}

std::vector<double> sorted_copy(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

double percentile_of_sorted(std::span<const double> sorted, double percent) {
    const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double median_in_place(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::vector<std::size_t> doubled_ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<std::size_t> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
        // Ranks first+1 .. last+1: twice their mean is first + last + 2.
        for (std::size_t k = first; k <= last; ++k) ranks[order[k]] = first + last + 2;
        first = last + 1;
    }
    return ranks;
}

Interval middle_of_logs(std::vector<double>& logs, double level) {
    std::sort(logs.begin(), logs.end());
    const double tail = (1 - level) / 2 * 100;
    return {std::exp(percentile_of_sorted(logs, tail)),
            std::exp(percentile_of_sorted(logs, 100 - tail))};
}

std::string percent_text(double share) {
    const auto tenths = static_cast<long>(std::lround(share * 1000));
    return std::to_string(tenths / 10) + (tenths % 10 ? "." + std::to_string(tenths % 10) : "") +
           " %";
}

}  // namespace tailrace::core::statistics_parts
