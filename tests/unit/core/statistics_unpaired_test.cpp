// SPDX-License-Identifier: Apache-2.0
// Runs that were not made in pairs; and what noise of known truth makes of both kinds of
// statistics.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "core/error.hpp"
#include "core/statistics.hpp"

using namespace tailrace::core;

namespace {

/// The test's definition: all ways to call some of the values "values".
double by_enumeration(const std::vector<double>& values, const std::vector<double>& others) {
    std::vector<double> all = values;
    all.insert(all.end(), others.begin(), others.end());
    const auto rank = [&](double value) {
        double smaller = 0, equal = 0;
        for (double other : all) {
            if (other < value) ++smaller;
            if (other == value) ++equal;
        }
        return smaller + (equal + 1) / 2;
    };
    double seen = 0;
    for (double value : values) seen += rank(value);
    double as_large = 0, ways = 0;
    for (std::uint64_t choice = 0; choice < std::uint64_t{1} << all.size(); ++choice) {
        if (std::popcount(choice) != static_cast<int>(values.size())) continue;
        double sum = 0;
        for (std::size_t k = 0; k < all.size(); ++k)
            if (choice >> k & 1) sum += rank(all[k]);
        ++ways;
        if (sum >= seen) ++as_large;
    }
    return as_large / ways;
}

enum class Noise { normal, log_normal, heavy };

/// A time around 1; heavy: Student's t with 2 degrees of freedom on the logarithm, so that now and
/// then a run takes several times as long.
double noisy(std::mt19937_64& random, Noise noise) {
    switch (noise) {
        case Noise::normal:
            return std::max(0.05, 1 + std::normal_distribution<double>(0, 0.1)(random));
        case Noise::log_normal:
            return std::exp(std::normal_distribution<double>(0, 0.2)(random));
        case Noise::heavy:
            break;
    }
    return std::exp(0.1 * std::student_t_distribution<double>(2)(random));
}

std::vector<double> sample(std::mt19937_64& random, std::size_t count, Noise noise, double factor) {
    std::vector<double> values;
    for (std::size_t k = 0; k < count; ++k) values.push_back(factor * noisy(random, noise));
    return values;
}

Bootstrap quick(std::size_t resamples) {
    Bootstrap how;
    how.resamples = resamples;
    return how;
}

/// Three standard deviations of a share above it.
double bound(double share, int trials) {
    return share + 3 * std::sqrt(share * (1 - share) / trials);
}

}  // namespace

TEST_CASE("the rank-sum test: known values") {
    CHECK(rank_sum_greater(std::vector<double>{4, 5, 6}, std::vector<double>{1, 2, 3}) ==
          doctest::Approx(1.0 / 20));
    CHECK(rank_sum_greater(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}) == 1);
    CHECK(rank_sum_greater(std::vector<double>{7, 7}, std::vector<double>{7, 7, 7}) == 1);
    CHECK(rank_sum_greater({}, std::vector<double>{1}) == 1);
    CHECK_THROWS_AS((void)rank_sum_greater(std::vector<double>{NAN}, std::vector<double>{1}),
                    Error);
}

TEST_CASE("the rank-sum test agrees with enumeration, ties and unequal numbers included") {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> values(1 + random() % 6), others(1 + random() % 6);
        for (std::vector<double>* side : {&values, &others})
            for (double& value : *side)
                value = trial % 2 ? static_cast<double>(random() % 5)
                                  : std::normal_distribution<double>()(random);
        CHECK(rank_sum_greater(values, others) ==
              doctest::Approx(by_enumeration(values, others)).epsilon(1e-12));
    }
}

TEST_CASE("the rank-sum test goes over to the normal curve without a step") {
    std::mt19937_64 random(5);
    for (double shift : {0.0, 0.15, 0.3}) {
        std::vector<double> values = sample(random, 50, Noise::normal, 1 + shift * 0.3);
        std::vector<double> others = sample(random, 50, Noise::normal, 1);
        const double counted = rank_sum_greater(values, others);
        others.push_back(others[25]);
        const double curve = rank_sum_greater(values, others);
        CHECK(curve == doctest::Approx(counted).epsilon(0.25));
    }
    const std::vector<double> equal(200, 1.0);
    CHECK(rank_sum_greater(equal, equal) == 1);
}

