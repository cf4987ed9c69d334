# SPDX-License-Identifier: Apache-2.0
"""Several ranks: a run is recorded, run with its plan in another folder, and held side by side; a
collective rule under which they wait for each other for ever."""

from __future__ import annotations

import json
from pathlib import Path

from mpi_programs import BUILD, MPIEXEC
from tailrace_cli import tailrace

from tailrace.intent import advice
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import content, recording
from tailrace.tune.measurement import Runner, Setting
from tailrace.tune.rules_of_plan import not_in_force, rules_of
from tailrace.whole_files import write_text

PROGRAM = BUILD / "tests/bin/tune_program"
ATTEMPTS = 3  # a machine that is at work may differ from itself, which is a proper answer


def test_a_plan_for_two_ranks_is_in_force_and_equal_in_content(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    setting = Setting([*MPIEXEC, "-n", "2", str(PROGRAM), "out.h5", "ranks"], home, root)
    recorded = recording.record_run(setting, ground, 60)
    assert recorded.profile["run"]["ranks"] == 2
    assert recorded.written == ["out.h5"]
    assert f"{home}/out.h5" in [file["path"] for file in recorded.profile["files"]]
    write_text(tmp_path / "profile.json", json.dumps(recorded.profile))
    plan, _, _ = advice.advise([tmp_path / "profile.json"], [], ["collective"])
    kinds = {kind for rule in rules_of(plan) for kind in rule.kinds}
    assert "collective" in kinds, rules_of(plan)
    runner = Runner(setting, ground)
    default = runner.run("default-1", None, 60, keep=True).result
    again = runner.run("default-2", None, 60, keep=True).result
    tuned = runner.run("tuned", plan, 60, keep=True)
    assert default is not None
    assert again is not None
    assert tuned.result is not None
    idle = not_in_force(plan, tuned.lines)
    applied = [rule for rule in rules_of(plan) if rule.id not in idle]
    assert any(rule.kind == "collective" for rule in applied), tuned.lines
    report = content.against_default(default, tuned.result, content.by_itself(default, again))
    assert report.equal, report.differences
    assert report.files_compared == 1
    assert not report.notes, "the hook was there, and copied nothing that is not the last file"


def test_a_collective_rule_that_hangs_is_blamed_and_the_loop_goes_on(home: Path) -> None:
    words = [*MPIEXEC, "-n", "2", str(PROGRAM), "out.h5", "waits"]
    for _ in range(ATTEMPTS):
        found = tailrace(
            "tune", "--json", "--timeout", "6s", "--", *words, cwd=home, timeout=240
        ).expect(0).json  # fmt: skip
        if "not steady enough" not in found["reason"]:
            break
    (blamed,) = [rule for rule in found["rules"] if rule["rule"] == "25"]
    assert not blamed["kept"]
    assert "time limit" in blamed["reason"], blamed
    assert any(run["stopped"] == "limit" for run in found["runs"])
    assert found["verdict"] in {"kept", "nothing_to_gain", "no_verdict"}, found["reason"]
    assert len([run for run in found["runs"] if not run["stopped"]]) >= 3, "it went on"
