# SPDX-License-Identifier: Apache-2.0
"""What `tailrace sweep --output` recommends was read back first; what is wrong is not ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stage import Stage, a_stage
from tailrace_cli import Ran, called

from tailrace.run import fresh


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return a_stage(tmp_path, monkeypatch)


def sweep(stage: Stage, *words: str) -> Ran:
    return called(
        "sweep", "seism", "processor=1x1x1", "--launcher", stage.launcher, "--vary",
        "cb_nodes=1,2,4", "--seed", "1", "--repeat", "2", "--json", *words,
    )  # fmt: skip


FASTER_WITH_MORE = """
def seconds(settings, environment, number):
    wrong = {wrong}
    if settings.get("verify") == "1" and wrong(settings, number):
        return "{code}"
    return 0.4 / int(settings["cb_nodes"])
"""


def truth(wrong: str, code: str = "verification") -> str:
    return FASTER_WITH_MORE.format(wrong=f"lambda settings, number: {wrong}", code=code)


def test_the_best_is_read_back_three_times(stage: Stage) -> None:
    stage.truth(truth("False"))
    ran = sweep(stage, "--output", "best").expect(0)
    assert ran.json["verification"] == {"runs": 3, "why_not": ""}
    assert [c["cb_nodes"] for c in stage.calls() if "verify" in c] == ["4", "4", "4"]
    assert "data was verified in 3 further runs" in Path("best/README.md").read_text()
    assert "verify=1" not in Path("best/seism.in").read_text()
    assert ran.json["ranking"][0]["repetitions"] == 2, "they count for no time"
    assert all(one["warm_up"] for one in stage.records()[-3:])


def test_without_output_nothing_is_read_back(stage: Stage) -> None:
    stage.truth(truth("True"))
    assert sweep(stage).expect(0).json["verification"] is None
    assert not any("verify" in one for one in stage.calls())


def test_fast_and_wrong_is_not_recommended(stage: Stage) -> None:
    """It is wrong in the last of the three runs only."""
    stage.truth(truth('settings["cb_nodes"] == "4" and number == 11'))
    ran = sweep(stage, "--output", "best").expect(0)
    assert [one["name"] for one in ran.json["ranking"]] == ["cb_nodes=2", "cb_nodes=1"]
    (left_out,) = ran.json["left_out"]
    assert left_out["name"] == "cb_nodes=4"
    assert "it wrote wrong data in run 3 of 3 whose file was read back" in left_out["why"]
    assert "cb_nodes=4 is not recommended: it wrote wrong data" in ran.err
    assert "`cb_nodes=2`" in Path("best/README.md").read_text()
    # The Records say so too: to a later report, and to a sweep that is gone on with.
    again = sweep(stage, "--resume").expect(0)
    assert [one["name"] for one in again.json["ranking"]] == ["cb_nodes=2", "cb_nodes=1"]
    called("report", "results.jsonl", "-o", "page.html").expect(0)
    assert "Not ranked, since it wrote wrong data in a run" in Path("page.html").read_text()


def test_what_fails_when_it_is_read_back_is_not_recommended(stage: Stage) -> None:
    stage.truth(truth('settings["cb_nodes"] == "4"', "hdf5_failed"))
    ran = sweep(stage, "--output", "best").expect(0)
    assert "it failed in run 1 of 3 whose file was read back" in ran.json["left_out"][0]["why"]
    assert ran.json["ranking"][0]["name"] == "cb_nodes=2"


def test_where_everything_is_wrong_nothing_is_written(stage: Stage) -> None:
    stage.truth(truth("True"))
    ran = sweep(stage, "--output", "best").expect(3)
    assert "no combination wrote right data" in ran.err and not Path("best").exists()


def test_what_cannot_be_read_back_is_said_to_be_unverified(stage: Stage) -> None:
    stage.truth(
        truth("True")
        + """
def dry_run(settings, hints):
    return "quantize changes them" if settings.get("verify") else ""
"""
    )
    ran = sweep(stage, "--output", "best").expect(0)
    assert ran.json["verification"] == {"runs": 0, "why_not": "quantize changes them"}
    assert "not verified: quantize changes them" in Path("best/README.md").read_text()


def test_a_disk_that_is_full_by_then_ends_it(stage: Stage) -> None:
    stage.truth(truth("True", "no_space"))
    ran = sweep(stage, "--output", "best").expect(1)
    assert "make room" in ran.err and len(ran.json["ranking"]) == 3
    assert ran.json["verification"]["runs"] == 0
    assert "not verified" in Path("best/README.md").read_text()


def test_an_interrupt_meanwhile(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.truth(truth("False"))
    real = fresh.execute

    def interrupted(command: list[str], **more: Any) -> Any:
        if "verify=1" in command:
            raise KeyboardInterrupt
        return real(command, **more)

    monkeypatch.setattr(fresh, "execute", interrupted)
    ran = sweep(stage, "--output", "best").expect(130)
    assert ran.json["interrupted"] and ran.json["verification"]["runs"] == 0
    assert "not verified: that ended early" in Path("best/README.md").read_text()
