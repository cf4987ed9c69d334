// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/error.hpp"

using namespace tailrace::core;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Mean rank of the size of each value among the values that are not 0.
std::vector<double> mean_ranks(const std::vector<double>& values) {
    std::vector<double> ranks;
    for (double value : values) {
        double smaller = 0, equal = 0;
        for (double other : values) {
            if (std::abs(other) < std::abs(value)) ++smaller;
            if (std::abs(other) == std::abs(value)) ++equal;
        }
        ranks.push_back(smaller + (equal + 1) / 2);
    }
    return ranks;
}

/// The test's definition: all 2^n ways to give signs.
double by_enumeration(std::vector<double> values) {
    std::erase(values, 0.0);
    const std::vector<double> ranks = mean_ranks(values);
    double seen = 0;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k] > 0) seen += ranks[k];
    std::uint64_t as_large = 0;
    const std::uint64_t ways = std::uint64_t{1} << values.size();
    for (std::uint64_t signs = 0; signs < ways; ++signs) {
        double sum = 0;
        for (std::size_t k = 0; k < values.size(); ++k)
            if (signs >> k & 1) sum += ranks[k];
        if (sum >= seen) ++as_large;
    }
    return static_cast<double>(as_large) / static_cast<double>(ways);
}

/// Pairs of times: noise common to a pair, noise of each run, and a true ratio.
Pairs noisy_pairs(std::mt19937_64& random, std::size_t count, double true_ratio, double noise) {
    std::normal_distribution<double> normal;
    Pairs pairs;
    for (std::size_t k = 0; k < count; ++k) {
        const double drift = std::exp(0.3 * normal(random));
        pairs.baseline.push_back(drift * std::exp(noise * normal(random)));
        pairs.candidate.push_back(drift * true_ratio * std::exp(noise * normal(random)));
    }
    return pairs;
}

Pairs constant_pairs(std::size_t count, double ratio) {
    Pairs pairs;
    for (std::size_t k = 0; k < count; ++k) {
        pairs.baseline.push_back(1 + 0.01 * static_cast<double>(k));
        pairs.candidate.push_back(ratio * pairs.baseline.back());
    }
    return pairs;
}

}  // namespace

TEST_CASE("summaries and percentiles interpolate between order statistics") {
    const std::vector<double> values{4, 1, 3, 2};
    const Summary summary = summarize(values);
    CHECK(summary.count == 4);
    CHECK(summary.min == 1);
    CHECK(summary.p25 == 1.75);
    CHECK(summary.median == 2.5);
    CHECK(summary.mean == 2.5);
    CHECK(summary.p75 == 3.25);
    CHECK(summary.max == 4);
    CHECK(percentile(values, 0) == 1);
    CHECK(percentile(values, 100) == 4);
    CHECK(median(std::vector<double>{7}) == 7);
    CHECK(summarize({}).count == 0);
    CHECK_THROWS_AS((void)percentile({}, 50), Error);
    CHECK_THROWS_AS((void)percentile(values, 101), Error);
    CHECK_THROWS_AS((void)summarize(std::vector<double>{1, not_a_number}), Error);
}

TEST_CASE("pairs that cannot be compared are refused") {
    CHECK_THROWS_WITH_AS((void)ratios({{1, 2}, {1}}), doctest::Contains("lacks its partner"),
                         Error);
    CHECK_THROWS_WITH_AS((void)ratios({{1, 0}, {1, 1}}), doctest::Contains("pair 1"), Error);
    CHECK_THROWS_AS((void)ratios({{1}, {not_a_number}}), Error);
    CHECK_THROWS_AS((void)ratios({{1}, {-1}}), Error);
    CHECK_THROWS_AS((void)median_ratio_interval({{1}, {1}}), Error);
}

TEST_CASE("the signed-rank test: known values") {
    CHECK(wilcoxon_greater(std::vector<double>{1, 2, 3, 4, 5, 6}) == 1.0 / 64);
    CHECK(wilcoxon_greater(std::vector<double>{-1, -2, -3, -4, -5, -6}) == 1);
    CHECK(wilcoxon_greater(std::vector<double>{-1, 2, 3, 4, 5, 6}) == 2.0 / 64);
    CHECK(wilcoxon_greater({}) == 1);
    CHECK(wilcoxon_greater(std::vector<double>{0, 0}) == 1);
    CHECK_THROWS_AS((void)wilcoxon_greater(std::vector<double>{not_a_number}), Error);
}

TEST_CASE("the signed-rank test agrees with enumeration, ties and zeros included") {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<double> values(1 + random() % 12);
        const bool ties = trial % 2 == 0;
        for (double& value : values)
            value = ties ? static_cast<double>(random() % 7) - 3
                         : std::normal_distribution<double>(0.3)(random);
        CHECK(wilcoxon_greater(values) == doctest::Approx(by_enumeration(values)).epsilon(1e-12));
    }
}

TEST_CASE("the interval is the same for the same input and contains the median ratio") {
    std::mt19937_64 random(5);
    const Pairs pairs = noisy_pairs(random, 10, 0.9, 0.05);
    const Interval a = median_ratio_interval(pairs), b = median_ratio_interval(pairs);
    CHECK(a.low == b.low);
    CHECK(a.high == b.high);
    CHECK(a.low <= median(ratios(pairs)));
    CHECK(a.high >= median(ratios(pairs)));
    Bootstrap other;
    other.seed = 1;
    const Interval c = median_ratio_interval(pairs, other);
    CHECK(c.low == doctest::Approx(a.low).epsilon(0.02));
    Bootstrap wide;
    wide.level = 0.99;
    CHECK(median_ratio_interval(pairs, wide).low <= a.low);
    const Interval exact = median_ratio_interval(constant_pairs(6, 0.5));
    CHECK(exact.low == doctest::Approx(0.5));
    CHECK(exact.high == doctest::Approx(0.5));
}

