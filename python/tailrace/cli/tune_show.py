# SPDX-License-Identifier: Apache-2.0
"""What a tune has come to, for a person."""

from __future__ import annotations

import shlex
from typing import Any

from tailrace.cli.output import Output

Document = dict[str, Any]
_titles = {
    "kept": "faster, and proven",
    "nothing_to_gain": "nothing to gain here",
    "no_verdict": "no verdict",
    "not_proven": "not proven",
}


def show(output: Output, result: Document) -> None:
    """The verdict, the times, the rules, and what to do with it."""
    kept = result["kept"]
    output.line(
        f"{_titles[result['verdict']]}: {result['reason']}", "bold green" if kept else "bold"
    )
    if result["speedup"] is not None and result["times"]["default_s"] is not None:
        output.line(f"  {speed_text(result)}")
    output.line(f"  content: {content_text(result)}")
    for rule in result["rules"]:
        output.line(f"  {rule_text(rule)}")
    if kept:
        output.line(f"plan: {result['plan']}")
        command = shlex.join(result["argv"])
        output.line(f"  tailrace apply {shlex.quote(result['plan'])} -- {command}")
    for note in result["notes"]:
        output.line(f"note: {note}")


def speed_text(result: Document) -> str:
    """'2.10 s by default, 0.10 s tuned: 21 times as fast (20.1 to 21.9, 6 pairs)'."""
    times, speed = result["times"], result["speedup"]
    words = f"{times['default_s']:.3g} s by default, {times['tuned_s']:.3g} s tuned: "
    words += f"{speed['median']:.3g} times as fast"
    interval = speed["ci95"]
    pairs = f"{speed['pairs']} pairs"
    return f"{words} ({interval[0]:.3g} to {interval[1]:.3g}, {pairs})" if interval else words


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
    """'rule 13, chunk_cache_bytes: kept; without it the run takes 12.5 times as long'."""
    words = f"rule {rule['rule']}, {', '.join(rule['settings'])}: "
    words += "kept" if rule["kept"] else f"left out: {rule['reason']}"
    if rule["kept"] and rule["without_it"]:
        words += f"; without it a run takes {rule['without_it']:.3g} times as long"
    return words
