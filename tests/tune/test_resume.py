# SPDX-License-Identifier: Apache-2.0
"""Going on with a tune: only with the same one, and always to an end."""

from __future__ import annotations

import os
import signal
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from tailrace_cli import called, tailrace

from tailrace import interrupts
from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import proof
from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import Survey, survey
from tailrace.tune import session
from tailrace.tune.loop import Found, Tune
from tailrace.tune.request import Asked, Verdict
from tailrace.whole_files import lost

pytestmark = pytest.mark.usefixtures("at_home")
Patch = pytest.MonkeyPatch


def asked_of(home: Path, **more: Any) -> Asked:
    output = home / "tailrace-tune"
    return Asked(["true"], home, output, **{"scratch": output / "scratch", **more})


def begun(asked: Asked) -> Ledger:
    """What is known of a tune that was killed."""
    asked.state.mkdir(parents=True)
    ledger = Ledger(asked.state)
    ledger.note("asked", asked.as_fact())
    ledger.note("seed", "7")
    ledger.note("survey", asdict(survey(asked.home, {asked.output, asked.scratch})))
    return ledger


def ground_of(asked: Asked, ledger: Ledger) -> InPlace:
    found = Survey.of(ledger.known("survey"))
    made = InPlace(asked.home, asked.scratch, found, {asked.output, asked.scratch})
    made.fill()
    return made


def refused(asked: Asked, said: list[str] | None = None) -> TailraceError:
    heard: list[str] = [] if said is None else said
    with pytest.raises(TailraceError) as error:
        session.tune(asked, resume=True, say=heard.append)
    assert error.value.code == ExitCode.USAGE
    return error.value


def test_another_scratch_folder_is_refused(home: Path) -> None:
    asked = asked_of(home)
    begun(asked)
    other = replace(asked, scratch=home.parent / "other")
    assert refused(other).what.endswith("it has other scratch")
    assert not other.scratch.exists()


def test_in_place_files_are_put_back_also_where_the_tune_is_another_one(home: Path) -> None:
    asked = asked_of(home, in_place=True)
    ground_of(asked, begun(asked)).begin()
    (home / "mine.txt").write_bytes(b"half")
    said: list[str] = []
    error = refused(replace(asked, scratch=home.parent / "other"), said)
    assert "another -o" in error.hint
    assert (home / "mine.txt").read_bytes() == b"mine"
    assert (asked.scratch / "put_aside/mine.txt").read_bytes() == b"half"
    assert f"your files in {home} are as they were" in said
    assert asked.state.is_dir()


def test_another_version_of_tailrace_is_refused(home: Path) -> None:
    asked = asked_of(home, version="1.0")
    begun(asked)
    error = refused(replace(asked, version="1.1"))
    assert error.what.endswith("it has other version")
    assert "the tailrace that began it (1.0)" in error.hint


@pytest.mark.parametrize("option", ["rules", "declared", "stdin"])
def test_a_file_that_was_given_and_edited_since_is_refused(home: Path, option: str) -> None:
    file = home.parent / "given.json"
    file.write_text("{}")
    asked = asked_of(home, **{option: file if option == "stdin" else (file,)})
    begun(asked)
    file.write_text("{ }")
    assert refused(asked).what.endswith(f"it has other files ({file})")


@pytest.mark.parametrize("by", ["edited", "removed"])
def test_a_program_that_is_another_one_is_refused(home: Path, by: str) -> None:
    program = home.parent / "program"
    program.write_text("#!/bin/sh\n")
    asked = replace(asked_of(home), command=[str(program)])
    ledger = begun(asked)
    ledger.note("named files", proof.files_of(asked.command))
    ledger.note("default-2", {"elapsed_s": 1.0})
    if by == "edited":
        program.write_text("#!/bin/sh\nexit 0\n")
    else:
        program.unlink()
    assert refused(asked).what == f"{program} changed since this tune began"
    assert ledger.is_there


def test_in_place_a_given_file_is_compared_when_it_is_put_back(home: Path) -> None:
    asked = asked_of(home, in_place=True, stdin=home / "mine.txt")
    ground_of(asked, begun(asked)).begin()
    (home / "mine.txt").write_bytes(b"half")
    heard: list[str] = []
    found = session.tune(asked, resume=True, say=heard.append)
    assert found["verdict"] == "nothing_to_gain"
    assert (home / "mine.txt").read_bytes() == b"mine"


RESULTS = ["profile.json", "report.html", "result.json"]


def ended_by_resume(home: Path, *words: str) -> None:
    """With nothing more to be run, and nothing left behind."""
    ran = tailrace("tune", "--resume", *words, cwd=home).expect(0)
    assert "recording a run" not in ran.err
    assert sorted(path.name for path in (home / "tailrace-tune").iterdir()) == RESULTS


@pytest.mark.parametrize("name", RESULTS)
def test_a_tune_whose_result_could_not_be_written_can_be_ended(
    home: Path, monkeypatch: Patch, name: str
) -> None:
    write = session.write_text

    def full(path: Path, text: str) -> None:
        if path == home / "tailrace-tune" / name:
            raise lost(path, OSError(28, "No space left on device"))
        write(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(session, "write_text", full)
        ran = called("tune", "--", "true").expect(1)
    assert "--resume continues" in ran.err
    ended_by_resume(home, "--", "true")


@pytest.mark.parametrize(("ground", "words"), [(Scratch, []), (InPlace, ["--in-place"])])
def test_a_tune_that_could_not_put_everything_away_can_be_ended(
    home: Path, monkeypatch: Patch, ground: type, words: list[str]
) -> None:
    def fails(_ground: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(ground, "close", fails)
        ran = called("tune", *words, "--", "true").expect(1)
    assert "--resume continues" in ran.err
    ended_by_resume(home, *words, "--", "true")


@pytest.mark.parametrize("words", [[], ["--in-place"]])
def test_what_a_budget_has_ended_goes_on_with_more(
    home: Path, monkeypatch: Patch, words: list[str]
) -> None:
    command = ["tune", "--json", *words]
    true = ["--", "true"]

    def ended(tune: Tune) -> Found:
        tune._ledger.note("default-2", {"elapsed_s": 1.0})
        tune._record(found := Found(Verdict("", "")))
        return tune._out_of_time(found, "before a verdict")

    with monkeypatch.context() as patch:
        patch.setattr(Tune, "_run", ended)
        ran = called(*command, *true).expect(0)
        assert "--resume --budget TIME" in ran.json["reason"]
        assert "--resume continues" in ran.err
        assert (home / "tailrace-tune/state").is_dir()
        again = called(*command, *true).expect(0)
    assert "recording a run" in again.err, "without --resume it begins anew"
    ended_by_resume(home, *words, "--budget", "3m", *true)


def test_an_interruption_while_it_is_put_away_leaves_nothing_to_go_on_with(
    home: Path, monkeypatch: Patch
) -> None:
    close = Scratch.close

    def interrupted(ground: Scratch) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        close(ground)

    monkeypatch.setattr(Scratch, "close", interrupted)
    old = {number: signal.getsignal(number) for number in interrupts.signals}
    try:
        interrupts.install()
        called("tune", "--", "true").expect(130)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        interrupts.forget()
    assert sorted(path.name for path in (home / "tailrace-tune").iterdir()) == RESULTS
