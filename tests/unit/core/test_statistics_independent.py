# SPDX-License-Identifier: Apache-2.0
"""Our statistics against scipy's and numpy's."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from scipy import stats


def test_signed_rank_test_without_ties(core: ModuleType) -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 5, 6, 10, 16, 25, 50):
        for shift in (-0.5, 0.0, 0.5):
            values = random.normal(shift, 1, count)
            expected = stats.wilcoxon(values, alternative="greater", method="exact").pvalue
            assert core.wilcoxon_greater(list(values)) == pytest.approx(expected, rel=1e-12)


def test_signed_rank_test_with_ties_and_zeros(core: ModuleType) -> None:
    random = np.random.default_rng(2)
    permutations = stats.PermutationMethod(n_resamples=np.inf)
    for _ in range(20):
        values = random.integers(-3, 4, 9).astype(float)
        values = values[values != 0]  # scipy enumerates the signs of zeros too
        with_zeros = np.concatenate([values, [0.0, 0.0]])
        expected = stats.wilcoxon(values, alternative="greater", method=permutations).pvalue
        assert core.wilcoxon_greater(list(with_zeros)) == pytest.approx(expected, rel=1e-9)


def test_summary_and_percentiles(core: ModuleType) -> None:
    values = np.random.default_rng(3).lognormal(size=37)
    summary = core.summarize(list(values))
    assert summary["count"] == 37
    assert summary["mean"] == pytest.approx(values.mean(), rel=1e-14)
    for percent, key in ((25, "p25"), (50, "median"), (75, "p75")):
        assert summary[key] == pytest.approx(np.percentile(values, percent), rel=1e-14)
    for percent in (0, 2.5, 33.3, 97.5, 100):
        expected = np.percentile(values, percent)
        assert core.percentile(list(values), percent) == pytest.approx(expected, rel=1e-14)


def test_bootstrap_interval(core: ModuleType) -> None:
    random = np.random.default_rng(4)
    baseline = random.lognormal(0, 0.2, 16)
    candidate = baseline * random.lognormal(-0.1, 0.05, 16)
    expected = stats.bootstrap(
        (np.log(candidate / baseline),),
        np.median,
        method="percentile",
        n_resamples=20000,
        rng=5,
    ).confidence_interval
    low, high = core.median_ratio_interval(list(baseline), list(candidate))
    assert np.log(low) == pytest.approx(expected.low, abs=0.003)
    assert np.log(high) == pytest.approx(expected.high, abs=0.003)


def test_decisions(core: ModuleType) -> None:
    baseline = [1.0 + 0.01 * k for k in range(6)]
    faster = core.compare(baseline, [0.5 * value for value in baseline], "smaller")
    assert faster["verdict"] == "faster"
    assert faster["p_faster"] == 1 / 64
    assert core.compare(baseline, baseline, "larger")["verdict"] == "more_pairs_needed"
    drifting = core.compare_checked(
        baseline,
        [2 * value for value in baseline],
        baseline,
        [0.5 * v for v in baseline],
        "smaller",
    )
    assert drifting["verdict"] == "no_verdict"


def test_bad_arguments_are_value_errors(core: ModuleType) -> None:
    with pytest.raises(ValueError, match="lacks its partner"):
        core.compare([1.0, 2.0], [1.0], "smaller")
    with pytest.raises(ValueError, match="not a direction"):
        core.compare([1.0], [1.0], "faster")
    with pytest.raises(ValueError, match="not finite"):
        core.summarize([float("nan")])


def test_rank_sum_test_without_ties(core: ModuleType) -> None:
    random = np.random.default_rng(6)
    for one, other in ((1, 4), (4, 4), (6, 10), (16, 16), (40, 50)):
        for shift in (-0.5, 0.0, 0.5):
            values, others = random.normal(shift, 1, one), random.normal(0, 1, other)
            expected = stats.mannwhitneyu(values, others, alternative="greater", method="exact")
            found = core.rank_sum_greater(list(values), list(others))
            assert found == pytest.approx(expected.pvalue, rel=1e-9)


def test_rank_sum_test_with_ties(core: ModuleType) -> None:
    random = np.random.default_rng(7)
    permutations = stats.PermutationMethod(n_resamples=np.inf)
    for _ in range(10):
        values, others = random.integers(0, 4, 5), random.integers(0, 4, 6)
        expected = stats.mannwhitneyu(
            values, others, alternative="greater", method=permutations
        ).pvalue
        found = core.rank_sum_greater(list(values), list(others))
        assert found == pytest.approx(expected, rel=1e-9)


def test_rank_sum_test_of_many(core: ModuleType) -> None:
    random = np.random.default_rng(8)
    for decimals in (1, 12):  # with ties, and without
        values = np.round(random.normal(0.1, 1, 300), decimals)
        others = np.round(random.normal(0.0, 1, 200), decimals)
        expected = stats.mannwhitneyu(
            values, others, alternative="greater", method="asymptotic", use_continuity=True
        ).pvalue
        found = core.rank_sum_greater(list(values), list(others))
        assert found == pytest.approx(expected, rel=1e-9)


def test_unpaired_interval(core: ModuleType) -> None:
    random = np.random.default_rng(9)
    one, other = random.lognormal(0, 0.2, 16), random.lognormal(-0.1, 0.2, 12)
    expected = stats.bootstrap(
        (one, other),
        lambda a, b, axis: np.log(np.median(b, axis=axis) / np.median(a, axis=axis)),
        method="percentile",
        n_resamples=20000,
        rng=5,
    ).confidence_interval
    low, high = core.unpaired_ratio_interval(list(one), list(other))
    assert np.log(low) == pytest.approx(expected.low, abs=0.01)
    assert np.log(high) == pytest.approx(expected.high, abs=0.01)
    found = core.compare_unpaired(list(one), list(other), "smaller")
    assert found["interval"] == (low, high) and found["baseline_count"] == 16
