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
