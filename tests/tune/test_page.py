# SPDX-License-Identifier: Apache-2.0
"""The page and the words of a tune, from a result that is made up."""

from __future__ import annotations

import copy
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from plans import plan, setting

from tailrace.cli.output import printable
from tailrace.readable import readable
from tailrace.tune import apply_start, page, words
from tailrace.whole_files import write_text

Document = dict[str, Any]

RULE = {
    "rule": "13", "class": "safe", "settings": ["chunk_cache_bytes"], "places": ["/d/a.h5:/x"],
    "kept": True, "reason": "", "without_it": 12.5, "why": "20 calls <touch> 1 chunk",
    "effect": "read once",
}  # fmt: skip
RESULT: Document = {
    "argv": ["python", "my script.py"], "folder": "/d", "verdict": "kept",
    "reason": "faster beyond noise, and equal in content", "kept": True, "equal_content": True,
    "speedup": {"median": 4.0, "ci95": [3.5, 4.5], "range": [3.2, 5.0], "pairs": 2,
                "confirmed": True},
    "a_against_a": {"ratio": 1.02, "interval": [0.97, 1.05], "pairs": 6, "baseline_count": 6,
                    "p_faster": 0.8, "p_slower": 0.125},
    "times": {"default_s": 2.0, "tuned_s": 0.5, "cache": "warm",
              "pairs_s": [[2.0, 0.5], [1.0, 0.25]]},
    "content": {"compared": "1 file", "left_out": ["a.h5: /@date"], "report": None},
    "rules": [RULE, {**RULE, "rule": "17", "kept": False, "reason": "does not pay"}],
    "changes": ["twice the cache"],
    "in_force": [{"rule": "13", "setting": "chunk_cache_bytes", "became": "applied", "reason": "",
                  "value": "12582912", "places": ["/d/a.h5:/x"]}],
    "held_back": [{"rule": "21", "guard": "parallel", "reason": "one rank"}],
    "advice": ["another format"], "repack": None,
    "plan": "/d/tailrace-tune/plan.json", "notes": ["a note"],
    "runs": [{"name": "default-1", "elapsed_s": 2.0, "run_s": 1.9, "sync_s": 0.1, "code": 0,
              "stopped": ""}],
    "confined": True,
}  # fmt: skip
PLAN = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes", value=12582912)]))


