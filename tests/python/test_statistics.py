# SPDX-License-Identifier: Apache-2.0
"""The door to the statistics; they themselves are tested in tests/unit/core."""

from __future__ import annotations

import pytest

from tailrace import statistics
from tailrace.errors import ExitCode, TailraceError

SLOW = [1.0 + 0.01 * k for k in range(6)]
FAST = [value / 2 for value in SLOW]


def test_pairs_and_samples() -> None:
    pairs = statistics.compare(SLOW, FAST, "smaller")
    assert (pairs.verdict, pairs.ratio, pairs.pairs, pairs.interleaved) == ("faster", 0.5, 6, True)
    samples = statistics.compare_unpaired(SLOW, FAST[:4], "larger")
    assert samples.verdict == "slower_or_drift" and not samples.interleaved
    assert (samples.baseline_count, samples.candidate_count, samples.pairs) == (6, 4, None)
    assert samples.interval is not None and samples.interval[0] < samples.ratio
    assert statistics.summarize(SLOW).median == statistics.median(SLOW)
    assert statistics.wilcoxon_greater(SLOW) == 1 / 64
    assert statistics.rank_sum_greater(SLOW, FAST) == pytest.approx(1 / 924)
    checked = statistics.compare_checked(SLOW, FAST, SLOW, FAST, "smaller")
    assert checked.verdict == "no_verdict"


def test_before_the_first_look_there_is_a_ratio_and_no_verdict() -> None:
    two = statistics.compare(SLOW[:2], FAST[:2], "smaller")
    assert (two.verdict, two.pairs, two.ratio) == ("more_pairs_needed", 0, 0.5)
    assert two.interval == pytest.approx((0.5, 0.5))
    assert statistics.compare(SLOW[:1], FAST[:1], "smaller").interval is None


def test_the_rule_is_that_of_the_core() -> None:
    core = statistics._core()
    assert statistics.compare(SLOW, FAST, "smaller").p_needed == 0.05 / 3
    assert core.compare(SLOW, FAST, "smaller")["p_needed"] == 0.05 / 3
    small = [value * 0.975 for value in SLOW * 3][:16]
    assert core.compare((SLOW * 3)[:16], small, "smaller")["reason"].endswith("less than 3 %")


def test_without_the_compiled_helper_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "core", lambda: None)
    with pytest.raises(TailraceError, match="compiled helper _core") as caught:
        statistics.median([1.0])
    assert caught.value.code == ExitCode.CAPABILITY_MISSING and "make build" in caught.value.hint
