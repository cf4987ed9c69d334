// SPDX-License-Identifier: Apache-2.0
// Figures that can be trusted: summaries, intervals, and decisions on pairs of runs. The rules are
// explained in docs/decisions/0003-timing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::core {

struct Summary {
    std::size_t count = 0;
    double min = 0, p25 = 0, median = 0, mean = 0, p75 = 0, max = 0;
};

/// Summary of finite values; zeros for none.  [local]
/// @throws Error{Code::bad_input} where a value is not finite
[[nodiscard]] Summary summarize(std::span<const double> values);

/// The `percent` percentile (0..100), with linear interpolation between order statistics.  [local]
/// @throws Error{Code::bad_input} for no values, values that are not finite or a percent outside
[[nodiscard]] double percentile(std::span<const double> values, double percent);
/// percentile(values, 50).  [local]
[[nodiscard]] double median(std::span<const double> values);

struct Interval {
    double low = 0, high = 0;
};

struct Bootstrap {
    double level = 0.95;
    std::size_t resamples = 9999;
    std::uint64_t seed = 20210419;
};

/// What is compared: in pair i the baseline and the candidate ran next to each other. Values are
/// times (smaller is better) or rates (larger is better), all > 0.
struct Pairs {
    std::vector<double> baseline;
    std::vector<double> candidate;
};

/// candidate / baseline per pair.  [local]
/// @throws Error{Code::bad_input} where the lengths differ or a value is not finite and > 0
[[nodiscard]] std::vector<double> ratios(const Pairs& pairs);

/// Percentile bootstrap interval of the median of candidate / baseline: pairs are drawn with
/// replacement, the generator is fixed, so the same input gives the same interval.  [local]
/// @throws Error{Code::bad_input} for fewer than 2 pairs or bad values
[[nodiscard]] Interval median_ratio_interval(const Pairs& pairs, const Bootstrap& how = {});

/// Exact one-sided Wilcoxon signed-rank test: the probability, where the differences are
/// symmetric about 0, of a sum of positive ranks at least as large as the one seen. Zeros are left
/// out, equal sizes get the mean of their ranks, and the distribution is counted for those very
/// ranks.  [local]
/// @returns 1 where no difference is left
/// @throws Error{Code::bad_input} where a value is not finite or there are more than 2000
[[nodiscard]] double wilcoxon_greater(std::span<const double> differences);

enum class Better { smaller, larger };

enum class Verdict {
    faster,
    slower,
    no_difference_beyond_noise,
    no_verdict,
    more_pairs_needed,
    faster_or_drift,  ///< unpaired runs differ: by what was changed, or because the machine drifted
    slower_or_drift,
};
/// "faster" and so on.  [local]
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

/// The rule of decision. Each direction is wrong in at most `error_rate` of all cases without a
/// difference, all looks together (Bonferroni).
struct Rule {
    std::vector<std::size_t> looks{6, 10, 16};
    double error_rate = 0.05;
    double effect = 0.03;  ///< a median difference below this is never called one
};

struct Comparison {
    std::size_t pairs = 0;    ///< that were looked at: the last look reached
    double median_ratio = 1;  ///< candidate / baseline over those pairs
    Interval interval{};      ///< of the median ratio
    double p_faster = 1, p_slower = 1;
    double p_needed = 0;  ///< a verdict wants a p of at most this
    Verdict verdict = Verdict::more_pairs_needed;
    std::string reason;  ///< one sentence
};

/// Decides on the pairs so far. Only the pairs up to the last look reached count; between looks
/// and before the first the answer is more_pairs_needed. A verdict of an earlier look stands.
/// [local]
[[nodiscard]] Comparison compare(const Pairs& pairs, Better better, const Rule& rule = {},
                                 const Bootstrap& how = {});

/// The same after an A/A comparison: where A differs from A, or A/A has not reached the first
/// look, the verdict is no_verdict.  [local]
[[nodiscard]] Comparison compare_checked(const Pairs& same, const Pairs& pairs, Better better,
                                         const Rule& rule = {}, const Bootstrap& how = {});

/// Percentile bootstrap interval of median(candidate) / median(baseline) of runs that were not made
/// in pairs: either side is drawn with replacement by itself.  [local]
/// @throws Error{Code::bad_input} for fewer than 2 values on a side or values not above 0
[[nodiscard]] Interval unpaired_ratio_interval(const Pairs& samples, const Bootstrap& how = {});

/// One-sided rank-sum test (Mann-Whitney): the probability, where both come from one
/// distribution, that `values` have at least the rank sum seen. Up to 100 values together it is
/// counted over all choices of these very ranks (ties share the mean), beyond by the normal curve.
/// [local]
/// @returns 1 where a side is empty
/// @throws Error{Code::bad_input} where a value is not finite
[[nodiscard]] double rank_sum_greater(std::span<const double> values,
                                      std::span<const double> others);

struct UnpairedRule {
    double error_rate = 0.05;  ///< of both directions together
    double effect = 0.03;      ///< medians nearer than that are never called different
};

struct Unpaired {
    std::size_t baseline_count = 0, candidate_count = 0;
    double median_ratio = 1;    ///< median(candidate) / median(baseline)
    bool has_interval = false;  ///< at least 2 values on either side
    Interval interval{};
    double p_faster = 1, p_slower = 1;
    double p_needed = 0;
    Verdict verdict = Verdict::no_verdict;  ///< never faster or slower: drift is not excluded
    std::string reason;                     ///< one sentence
};

/// Compares runs that were not made in pairs (`samples` may differ in length): all values at once,
/// no looks. no_verdict where so few values cannot reach the p that is needed.  [local]
/// @throws Error{Code::bad_input} where a side is empty or a value is not finite and > 0
[[nodiscard]] Unpaired compare_unpaired(const Pairs& samples, Better better,
                                        const UnpairedRule& rule = {}, const Bootstrap& how = {});

}  // namespace tailrace::core