class Reader(HTMLParser):
    """Every element is closed by its own end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(re.sub(r"<(line|circle)([^>]*)/>", r"<\1\2></\1>", html))
    assert reader.open == []
    return reader


def test_the_page_of_a_plan_that_is_kept() -> None:
    html = page.render(RESULT, PLAN)
    assert read(html).ids == [
        "times",
        "itself",
        "rules",
        "changes",
        "force",
        "content",
        "held",
        "advice",
        "use",
        "runs",
    ]
    for words_of in ("4 times as fast (3.5 to 4.5, 2 pairs)", "12.5 times as long", "12582912",
                     "left out: does not pay", "a.h5: /@date", "another format", "a note",
                     "h5py"):  # fmt: skip
        assert words_of in html, words_of
    assert "<touch>" not in html
    assert "tailrace apply /d/tailrace-tune/plan.json -- python &#39;my script.py&#39;" in html
    assert html.count("<circle") == 4


def test_the_command_for_a_plan_with_collective_rules_allows_them() -> None:
    """Without it `tailrace apply` leaves them out, and the program is no faster than before."""
    together = {**RULE, "rule": "59", "class": "collective"}
    command = "tailrace apply --allow collective /d/tailrace-tune/plan.json -- "
    assert command in page.render({**RESULT, "rules": [RULE, together]}, PLAN)
    left_out = {**RESULT, "rules": [RULE, {**together, "kept": False}]}
    assert words.apply_command(left_out) == words.apply_command(RESULT)


def test_the_page_of_one_that_is_not() -> None:
    result = copy.deepcopy(RESULT)
    result |= {"verdict": "nothing_to_gain", "kept": False, "plan": None, "speedup": None,
               "rules": [], "changes": [], "in_force": [], "held_back": [], "advice": [],
               "equal_content": None}  # fmt: skip
    result["times"] |= {"default_s": None, "tuned_s": None, "pairs_s": []}
    html = page.render(result, None)
    assert read(html).ids == ["itself", "rules", "content", "runs"]
    assert "could not be told" not in html
    same = "1.02 times as long as the first (0.97 to 1.05, 6 pairs, p = 0.12)"
    unsteady = page.render({**result, "verdict": "no_verdict"}, None)
    assert same in unsteady and "the gain of a plan could not be told from noise" in unsteady
    assert read(page.render({**result, "a_against_a": None}, None)).ids[0] == "rules"
    assert "Nothing to gain here" in html
    assert "The system kept all runs" in html
    assert "not completely, from" in page.render({**result, "confined": False}, None)
    assert "nothing was compared" in html


def test_names_that_are_not_utf_8_do_not_cost_the_page(tmp_path: Path) -> None:
    """Python keeps such bytes as surrogates."""
    bad = os.fsdecode(b"log-\xff\xe9 \xc3\xa4.txt")
    result = copy.deepcopy(RESULT) | {"argv": ["cat", bad], "notes": [bad]}
    result["content"]["left_out"] = [bad]
    write_text(tmp_path / "report.html", page.render(result, PLAN))
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.count("log-\\xff\\xe9 ä.txt") >= 4
    assert printable(words.content_text(result)).endswith("log-\\xff\\xe9 ä.txt")
    assert readable("\ud800 \udc7f") == "\\ud800 \\udc7f", "which stand for no byte"


def test_the_picture_goes_from_zero_to_the_longest_run() -> None:
    places = [float(x) for x in re.findall(r'cx="([0-9.]+)"', page.picture([[2.0, 0.5]]))]
    assert places == [470.0, 125.0]


def test_words_where_only_repacked_copies_were_compared() -> None:
    result = {**RESULT, "equal_content": None, "repack": {"content": {"what": "512 reads"}}}
    assert words.content_text(result).startswith(
        "no run with other settings was compared, only runs on repacked files"
    )
    assert words.content_text({**RESULT, "equal_content": None}).startswith("nothing was compared")


def test_what_apply_takes_to_start_is_said_where_it_matters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apply_start, "_start_s", lambda _plan: 0.25)
    place = Path("/d/my plans/plan.json")

    def said(saved_s: float, *, is_collective: bool = False) -> str:
        return apply_start.start_note(place, saved_s, is_collective=is_collective)

    assert said(20) == said(3) == ""
    assert "0.25 s to start" in said(1)
    assert "0.75 s of the 1 s that the plan saves are left" in said(1)
    assert "tailrace env '/d/my plans/plan.json'" in said(1)
    assert "tailrace env" not in said(1, is_collective=True)
    assert "more than the 0.2 s that the plan saves" in said(0.2)


def test_words_for_the_terminal() -> None:
    assert words.speed_text(RESULT) == (
        "2 s by default, 0.5 s tuned: 4 times as fast (3.5 to 4.5, 2 pairs)"
    )
    few = {**RESULT, "speedup": {**RESULT["speedup"], "ci95": None}}
    assert words.speed_text(few).endswith("4 times as fast (3.2 to 5, 2 pairs)")
    unlike = {**RESULT, "speedup": {**RESULT["speedup"], "median": 0.962, "ci95": [0.9, 1.1]}}
    assert words.speed_text(unlike) == (
        "2 s by default, 0.5 s tuned: 0.9 to 1.1 times as fast (2 pairs)"
    )
    assert words.content_text(RESULT) == (
        "equal in 1 file; left out, since default runs differ there: a.h5: /@date"
    )
    assert (
        words.rule_text(RESULT["rules"][1]) == "rule 17, chunk_cache_bytes: left out: does not pay"
    )
    assert words.rule_text(RULE).endswith("kept; without it a run takes 12.5 times as long")


def test_the_verdict_says_what_is_slow_what_to_do_and_what_to_expect() -> None:
    less = {**RULE, "rule": "14", "without_it": 1.2, "why": "another"}
    assert words.verdict_text({**RESULT, "rules": [less, *RESULT["rules"]]}) == (
        "Faster, and proven: 20 calls <touch> 1 chunk; the plan below makes it 4 times as fast"
    )
    nothing = {**RESULT, "verdict": "nothing_to_gain", "kept": False, "reason": "no rule fits"}
    nothing["profile"] = "/d/tailrace-tune/profile.json"
    assert words.verdict_text(nothing) == (
        "Nothing to gain here: no rule fits; `tailrace advise /d/tailrace-tune/profile.json` names "
        "1 change to make yourself"
    )
    assert words.verdict_text({**nothing, "advice": []}) == "Nothing to gain here: no rule fits"
    chunks = {"path": "/x", "from": [1, 1000], "to": [2000, 16], "why": "40 reads of 2000 x 1"}
    arm = {"became": "faster", "files": [{"path": "/d/in.h5", "datasets": [chunks]}],
           "speedup": {"median": 2.1}}  # fmt: skip
    assert words.verdict_text({**nothing, "repack": arm}) == (
        "Nothing to gain by settings, but by repacking the files that it reads: /d/in.h5:/x: "
        "1 x 1000 -> 2000 x 16, for 40 reads of 2000 x 1; the repacked file makes it 2.1 times "
        "as fast"
    )
