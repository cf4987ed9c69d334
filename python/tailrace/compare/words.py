# SPDX-License-Identifier: Apache-2.0
"""Verdicts in words."""

from __future__ import annotations

from tailrace import statistics
from tailrace.statistics import Comparison


def effect_text(ratio: float) -> str:
    """`+12.0 %` for 1.12."""
    return f"{(ratio - 1) * 100:+.1f} %"


def verdict_words(found: Comparison, metric: str) -> list[str]:
    """The verdict on B's rate against A's, then what has to be said with it."""
    by = f"{metric} rate {effect_text(found.ratio)} ({_runs(found)})"
    looks = ", ".join(map(str, statistics.looks))
    sentences = {
        "faster": f"B is faster: {by}",
        "slower": f"B is slower: {by}",
        "faster_or_drift": f"B was faster, or the machine drifted: {by}",
        "slower_or_drift": f"B was slower, or the machine drifted: {by}",
        "no_difference_beyond_noise": f"no difference beyond noise ({found.reason})",
        "more_pairs_needed": f"no verdict yet: {found.reason}; it falls at {looks} pairs",
        "no_verdict": f"no verdict: {found.reason}",
    }
    words = [sentences[found.verdict]]
    if not found.interleaved:
        words.append(
            "not interleaved: machine drift is not excluded (`tailrace compare --run` runs A and B "
            "in turns)"
        )
    return words


def _runs(found: Comparison) -> str:
    if found.interleaved:
        return f"{found.pairs} pairs"
    return f"{found.baseline_count} and {found.candidate_count} repetitions"
