# SPDX-License-Identifier: Apache-2.0
"""The other MPI-IO of Open MPI with a real program: proposed for what goes through OMPIO, in force
where it is tried, and nothing where ROMIO writes or the command line chooses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mpi_programs import BUILD, MPIEXEC, ROMIO, need_both_mpi_io
from own_namespace import not_run
from tailrace_cli import tailrace

from tailrace.intent import advice
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import content, recording
from tailrace.tune.measurement import Runner, Setting
from tailrace.whole_files import write_text

Document = dict[str, Any]
WEATHER = [str(BUILD / "bench/tune/weather"), "--output", "out.nc", "--scale", "0.2"]
BLOCKS = [str(BUILD / "bench/tune/large_blocks"), "--output", "out.nc", "--scale", "0.2"]
pytestmark = pytest.mark.usefixtures("both")


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody chooses one of them beforehand."""
    need_both_mpi_io()
    if not Path(WEATHER[0]).is_file():
        not_run("needs PnetCDF")
    monkeypatch.delenv("OMPI_MCA_io", raising=False)


def setting_of(
    folder: Path, *options: str, program: Sequence[str] = WEATHER
) -> tuple[Setting, Scratch]:
    home, root = folder / "home", folder / "scratch"
    home.mkdir()
    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    return Setting([*MPIEXEC, *options, "-n", "2", *program], home, root), ground


def planned(folder: Path, profile: Document) -> Document:
    write_text(folder / "profile.json", json.dumps(profile))
    plan, _, _ = advice.advise([folder / "profile.json"], [], ["collective"])
    return plan


def opened_by(profile: Document) -> str:
    (file,) = [one for one in profile["files"] if one["path"].endswith("out.nc")]
    return str(file["mpiio"]["implementation"])


def test_the_other_one_is_in_force_and_equal_in_content(tmp_path: Path) -> None:
    setting, ground = setting_of(tmp_path)
    profile = recording.record_run(setting, ground, 60).profile
    assert opened_by(profile) == "OMPIO"
    plan = planned(tmp_path, profile)
    (chosen,) = [one for one in plan["environment"] if one["name"] == "OMPI_MCA_io"]
    assert (chosen["class"], chosen["because"]["rule"]) == ("collective", "77")
    assert "of 2 ranks wrote all" in chosen["because"]["text"]
    runner = Runner(setting, ground)
    default, again = (
        runner.run(f"default-{number}", None, 60, keep=True).result for number in (1, 2)
    )
    tuned = runner.run("tuned", plan, 60, keep=True)
    assert default is not None and again is not None and tuned.result is not None
    report = content.against_default(default, tuned.result, content.by_itself(default, again))
    assert report.equal, report.differences
    assert [line.became for line in tuned.lines if line.rule == "77"] == ["applied"]


def test_what_each_rank_writes_as_it_was_asked_is_left_alone(tmp_path: Path) -> None:
    """Large blocks are one system call each; of the model's rows OMPIO makes one of each."""
    asked = []
    for name, program in (("blocks", BLOCKS), ("weather", WEATHER)):
        (tmp_path / name).mkdir()
        setting, ground = setting_of(tmp_path / name, program=program)
        profile = recording.record_run(setting, ground, 60).profile
        assert opened_by(profile) == "OMPIO"
        (file,) = [one for one in profile["files"] if one["path"].endswith("out.nc")]
        variables = planned(tmp_path / name, profile).get("environment", [])
        asked.append((file["writers"], file.get("written_as_asked", False), len(variables)))
    assert asked == [(2, True, 0), (2, False, 1)]


def test_the_variable_chooses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the plan has it: by the name that this Open MPI has for it."""
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")
    setting, ground = setting_of(tmp_path)
    profile = recording.record_run(setting, ground, 60).profile
    assert opened_by(profile) == "ROMIO"
    rules = {one["because"]["rule"] for one in planned(tmp_path, profile).get("environment", [])}
    assert "77" not in rules


@pytest.mark.parametrize(("component", "why"), [("ompio", "--mca io"), (ROMIO, "")])
def test_the_command_line_goes_first(component: str, why: str, tmp_path: Path) -> None:
    setting, ground = setting_of(tmp_path, "--mca", "io", component)
    plan = planned(tmp_path, recording.record_run(setting, ground, 60).profile)
    assert "environment" not in plan
    held = [
        one["because"]["text"]
        for one in plan.get("held_back", [])
        if one["because"]["rule"] == "77"
    ]
    assert [why in text for text in held] == ([True] if why else [])


def test_apply_takes_it_with_a_proof_only(tmp_path: Path) -> None:
    setting, ground = setting_of(tmp_path)
    plan = planned(tmp_path, recording.record_run(setting, ground, 60).profile)
    only = {**plan, "entries": []}
    only.pop("hash", None)
    file = tmp_path / "plan.json"
    write_text(file, json.dumps(only))
    found = tailrace("apply", "--json", str(file), "--", *setting.command, cwd=setting.home)
    (line,) = found.expect(0).json["lines"]
    assert (line["setting"], line["became"]) == ("OMPI_MCA_io", "held")
    shown = tailrace("env", str(file), cwd=setting.home).expect(0)
    assert "OMPI_MCA_io" not in shown.out
