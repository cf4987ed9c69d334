# SPDX-License-Identifier: Apache-2.0
"""What a tune has come to, in words: for the terminal and for the page."""

from __future__ import annotations

import shlex
from typing import Any

from tailrace.intent.apply import options_for
from tailrace.units import plural

Document = dict[str, Any]

titles = {
    "kept": "Faster, and proven",
    "nothing_to_gain": "Nothing to gain here",
    "no_verdict": "No verdict",
    "not_proven": "Not proven",
}


def title_of(result: Document) -> str:
    """In a few words; where another layout of the inputs brings something, settings do not."""
    arm = result["repack"]
    if result["verdict"] == "nothing_to_gain" and arm and arm["became"] == "faster":
        return "Nothing to gain by settings, but by repacking the files that it reads"
    return titles[result["verdict"]]


def verdict_text(result: Document) -> str:
    """In one sentence: what was slow, what to do, and what to expect; else why there is nothing."""
    title, speed, arm = title_of(result), result["speedup"], result["repack"]
    if result["kept"] and speed:
        kept = [rule for rule in result["rules"] if rule["kept"]]
        slow = max(kept, key=lambda rule: rule["without_it"] or 0)["why"] + "; " if kept else ""
        return f"{title}: {slow}the plan below makes it {_times(speed)} times as fast"
    if arm and arm["became"] == "faster":
        file = arm["files"][0]
        slow = f"{file['path']}:{chunk_text(file['datasets'][0])}"
        return f"{title}: {slow}; the repacked file makes it {_times(arm['speedup'])} times as fast"
    if not (advice := result["advice"]):
        return f"{title}: {result['reason']}"
    yours = plural(len(advice), "change")
    profile = shlex.quote(result["profile"])
    return (
        f"{title}: {result['reason']}; `tailrace advise {profile}` names {yours} to make yourself"
    )


def _times(speed: Document) -> str:
    return f"{speed['median']:.3g}"


def speed_text(result: Document) -> str:
    """'2.10 s by default, 0.10 s tuned: 21 times as fast (20.1 to 21.9, 6 pairs)'; "": not
    measured."""
    times, speed = result["times"], result["speedup"]
    if speed is None or times["default_s"] is None:
        return ""
    words = f"{times['default_s']:.3g} s by default, {times['tuned_s']:.3g} s tuned: "
    low, high = _spread(speed)
    pairs = plural(speed["pairs"], "pair")
    if low < 1 < high:  # medians of times and of ratios may disagree
        return f"{words}{low:.3g} to {high:.3g} times as fast ({pairs})"
    return f"{words}{speed['median']:.3g} times as fast ({low:.3g} to {high:.3g}, {pairs})"


def _spread(speed: Document) -> tuple[float, float]:
    """What stands in brackets behind a median: its interval, or the range of a few pairs."""
    low, high = speed["ci95"] or speed["range"]
    return low, high


def itself_text(result: Document) -> str:
    """'the second run of a pair took 1.02 times as long as the first (0.97 to 1.05, 6 pairs)';
    "": not measured."""
    same = result["a_against_a"]
    if same is None:
        return ""
    words = f"the second run of a pair took {same['ratio']:.3g} times as long as the first"
    if same["interval"] is None:
        return words
    low, high = same["interval"]
    p = min(same["p_faster"], same["p_slower"])
    pairs = plural(same["pairs"] or same["baseline_count"], "pair")
    return f"{words} ({low:.3g} to {high:.3g}, {pairs}, p = {p:.2g})"


def content_text(result: Document) -> str:
    """What was compared, and what was left out."""
    content = result["content"]
    words = "nothing was compared"
    if result["repack"] and result["repack"]["content"]:
        words = "no run with other settings was compared, only runs on repacked files"
    if result["equal_content"] is not None:
        equal = "equal" if result["equal_content"] else "NOT proven equal"
        words = f"{equal} in {content['compared']}"
    left = content["left_out"]
    return (
        f"{words}; left out, since default runs differ there: {', '.join(left)}" if left else words
    )


def rule_text(rule: Document) -> str:
    """'rule 13, chunk_cache_bytes: kept; without it a run takes 12.5 times as long'."""
    words = f"rule {rule['rule']}, {', '.join(rule['settings'])}: "
    words += "kept" if rule["kept"] else f"left out: {rule['reason']}"
    if rule["kept"] and rule["without_it"]:
        words += f"; without it a run takes {rule['without_it']:.3g} times as long"
    return words


def repack_text(arm: Document) -> str:
    """'/d/in.h5: faster: 2.1 times as fast (1.9 to 2.3, 6 pairs); repacking takes 1.2 s ...'"""
    names = ", ".join(file["path"] for file in arm["files"])
    text = f"{names}: " if names else ""
    text += arm["became"].replace("_", " ")
    speed = arm["speedup"]
    if speed is not None:
        low, high = _spread(speed)
        text += f": {speed['median']:.3g} times as fast ({low:.3g} to {high:.3g}, "
        text += f"{plural(speed['pairs'], 'pair')}); repacking takes {arm['repack_s']:.3g} s"
    if arm["pays_after_runs"] is not None:
        per_read = arm["saved_s_per_read"]
        reads = f" ({1000 * per_read:.3g} ms of each read)" if per_read else ""
        text += f" and saves {arm['saved_s']:.3g} s of each run{reads}: it pays after "
        text += plural(arm["pays_after_runs"], "run")
    return f"{text}: {arm['reason']}" if arm["reason"] else text


def chunk_text(dataset: Document) -> str:
    """'/x: 1 x 1000 -> 2000 x 16, for 40 reads of 2000 x 1'"""
    old, new = (" x ".join(map(str, dataset[key])) for key in ("from", "to"))
    return f"{dataset['path']}: {old or 'no chunks'} -> {new}, for {dataset['why']}"


def apply_command(result: Document) -> str:
    """What runs the program with what was kept: collective settings want to be allowed."""
    options = options_for({rule["class"] for rule in result["rules"] if rule["kept"]})
    words = ["tailrace", "apply", *options, result["plan"] or "", "--", *result["argv"]]
    return shlex.join(words)