TEST_CASE("the unpaired interval is fixed, contains the ratio and needs two values") {
    std::mt19937_64 random(7);
    const Pairs samples{sample(random, 10, Noise::log_normal, 1),
                        sample(random, 7, Noise::log_normal, 0.8)};
    const Interval a = unpaired_ratio_interval(samples), b = unpaired_ratio_interval(samples);
    CHECK(a.low == b.low);
    CHECK(a.high == b.high);
    const double ratio = median(samples.candidate) / median(samples.baseline);
    CHECK(a.low <= ratio);
    CHECK(ratio <= a.high);
    CHECK_THROWS_AS((void)unpaired_ratio_interval({{1}, {1, 2}}), Error);
    CHECK_THROWS_WITH_AS((void)unpaired_ratio_interval({{1, 2}, {1, 0}}),
                         doctest::Contains("value 1 of the candidate"), Error);
    CHECK_THROWS_AS((void)unpaired_ratio_interval(samples, quick(10)), Error);
}

TEST_CASE("unpaired runs: verdicts never exclude drift, and few runs have none") {
    const std::vector<double> slow{1.0, 1.01, 1.02, 1.03, 1.04}, fast{0.5, 0.51, 0.52, 0.53};
    const Unpaired found = compare_unpaired({slow, fast}, Better::smaller);
    CHECK(found.verdict == Verdict::faster_or_drift);
    CHECK(found.p_faster == doctest::Approx(1.0 / 126));
    CHECK(found.median_ratio == doctest::Approx(0.515 / 1.02));
    CHECK(compare_unpaired({slow, fast}, Better::larger).verdict == Verdict::slower_or_drift);
    CHECK(compare_unpaired({fast, slow}, Better::smaller).verdict == Verdict::slower_or_drift);

    const Unpaired few = compare_unpaired({{1, 1.1, 1.2}, {0.5, 0.51, 0.52}}, Better::smaller);
    CHECK(few.verdict == Verdict::no_verdict);
    CHECK(few.reason.find("too few repetitions for a verdict: 3 and 3") == 0);
    CHECK(few.has_interval);
    const Unpaired one = compare_unpaired({{1}, {0.5}}, Better::smaller);
    CHECK(!one.has_interval);
    CHECK(one.median_ratio == 0.5);

    const std::vector<double> near{0.98, 0.981, 0.982, 0.983, 0.984};
    const Unpaired small = compare_unpaired({{1, 1.0001, 1.0002, 1.0003}, near}, Better::smaller);
    CHECK(small.p_faster <= small.p_needed);
    CHECK(small.verdict == Verdict::no_difference_beyond_noise);
    CHECK(small.reason.find("less than 3 %") != std::string::npos);
    CHECK_THROWS_AS((void)compare_unpaired({{}, {1}}, Better::smaller), Error);
    CHECK(name(Verdict::faster_or_drift) == "faster_or_drift");
    CHECK(name(Verdict::slower_or_drift) == "slower_or_drift");
}

TEST_CASE("noise without drift: a false difference in at most 5 % of all cases") {
    std::mt19937_64 random(31);
    const int trials = 2000;
    for (Noise noise : {Noise::normal, Noise::log_normal, Noise::heavy})
        for (const auto& [one, other] : {std::pair{6UL, 6UL}, {10UL, 10UL}, {5UL, 16UL}}) {
            int called = 0;
            for (int trial = 0; trial < trials; ++trial) {
                const Pairs samples{sample(random, one, noise, 1), sample(random, other, noise, 1)};
                const Verdict verdict =
                    compare_unpaired(samples, Better::smaller, {}, quick(100)).verdict;
                if (verdict != Verdict::no_difference_beyond_noise) ++called;
            }
            CAPTURE(static_cast<int>(noise));
            MESSAGE("noise " << static_cast<int>(noise) << ", " << one << " and " << other
                             << " runs: " << called << " false differences of " << trials);
            CHECK(called <= bound(0.05, trials) * trials);
            CHECK(called > 0);
        }
}

