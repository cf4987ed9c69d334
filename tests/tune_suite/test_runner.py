# SPDX-License-Identifier: Apache-2.0
"""The suite's runner with a `tailrace` that is made here: what it keeps of `tune`, and the check of
a kept plan at twice the size."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
RUNS = [{"name": "default-1", "elapsed_s": 1, "code": 0}]
sys.path.insert(0, str(SOURCE / "bench" / "tune"))

from tune_suite.programs import Places, Program  # noqa: E402

from tune_suite import tuned  # noqa: E402

# Writes its size, and what it was given to read, into a file.
WRITER = """
import sys
from pathlib import Path
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if "--make-input" in sys.argv:
    Path(given["--input"]).write_text("read " + given["--scale"])
else:
    Path(given["--output"]).write_text(given["--scale"] + Path(given["--input"]).read_text())
"""
# `tune` keeps a plan or not; `apply` runs the command, and may change what it wrote.
TAILRACE = """#!{python}
import json, subprocess, sys
from pathlib import Path
how = "{how}"
if sys.argv[1] == "tune":
    assert sys.argv[2:4] == ["--json", "--"] and Path("in_001").read_text() == "read 1.0"
    if how == "broken":
        sys.exit("it broke")
    Path("tailrace-tune").mkdir()
    plan = Path("tailrace-tune/plan.json").absolute()
    together = [{{"settings": [{{"class": "collective"}}]}}]
    plan.write_text(json.dumps(
        {{"of": str(plan), "entries": together, "proof": {{"argv": sys.argv}}}}))
    kept = how != "left"
    print(json.dumps({{
        "speedup": {{"median": 3, "ci95": [2, 4]}} if kept else None, "kept": kept,
        "equal_content": True if kept else None, "rules": [],
        "runs": [{{"name": "default-1", "elapsed_s": 1, "code": 0}}], "reason": "why",
        "plan": str(plan) if kept else None, "more": 1}}))
else:
    assert sys.argv[1:5] == ["apply", "--json", "--allow", "collective"] and sys.argv[6] == "--"
    assert set(json.loads(Path(sys.argv[5]).read_text())) == {{"of", "entries", "proof"}}
    if how == "fails":
        sys.exit(3)
    subprocess.run(sys.argv[7:], check=True)
    if how == "changes":
        Path("out_002").write_text("something else")
"""


def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> dict[str, Any]:
    monkeypatch.setattr(tuned, "settle", lambda: True)
    writer, tailrace = tmp_path / "writer.py", tmp_path / "tailrace"
    writer.write_text(WRITER)
    tailrace.write_text(TAILRACE.format(python=sys.executable, how=how))
    tailrace.chmod(tailrace.stat().st_mode | stat.S_IXUSR)
    program = Program(
        "x", "", ("{python}", str(writer)), "", "", (), 2, "--output out_{run}", "--input in_{run}"
    )
    places = Places(tmp_path)
    (tmp_path / "runs").mkdir()
    try:
        return tuned.measured(program, places, [str(tailrace)], tmp_path / "runs", 3)
    finally:
        assert list((tmp_path / "runs").iterdir()) == []


def test_a_kept_plan_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = measured(tmp_path, monkeypatch, "keeps")
    together = [{"settings": [{"class": "collective"}]}]
    plan = {"of": "{folder}/tailrace-tune/plan.json", "entries": together}  # not of this machine
    assert (line["kept"], line["plan"], line["runs"]) == (True, plan, RUNS)
    assert str(tmp_path) not in json.dumps(line)
    assert (line["reason"], line["exit_code"]) == ("why", 0)
    again = line["again"]
    assert (again["scale"], again["run"], again["ranks"], again["pairs"]) == (2.0, 2, 1, 3)
    assert again["equal_content"] is True and again["differences"] == []
    assert len(again["default_s"]) == len(again["applied_s"]) == 3
    low, high = again["speedup"]["ci95"]
    assert low <= again["speedup"]["median"] <= high
    assert min(again["default_s"]) > 0
    applied = line["applied"]
    assert (applied["scale"], applied["run"], applied["ranks"], applied["pairs"]) == (1.0, 1, 1, 3)
    assert applied["equal_content"] is True
    assert len(applied["default_s"]) == len(applied["applied_s"]) == 3


def test_other_content_at_twice_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = measured(tmp_path, monkeypatch, "changes")
    again = line["again"]
    assert (again["equal_content"], again["differences"]) == (False, ["out_002: other bytes"])
    assert line["applied"]["differences"] == ["out_002: only in kept_applied"]


def test_what_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = measured(tmp_path, monkeypatch, "left")
    assert (line["kept"], line["plan"], line["speedup"]) == (False, None, None)
    assert not {"applied", "again"} & set(line)


@pytest.mark.parametrize(("how", "said"), [("broken", "it broke"), ("fails", "exit code 3")])
def test_a_run_that_fails_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, said: str
) -> None:
    with pytest.raises(tuned.Failed, match=said):
        measured(tmp_path, monkeypatch, how)
