// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "modules.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace::python {

namespace {

using Values = std::vector<double>;

core::Better better_of(std::string_view text) {
    if (text == "smaller") return core::Better::smaller;
    if (text == "larger") return core::Better::larger;
    throw core::Error(core::Code::bad_input, "\"" + std::string(text) + "\" is not a direction",
                      "better", "one of smaller (times), larger (rates)");
}

nb::dict to_dict(const core::Summary& summary) {
    nb::dict dict;
    dict["count"] = summary.count;
    dict["min"] = summary.min;
    dict["p25"] = summary.p25;
    dict["median"] = summary.median;
    dict["mean"] = summary.mean;
    dict["p75"] = summary.p75;
    dict["max"] = summary.max;
    return dict;
}

nb::dict to_dict(const core::Comparison& comparison) {
    nb::dict dict;
    dict["pairs"] = comparison.pairs;
    dict["median_ratio"] = comparison.median_ratio;
    dict["interval"] = nb::make_tuple(comparison.interval.low, comparison.interval.high);
    dict["p_faster"] = comparison.p_faster;
    dict["p_slower"] = comparison.p_slower;
    dict["p_needed"] = comparison.p_needed;
    dict["verdict"] = std::string(core::name(comparison.verdict));
    dict["reason"] = comparison.reason;
    return dict;
}

nb::dict to_dict(const core::Unpaired& found) {
    nb::dict dict;
    dict["baseline_count"] = found.baseline_count;
    dict["candidate_count"] = found.candidate_count;
    dict["median_ratio"] = found.median_ratio;
    if (found.has_interval)
        dict["interval"] = nb::make_tuple(found.interval.low, found.interval.high);
    else
        dict["interval"] = nb::none();
    dict["p_faster"] = found.p_faster;
    dict["p_slower"] = found.p_slower;
    dict["p_needed"] = found.p_needed;
    dict["verdict"] = std::string(core::name(found.verdict));
    dict["reason"] = found.reason;
    return dict;
}

nb::tuple interval(const Values& baseline, const Values& candidate, double level,
                   std::size_t resamples, std::uint64_t seed) {
    const core::Interval found =
        core::median_ratio_interval({baseline, candidate}, {level, resamples, seed});
    return nb::make_tuple(found.low, found.high);
}

nb::tuple unpaired_interval(const Values& baseline, const Values& candidate, double level,
                            std::size_t resamples, std::uint64_t seed) {
    const core::Interval found =
        core::unpaired_ratio_interval({baseline, candidate}, {level, resamples, seed});
    return nb::make_tuple(found.low, found.high);
}

nb::dict compare_unpaired(const Values& baseline, const Values& candidate, std::string_view better,
                          double error_rate, double effect) {
    return to_dict(
        core::compare_unpaired({baseline, candidate}, better_of(better), {error_rate, effect}));
}

nb::dict compare(const Values& baseline, const Values& candidate, std::string_view better,
                 const std::vector<std::size_t>& looks, double error_rate, double effect) {
    return to_dict(
        core::compare({baseline, candidate}, better_of(better), {looks, error_rate, effect}));
}

nb::dict compare_checked(const Values& same_first, const Values& same_second,
                         const Values& baseline, const Values& candidate, std::string_view better,
                         const std::vector<std::size_t>& looks, double error_rate, double effect) {
    return to_dict(core::compare_checked({same_first, same_second}, {baseline, candidate},
                                         better_of(better), {looks, error_rate, effect}));
}

}  // namespace

void add_statistics(nb::module_& module) {
    const core::Bootstrap how;
    const core::Rule rule;
    module.def(
        "summarize", [](const Values& values) { return to_dict(core::summarize(values)); },
        "values"_a, "Count, min, p25, median, mean, p75 and max of finite values.");
    module.def(
        "percentile",
        [](const Values& values, double percent) { return core::percentile(values, percent); },
        "values"_a, "percent"_a, "Percentile with linear interpolation.");
    module.def(
        "wilcoxon_greater",
        [](const Values& differences) { return core::wilcoxon_greater(differences); },
        "differences"_a, "p of the exact one-sided signed-rank test for positive differences.");
    module.def("median_ratio_interval", &interval, "baseline"_a, "candidate"_a,
               "level"_a = how.level, "resamples"_a = how.resamples, "seed"_a = how.seed,
               "Percentile bootstrap interval of the median of candidate / baseline, by pairs.");
    module.def(
        "rank_sum_greater",
        [](const Values& values, const Values& others) {
            return core::rank_sum_greater(values, others);
        },
        "values"_a, "others"_a, "p of the one-sided rank-sum test for values above the others.");
    module.def("unpaired_ratio_interval", &unpaired_interval, "baseline"_a, "candidate"_a,
               "level"_a = how.level, "resamples"_a = how.resamples, "seed"_a = how.seed,
               "Percentile bootstrap interval of the ratio of medians, either side by itself.");
    module.def("compare_unpaired", &compare_unpaired, "baseline"_a, "candidate"_a, "better"_a,
               "error_rate"_a = core::UnpairedRule{}.error_rate,
               "effect"_a = core::UnpairedRule{}.effect,
               "Compares runs that were not made in pairs; drift is never excluded.");
    module.def("compare", &compare, "baseline"_a, "candidate"_a, "better"_a, "looks"_a = rule.looks,
               "error_rate"_a = rule.error_rate, "effect"_a = rule.effect,
               "Decides on pairs at fixed looks; better is \"smaller\" (times) or \"larger\".");
    module.def("compare_checked", &compare_checked, "same_first"_a, "same_second"_a, "baseline"_a,
               "candidate"_a, "better"_a, "looks"_a = rule.looks, "error_rate"_a = rule.error_rate,
               "effect"_a = rule.effect,
               "compare() with an A/A comparison before it: no verdict where A differs from A.");
}

}  // namespace tailrace::python
