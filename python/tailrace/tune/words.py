# SPDX-License-Identifier: Apache-2.0
"""What a tune has come to, in words: for the terminal and for the page."""

from __future__ import annotations

from typing import Any

from tailrace.units import plural

Document = dict[str, Any]

titles = {
    "kept": "Faster, and proven",
    "nothing_to_gain": "Nothing to gain here",
    "no_verdict": "No verdict",
    "not_proven": "Not proven",
}


def speed_text(result: Document) -> str:
    """'2.10 s by default, 0.10 s tuned: 21 times as fast (20.1 to 21.9, 6 pairs)'; "": not
    measured."""
    times, speed = result["times"], result["speedup"]
    if speed is None or times["default_s"] is None:
        return ""
    words = f"{times['default_s']:.3g} s by default, {times['tuned_s']:.3g} s tuned: "
    words += f"{speed['median']:.3g} times as fast"
    interval = speed["ci95"]
    if interval is None:
        return words
    pairs = plural(speed["pairs"], "pair")
    return f"{words} ({interval[0]:.3g} to {interval[1]:.3g}, {pairs})"


def content_text(result: Document) -> str:
    """What was compared, and what was left out."""
    content = result["content"]
    words = "nothing was compared"
    if result["equal_content"] is not None:
        equal = "equal" if result["equal_content"] else "NOT proven equal"
        words = f"{equal} in {content['compared']}"
    left = content["left_out"]
    return f"{words}; differs by itself and was left out: {', '.join(left)}" if left else words


def rule_text(rule: Document) -> str:
    """'rule 13, chunk_cache_bytes: kept; without it a run takes 12.5 times as long'."""
    words = f"rule {rule['rule']}, {', '.join(rule['settings'])}: "
    words += "kept" if rule["kept"] else f"left out: {rule['reason']}"
    if rule["kept"] and rule["without_it"]:
        words += f"; without it a run takes {rule['without_it']:.3g} times as long"
    return words
