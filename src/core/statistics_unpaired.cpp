// SPDX-License-Identifier: Apache-2.0
// Runs that were not made next to each other: two samples without pairs.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/statistics_parts.hpp"

namespace tailrace::core {

using namespace statistics_parts;

namespace {

constexpr std::size_t most_counted = 100;  ///< values of both; above it the normal curve is as good

std::size_t sum_of(std::span<const std::size_t> ranks) {
    return std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
}

/// Share of the ways to choose `chosen` of `ranks` whose sum is at least `seen`: ways[k][sum]
/// counts the choices of k ranks so far. Doubles hold the counts: the greatest is C(100, 50), and
/// only their ratio is wanted.
double counted_tail(std::span<const std::size_t> ranks, std::size_t chosen, std::size_t seen) {
    const std::size_t total = sum_of(ranks);
    std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(total + 1, 0.0));
    ways[0][0] = 1;
    std::size_t used = 0, reached = 0;
    for (const std::size_t rank : ranks) {
        ++used;
        reached += rank;
        for (std::size_t k = std::min(used, chosen); k > 0; --k)
            for (std::size_t sum = rank; sum <= reached; ++sum)
                ways[k][sum] += ways[k - 1][sum - rank];
    }
    const std::vector<double>& ends = ways[chosen];
    const auto from = ends.begin() + static_cast<std::ptrdiff_t>(seen);
    return std::accumulate(from, ends.end(), 0.0) / std::accumulate(ends.begin(), ends.end(), 0.0);
}

/// The same by the normal curve, with the variance of these very ranks and half a step of
/// continuity. Ranks are doubled, so a step is 2 where there are no ties.
double normal_tail(std::span<const std::size_t> ranks, std::size_t chosen, std::size_t seen) {
    const auto all = static_cast<double>(ranks.size()), k = static_cast<double>(chosen);
    const double mean = static_cast<double>(sum_of(ranks)) / all;
    double squares = 0;
    for (const std::size_t rank : ranks) {
        const double off = static_cast<double>(rank) - mean;
        squares += off * off;
    }
    const double variance = k * (all - k) / (all * (all - 1)) * squares;
    if (variance <= 0) return 1;  // all values are equal
    const double z = (static_cast<double>(seen) - 1 - k * mean) / std::sqrt(variance);
    return std::erfc(z / std::sqrt(2.0)) / 2;
}

/// The smallest p that so many values can give: all of one side above all of the other.
double least_p(std::size_t one, std::size_t other) {
    double ways = 1;
    for (std::size_t k = 1; k <= std::min(one, other); ++k)
        ways *= static_cast<double>(one + other + 1 - k) / static_cast<double>(k);
    return 1 / ways;
}

void judge(Unpaired& result, Better better, const UnpairedRule& rule) {
    const std::string counts = std::to_string(result.baseline_count) + " and " +
                               std::to_string(result.candidate_count) + " repetitions";
    if (least_p(result.baseline_count, result.candidate_count) > result.p_needed) {
        result.verdict = Verdict::no_verdict;
        result.reason = "too few repetitions for a verdict: " + counts;
        return;
    }
    const double log_ratio = std::log(result.median_ratio);
    const bool large = std::abs(log_ratio) >= std::log1p(rule.effect);
    const bool gains = (log_ratio < 0) == (better == Better::smaller);
    if (large && gains && result.p_faster <= result.p_needed) {
        result.verdict = Verdict::faster_or_drift;
        result.reason = "the candidate is faster in " + counts;
    } else if (large && !gains && result.p_slower <= result.p_needed) {
        result.verdict = Verdict::slower_or_drift;
        result.reason = "the candidate is slower in " + counts;
    } else {
        result.verdict = Verdict::no_difference_beyond_noise;
        result.reason = large ? "the difference is not beyond the noise of " + counts
                              : "the medians differ by less than " + percent_text(rule.effect);
    }
}

}  // namespace

double rank_sum_greater(std::span<const double> values, std::span<const double> others) {
    check_finite(values);
    check_finite(others);
    if (values.empty() || others.empty()) return 1;
    std::vector<double> all(values.begin(), values.end());
    all.insert(all.end(), others.begin(), others.end());
    const std::vector<std::size_t> ranks = doubled_ranks(all);
    const std::size_t seen = sum_of(std::span(ranks).first(values.size()));
    if (all.size() > most_counted) return normal_tail(ranks, values.size(), seen);
    if (values.size() <= others.size()) return counted_tail(ranks, values.size(), seen);
    // The smaller side is counted: its sum is at most the rest.
    std::vector<std::size_t> mirrored;
    const std::size_t top = 2 * (all.size() + 1);
    for (const std::size_t rank : ranks) mirrored.push_back(top - rank);
    return counted_tail(mirrored, others.size(),
                        sum_of(std::span(mirrored).subspan(values.size())));
}

Interval unpaired_ratio_interval(const Pairs& samples, const Bootstrap& how) {
    check_positive(samples.baseline, "the baseline");
    check_positive(samples.candidate, "the candidate");
    if (samples.baseline.size() < 2 || samples.candidate.size() < 2)
        bad("an interval wants at least 2 values on either side", "repeat the runs");
    check_bootstrap(how);
    Generator generator(how.seed);
    std::vector<double> ratios(how.resamples), drawn;
    const auto resampled = [&](const std::vector<double>& values) {
        drawn.resize(values.size());
        for (double& value : drawn) value = values[generator.below(values.size())];
        return median_in_place(drawn);
    };
    for (double& one : ratios) {
        const double from = resampled(samples.baseline);
        one = std::log(resampled(samples.candidate) / from);
    }
    return middle_of_logs(ratios, how.level);
}

Unpaired compare_unpaired(const Pairs& samples, Better better, const UnpairedRule& rule,
                          const Bootstrap& how) {
    check_positive(samples.baseline, "the baseline");
    check_positive(samples.candidate, "the candidate");
    if (samples.baseline.empty() || samples.candidate.empty())
        bad("one side has no values", "repeat the runs");
    Unpaired result;
    result.baseline_count = samples.baseline.size();
    result.candidate_count = samples.candidate.size();
    result.median_ratio = median(samples.candidate) / median(samples.baseline);
    result.interval = {result.median_ratio, result.median_ratio};
    result.has_interval = std::min(result.baseline_count, result.candidate_count) >= 2;
    if (result.has_interval) result.interval = unpaired_ratio_interval(samples, how);
    const double larger = rank_sum_greater(samples.candidate, samples.baseline);
    const double smaller = rank_sum_greater(samples.baseline, samples.candidate);
    result.p_faster = better == Better::larger ? larger : smaller;
    result.p_slower = better == Better::larger ? smaller : larger;
    result.p_needed = rule.error_rate / 2;
    judge(result, better, rule);
    return result;
}

}  // namespace tailrace::core
