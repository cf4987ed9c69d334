# SPDX-License-Identifier: Apache-2.0
"""Every combination of a plan's rules and numbers: all are there, each once, none that is wrong."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path += [str(SOURCE / "bench" / "tune"), str(SOURCE / "tests" / "tune")]

import pytest  # noqa: E402
from plans import plan, setting  # noqa: E402
from tune_suite.exhaustive import Sweep, against, of_the_same, swept, swept_before  # noqa: E402
from tune_suite.grid import combinations  # noqa: E402
from tune_suite.tuned import Failed  # noqa: E402

SIEVE = setting("11", "sieve_buffer_bytes", value=64 << 10)
PLAN = plan(
    ("/d/a.h5", "/x", [setting("17", "chunk", "layout", [8, 100])]),
    ("/d/a.h5", "/y", [setting("17", "chunk", "layout", [8, 100])]),
    ("/d/b.h5", "", [SIEVE]),
)


def values(of: dict[str, Any]) -> list[Any]:
    return [one["value"] for entry in of["entries"] for one in entry["settings"]]


def test_rules_and_numbers_are_combined() -> None:
    found = combinations(PLAN, [0.5, 1, 2])
    # none; rule 11 with 3 sizes; rule 17 with 3 x 3 chunks; both
    assert len(found) == 1 + 3 + 9 + 27
    assert next(iter(found)) == "rules none" and values(found["rules none"]) == []
    assert sorted(map(str, (values(one) for one in found.values()))) == sorted(
        {str(values(one)) for one in found.values()}
    )
    name = "rules 17, 11; rule 17, chunk: 16x50; rule 11, sieve_buffer_bytes: 32768"
    assert values(found[name]) == [[16, 50], [16, 50], 32 << 10]


def test_numbers_that_come_to_the_same_are_there_once() -> None:
    one = plan(("/d/a.h5", "/x", [setting("17", "chunk", "layout", [1, 4])]))
    assert [values(found) for found in combinations(one, [0.25, 0.5, 1]).values()] == [
        [], [[1, 1]], [[1, 2]], [[1, 4]],
    ]  # fmt: skip


def test_what_a_plan_may_not_say_is_left_out() -> None:
    smallest = plan(("/d/a.h5", "", [setting("11", "sieve_buffer_bytes", value=4 << 10)]))
    assert [values(one) for one in combinations(smallest, [0.5, 1]).values()] == [[], [4 << 10]]


def test_the_best_of_all_meets_the_plan_of_tune(tmp_path: Path) -> None:
    """A program that takes longer where the plan says so, and fails with one of them."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, time\n"
        "name = os.environ.get('TAILRACE_PLAN')\n"
        "plan = open(name, 'rb').read() if name else b''\n"
        "sizes = [n for n in (17500, 35000, 70000) if n.to_bytes(8, 'little') in plan]\n"
        "assert sizes != [17500]\n"
        "time.sleep(0.01 if sizes == [70000] else 0.5)\n"
    )
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir()
    sieve = setting("11", "sieve_buffer_bytes", value=70000)
    plans = combinations(plan(("/d/b.h5", "", [sieve])), [0.25, 0.5, 1, 2])
    assert len(plans) == 5
    said: list[str] = []
    sweep = Sweep([sys.executable, "-S", str(program)], home, root)
    found = swept(plans, sweep, 2, said.append)
    assert (found["combinations"], found["failed"]) == (5, 1)
    assert found["best"] == "rules 11"
    assert found["sweep_runs"] == 1 + 2 * 4
    assert len([text for text in said if text.startswith("left out: rules 11; ")]) == 1
    met = against(plans["rules none"], plans[found["best"]], sweep, 3)
    assert met["ratio"] > 1.5 and len(met["tuned_s"]) == len(met["best_s"]) == 3

    assert swept_before({**found, **met}, plans) == found
    with pytest.raises(Failed, match="a sweep of 5 other plans than these 3"):
        swept_before(found, combinations(plan(("/d/b.h5", "", [sieve])), [1, 2]))


def test_a_sweep_of_before_is_of_what_is_asked(tmp_path: Path) -> None:
    line = {"program": "one", "scale": 0.25, "levels": "1,2", "repeat": 2}
    file = tmp_path / "result.jsonl"
    file.write_text(f"{{}}\n{json.dumps(line)}\n")
    assert of_the_same(file, {"program": "one", "scale": 0.25, "levels": "1,2"}) == line
    with pytest.raises(
        Failed, match=r"result.jsonl: its scale is 0.25, not 0.5: give --scale 0.25"
    ):
        of_the_same(file, {"program": "one", "scale": 0.5, "levels": "1,2"})
