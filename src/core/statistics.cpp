// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/statistics_parts.hpp"

namespace tailrace::core {

using namespace statistics_parts;

namespace {

std::vector<double> logs(std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
}

/// Probability that a random half-half choice of `weights` sums up to at least `seen`.
double upper_tail(const std::vector<std::size_t>& weights, std::size_t seen) {
    const std::size_t total = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
    std::vector<double> probability(total + 1, 0.0);
    probability[0] = 1;
    std::size_t reached = 0;
    for (std::size_t weight : weights) {
        reached += weight;
        for (std::size_t sum = reached + 1; sum-- > 0;) {
            const double without = probability[sum];
            const double with = sum >= weight ? probability[sum - weight] : 0;
            probability[sum] = (without + with) / 2;
        }
    }
    double tail = 0;
    for (std::size_t sum = total + 1; sum-- > seen;) tail += probability[sum];
    return std::min(tail, 1.0);
}

std::size_t last_look(const Rule& rule, std::size_t pairs) {
    std::size_t reached = 0;
    for (std::size_t look : rule.looks)
        if (look <= pairs) reached = std::max(reached, look);
    return reached;
}

Pairs first_pairs(const Pairs& pairs, std::size_t count) {
    const auto end = static_cast<std::ptrdiff_t>(count);
    return {{pairs.baseline.begin(), pairs.baseline.begin() + end},
            {pairs.candidate.begin(), pairs.candidate.begin() + end}};
}

/// Everything but the verdict, on exactly `look` pairs.
Comparison measure(const Pairs& pairs, std::size_t look, Better better, const Rule& rule,
                   const Bootstrap& how) {
    const Pairs seen = first_pairs(pairs, look);
    std::vector<double> gains = logs(ratios(seen));
    Comparison result;
    result.pairs = look;
    result.median_ratio = std::exp(median(gains));
    result.interval = median_ratio_interval(seen, how);
    result.p_needed = rule.error_rate / static_cast<double>(rule.looks.size());
    if (better == Better::smaller)
        for (double& gain : gains) gain = -gain;
    result.p_faster = wilcoxon_greater(gains);
    for (double& gain : gains) gain = -gain;
    result.p_slower = wilcoxon_greater(gains);
    return result;
}

void judge(Comparison& result, const Rule& rule) {
    const bool large = std::abs(std::log(result.median_ratio)) >= std::log1p(rule.effect);
    if (large && result.p_faster <= result.p_needed) {
        result.verdict = Verdict::faster;
        result.reason = "the candidate is faster in " + std::to_string(result.pairs) + " pairs";
    } else if (large && result.p_slower <= result.p_needed) {
        result.verdict = Verdict::slower;
        result.reason = "the candidate is slower in " + std::to_string(result.pairs) + " pairs";
    } else if (result.pairs == *std::max_element(rule.looks.begin(), rule.looks.end())) {
        result.verdict = Verdict::no_difference_beyond_noise;
        result.reason = large ? "the difference is not beyond noise after the last look"
                              : "the median differs by less than " + percent_text(rule.effect);
    } else {
        result.verdict = Verdict::more_pairs_needed;
        result.reason = "undecided after " + std::to_string(result.pairs) + " pairs";
    }
}

}  // namespace

Summary summarize(std::span<const double> values) {
    check_finite(values);
    if (values.empty()) return {};
    const std::vector<double> sorted = sorted_copy(values);
    const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    return {sorted.size(),
            sorted.front(),
            percentile_of_sorted(sorted, 25),
            percentile_of_sorted(sorted, 50),
            sum / static_cast<double>(sorted.size()),
            percentile_of_sorted(sorted, 75),
            sorted.back()};
}

double percentile(std::span<const double> values, double percent) {
    if (values.empty()) bad("a percentile of no values", "give at least one value");
    if (!(percent >= 0 && percent <= 100)) bad("a percentile lies between 0 and 100", "");
    check_finite(values);
    return percentile_of_sorted(sorted_copy(values), percent);
}

double median(std::span<const double> values) { return percentile(values, 50); }

std::vector<double> ratios(const Pairs& pairs) {
    if (pairs.baseline.size() != pairs.candidate.size())
        bad("a pair lacks its partner: " + std::to_string(pairs.baseline.size()) +
                " values of the baseline, " + std::to_string(pairs.candidate.size()) +
                " of the candidate",
            "leave out the pair of which one run failed");
    std::vector<double> result;
    for (std::size_t k = 0; k < pairs.baseline.size(); ++k) {
        const double from = pairs.baseline[k], to = pairs.candidate[k];
        if (!std::isfinite(from) || !std::isfinite(to) || from <= 0 || to <= 0)
            bad("pair " + std::to_string(k) + " has a value that is not a number above 0",
                "leave failed repetitions out");
        result.push_back(to / from);
    }
    return result;
}

Interval median_ratio_interval(const Pairs& pairs, const Bootstrap& how) {
    const std::vector<double> gains = logs(ratios(pairs));
    if (gains.size() < 2) bad("an interval wants at least 2 pairs", "repeat the runs");
    check_bootstrap(how);
    Generator generator(how.seed);
    std::vector<double> medians(how.resamples), drawn(gains.size());
    for (double& one : medians) {
        for (double& value : drawn) value = gains[generator.below(gains.size())];
        one = median_in_place(drawn);
    }
    return middle_of_logs(medians, how.level);
}

double wilcoxon_greater(std::span<const double> differences) {
    check_finite(differences);
    if (differences.size() > 2000)
        bad("the exact test is meant for at most 2000 values", "use fewer pairs");
    std::vector<double> sizes;
    std::vector<bool> positive;
    for (double difference : differences) {
        if (difference == 0) continue;
        sizes.push_back(std::abs(difference));
        positive.push_back(difference > 0);
    }
    if (sizes.empty()) return 1;
    const std::vector<std::size_t> ranks = doubled_ranks(sizes);
    std::size_t seen = 0;
    for (std::size_t k = 0; k < ranks.size(); ++k)
        if (positive[k]) seen += ranks[k];
    return upper_tail(ranks, seen);
}

std::string_view name(Verdict verdict) noexcept {
    switch (verdict) {
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::no_difference_beyond_noise:
            return "no_difference_beyond_noise";
        case Verdict::more_pairs_needed:
            return "more_pairs_needed";
        case Verdict::faster_or_drift:
            return "faster_or_drift";
        case Verdict::slower_or_drift:
            return "slower_or_drift";
        case Verdict::no_verdict:
            break;
    }
    return "no_verdict";
}

Comparison compare(const Pairs& pairs, Better better, const Rule& rule, const Bootstrap& how) {
    const std::size_t have = ratios(pairs).size();
    Comparison result;
    result.p_needed = rule.error_rate / static_cast<double>(rule.looks.size());
    result.reason = "too few pairs for the first look: " + std::to_string(have);
    if (last_look(rule, have) == 0) return result;
    std::vector<std::size_t> looks = rule.looks;
    std::sort(looks.begin(), looks.end());
    for (std::size_t look : looks) {
        if (look > have) break;
        result = measure(pairs, look, better, rule, how);
        judge(result, rule);
        if (result.verdict == Verdict::faster || result.verdict == Verdict::slower) break;
    }
    return result;
}

Comparison compare_checked(const Pairs& same, const Pairs& pairs, Better better, const Rule& rule,
                           const Bootstrap& how) {
    Comparison result = compare(pairs, better, rule, how);
    const Comparison control = compare(same, better, rule, how);
    if (control.pairs == 0) {
        result.verdict = Verdict::no_verdict;
        result.reason = "no A/A comparison with enough pairs";
    } else if (control.verdict == Verdict::faster || control.verdict == Verdict::slower) {
        result.verdict = Verdict::no_verdict;
        result.reason = "A differs from A here: " + control.reason;
    }
    return result;
}

}  // namespace tailrace::core