TEST_CASE("the interval covers the truth about as often as it says") {
    std::mt19937_64 random(17);
    Bootstrap quick;
    quick.resamples = 999;
    for (const auto& [count, least] : {std::pair{6UL, 0.85}, {10UL, 0.88}, {16UL, 0.90}}) {
        const int trials = 1000;
        int covered = 0;
        for (int trial = 0; trial < trials; ++trial) {
            const Interval interval =
                median_ratio_interval(noisy_pairs(random, count, 0.9, 0.05), quick);
            if (interval.low <= 0.9 && 0.9 <= interval.high) ++covered;
        }
        const double share = static_cast<double>(covered) / trials;
        CAPTURE(count);
        MESSAGE("coverage of the 95 % interval with " << count << " pairs: " << share);
        CHECK(share >= least);
        CHECK(share <= 0.99);
    }
}

TEST_CASE("without a difference a verdict comes in at most 5 % of all cases per direction") {
    std::mt19937_64 random(23);
    Bootstrap quick;
    quick.resamples = 100;
    const int trials = 3000;
    int faster = 0, slower = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Comparison result =
            compare(noisy_pairs(random, 16, 1.0, 0.2), Better::smaller, {}, quick);
        if (result.verdict == Verdict::faster) ++faster;
        if (result.verdict == Verdict::slower) ++slower;
    }
    MESSAGE("false verdicts: faster " << faster << ", slower " << slower << " of " << trials);
    // 5 % and three standard deviations of a share of 5 %.
    const double bound = 0.05 + 3 * std::sqrt(0.05 * 0.95 / trials);
    CHECK(faster <= bound * trials);
    CHECK(slower <= bound * trials);
    CHECK(faster + slower > 0);
}

TEST_CASE("a clear difference is found, in either direction and with either meaning") {
    std::mt19937_64 random(29);
    const Pairs quicker = noisy_pairs(random, 6, 0.8, 0.02);
    const Comparison faster = compare(quicker, Better::smaller);
    CHECK(faster.verdict == Verdict::faster);
    CHECK(faster.pairs == 6);
    CHECK(faster.p_faster == 1.0 / 64);
    CHECK(faster.median_ratio == doctest::Approx(0.8).epsilon(0.05));
    CHECK(compare(quicker, Better::larger).verdict == Verdict::slower);
    const Pairs back{quicker.candidate, quicker.baseline};
    CHECK(compare(back, Better::smaller).verdict == Verdict::slower);
    CHECK(compare(back, Better::larger).verdict == Verdict::faster);
}

TEST_CASE("decisions come at the fixed looks only") {
    CHECK(compare(constant_pairs(5, 0.5), Better::smaller).verdict == Verdict::more_pairs_needed);
    CHECK(compare(constant_pairs(5, 0.5), Better::smaller).pairs == 0);
    // 9 pairs: the last three are not looked at.
    Pairs pairs = constant_pairs(6, 1.0);
    for (int k = 0; k < 3; ++k) {
        pairs.baseline.push_back(1);
        pairs.candidate.push_back(0.5);
    }
    const Comparison early = compare(pairs, Better::smaller);
    CHECK(early.verdict == Verdict::more_pairs_needed);
    CHECK(early.pairs == 6);
    CHECK(early.median_ratio == doctest::Approx(1));
    // A verdict at 6 stands, whatever came later.
    Pairs reversed = constant_pairs(6, 0.5);
    for (int k = 0; k < 10; ++k) {
        reversed.baseline.push_back(1);
        reversed.candidate.push_back(2);
    }
    CHECK(compare(reversed, Better::smaller).verdict == Verdict::faster);
    CHECK(compare(reversed, Better::smaller).pairs == 6);
}

TEST_CASE("a difference below the effect bound is none, however sure") {
    const Comparison small = compare(constant_pairs(16, 0.98), Better::smaller);
    CHECK(small.p_faster < small.p_needed);
    CHECK(small.verdict == Verdict::no_difference_beyond_noise);
    CHECK(small.reason.find("less than 3 %") != std::string::npos);
    CHECK(compare(constant_pairs(16, 0.96), Better::smaller).verdict == Verdict::faster);
    CHECK(compare(constant_pairs(10, 0.98), Better::smaller).verdict == Verdict::more_pairs_needed);
}

TEST_CASE("where A differs from A there is no verdict") {
    const Pairs pairs = constant_pairs(16, 0.5);
    CHECK(compare_checked(constant_pairs(6, 1.0), pairs, Better::smaller).verdict ==
          Verdict::faster);
    const Comparison drifting = compare_checked(constant_pairs(6, 1.2), pairs, Better::smaller);
    CHECK(drifting.verdict == Verdict::no_verdict);
    CHECK(drifting.reason.find("A differs from A") == 0);
    CHECK(drifting.median_ratio == doctest::Approx(0.5));
    CHECK(compare_checked(constant_pairs(3, 1.0), pairs, Better::smaller).verdict ==
          Verdict::no_verdict);
}

TEST_CASE("verdicts have names") {
    CHECK(name(Verdict::faster) == "faster");
    CHECK(name(Verdict::slower) == "slower");
    CHECK(name(Verdict::no_difference_beyond_noise) == "no_difference_beyond_noise");
    CHECK(name(Verdict::no_verdict) == "no_verdict");
    CHECK(name(Verdict::more_pairs_needed) == "more_pairs_needed");
}
