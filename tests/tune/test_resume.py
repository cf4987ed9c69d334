# SPDX-License-Identifier: Apache-2.0
"""Going on with a tune: only with the same one, and always to an end."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tailrace.errors import ExitCode, TailraceError
from tailrace.tune import session
from tailrace.tune.asked import Asked
from tailrace.tune.in_place import InPlace
from tailrace.tune.ledger import Ledger
from tailrace.tune.survey import Survey, survey

Patch = pytest.MonkeyPatch


@pytest.fixture
def home(tmp_path: Path, monkeypatch: Patch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "one").write_bytes(b"one")
    monkeypatch.chdir(folder)
    return folder


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
    (home / "one").write_bytes(b"half")
    said: list[str] = []
    error = refused(replace(asked, scratch=home.parent / "other"), said)
    assert "another -o" in error.hint
    assert (home / "one").read_bytes() == b"one"
    assert (asked.scratch / "put_aside/one").read_bytes() == b"half"
    assert f"your files in {home} are as they were" in said
    assert asked.state.is_dir()