TEST_CASE("unpaired intervals cover the truth about as often as they say") {
    std::mt19937_64 random(37);
    const int trials = 800;
    for (Noise noise : {Noise::normal, Noise::log_normal, Noise::heavy})
        for (const auto& [count, least] : {std::pair{6UL, 0.90}, {10UL, 0.92}, {16UL, 0.92}}) {
            int covered = 0;
            for (int trial = 0; trial < trials; ++trial) {
                const Pairs samples{sample(random, count, noise, 1),
                                    sample(random, count, noise, 0.9)};
                const Interval found = unpaired_ratio_interval(samples, quick(499));
                if (found.low <= 0.9 && 0.9 <= found.high) ++covered;
            }
            const double share = static_cast<double>(covered) / trials;
            CAPTURE(static_cast<int>(noise));
            CAPTURE(count);
            MESSAGE("coverage, noise " << static_cast<int>(noise) << ", " << count
                                       << " runs a side: " << share);
            CHECK(share >= least);
            CHECK(share <= 0.995);
        }
}

TEST_CASE("a machine that drifts deceives unpaired runs, and pairs not") {
    std::mt19937_64 random(41);
    const int trials = 600;
    int deceived = 0, false_pairs = 0, covered = 0;
    for (int trial = 0; trial < trials; ++trial) {
        // 1 % slower with each of 32 runs; unpaired: all of A, then all of B.
        const auto at = [&](std::size_t run) {
            return std::pow(1.01, static_cast<double>(run)) * noisy(random, Noise::heavy);
        };
        Pairs blocks, pairs;
        for (std::size_t run = 0; run < 16; ++run) {
            blocks.baseline.push_back(at(run));
            blocks.candidate.push_back(at(16 + run));
            const bool swapped = random() % 2;
            double first = at(2 * run), second = at(2 * run + 1);
            pairs.baseline.push_back(swapped ? second : first);
            pairs.candidate.push_back(swapped ? first : second);
        }
        const Verdict of_blocks = compare_unpaired(blocks, Better::smaller, {}, quick(100)).verdict;
        if (of_blocks == Verdict::slower_or_drift) ++deceived;
        const Comparison of_pairs = compare(pairs, Better::smaller, {}, quick(499));
        if (of_pairs.verdict == Verdict::slower || of_pairs.verdict == Verdict::faster)
            ++false_pairs;
        const Interval interval = median_ratio_interval(pairs, quick(499));
        if (interval.low <= 1 && 1 <= interval.high) ++covered;
    }
    MESSAGE("drift: " << deceived << " unpaired and " << false_pairs << " paired differences of "
                      << trials << "; paired coverage " << static_cast<double>(covered) / trials);
    CHECK(deceived > trials / 2);
    CHECK(false_pairs <= bound(0.10, trials) * trials);  // both directions
    CHECK(covered >= 0.90 * trials);
}

TEST_CASE("pairs with heavy tails: coverage and false verdicts") {
    std::mt19937_64 random(43);
    const int trials = 1000;
    int covered = 0, called = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Pairs pairs{sample(random, 16, Noise::heavy, 1), sample(random, 16, Noise::heavy, 1)};
        const Interval found = median_ratio_interval(pairs, quick(499));
        if (found.low <= 1 && 1 <= found.high) ++covered;
        const Verdict verdict = compare(pairs, Better::smaller, {}, quick(100)).verdict;
        if (verdict == Verdict::faster || verdict == Verdict::slower) ++called;
    }
    MESSAGE("heavy tails, 16 pairs: coverage " << static_cast<double>(covered) / trials << ", "
                                               << called << " false verdicts of " << trials);
    CHECK(covered >= 0.90 * trials);
    CHECK(called <= bound(0.10, trials) * trials);
}
