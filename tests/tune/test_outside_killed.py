# SPDX-License-Identifier: Apache-2.0
"""Files beyond the working folder after a tune was killed or interrupted: they are the user's,
whatever becomes of the tune."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tailrace.errors import TailraceError
from tailrace.intent import proof
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.outside_files import outside_of
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import session
from tailrace.tune.loop import Found, Tune
from tailrace.tune.request import Asked, Verdict

Patch = pytest.MonkeyPatch
WAS, HALF = b"as the recording run left it", b"half"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "far" / "archive.h5"
    file.parent.mkdir()
    file.write_bytes(WAS)
    return file


@pytest.fixture
def asked(home: Path, archive: Path) -> Asked:
    output = home / "tailrace-tune"
    return Asked(["true"], home, output, output / "scratch", allow_outside=(archive.parent,))


def recorded(ledger: Ledger, asked: Asked, archive: Path) -> None:
    """What is known and kept after the recording run, which has written there."""
    ledger.note("recorded", {"outside": [str(archive)]})
    outside_of(ledger.known("recorded"), asked.scratch).save()


def begun(asked: Asked, archive: Path) -> Ledger:
    """What is known of a tune that was killed in a run that was writing there."""
    for folder in (asked.state, asked.scratch):
        folder.mkdir(parents=True)
    ledger = Ledger(asked.state)
    ledger.note("asked", asked.as_fact())
    ledger.note("seed", "7")
    ledger.note("named files", proof.files_of(asked.command))
    recorded(ledger, asked, archive)
    archive.write_bytes(HALF)
    return ledger


REFUSED: dict[str, Callable[[Asked], Asked]] = {
    "no --resume": lambda asked: asked,
    "another option": lambda asked: replace(asked, search_minutes=1.0),
    "another version": lambda asked: replace(asked, version="1.1"),
    "another scratch folder": lambda asked: replace(asked, scratch=asked.home.parent / "other"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_it_is_put_back_also_where_the_tune_is_refused(
    asked: Asked, archive: Path, why: str
) -> None:
    begun(asked, archive)
    heard: list[str] = []
    with pytest.raises(TailraceError) as raised:
        session.tune(REFUSED[why](asked), resume=why != "no --resume", say=heard.append)
    assert archive.read_bytes() == WAS
    assert any(f"left it: {archive}" in text for text in heard)
    assert "remove" not in (raised.value.hint or "")
    aside = asked.scratch / "put_aside" / f"outside{archive}"
    assert aside.read_bytes() == HALF, "it may be an edit that was made since"


def test_what_cannot_be_put_back_is_said_before_anything_is_refused(
    asked: Asked, archive: Path
) -> None:
    begun(asked, archive)
    archive.unlink()
    archive.mkdir()
    (archive / "inner").touch()
    with pytest.raises(TailraceError, match="NOT put back") as raised:
        session.tune(asked, resume=False, say=lambda _text: None)
    assert str(asked.scratch / "outside") in (raised.value.hint or "")


def test_it_is_put_back_where_a_second_interrupt_meets_the_loop_on_its_way_there(
    asked: Asked, archive: Path, monkeypatch: Patch
) -> None:
    def twice_interrupted(tune: Tune) -> Found:
        recorded(tune._ledger, asked, archive)
        archive.write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr(Tune, "run", twice_interrupted)
    heard: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        session.tune(asked, resume=False, say=heard.append)
    assert archive.read_bytes() == WAS
    assert f"back as the recording run left it: {archive}" in heard
    assert not asked.output.exists(), "before measured runs there is nothing to go on with"


def test_where_that_fails_it_is_said_and_the_copy_stays(
    asked: Asked, archive: Path, monkeypatch: Patch
) -> None:
    def interrupted(tune: Tune) -> Found:
        recorded(tune._ledger, asked, archive)
        archive.unlink()
        archive.mkdir()
        (archive / "inner").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Tune, "run", interrupted)
    with pytest.raises(TailraceError, match=f"NOT put back: {archive}"):
        session.tune(asked, resume=False, say=lambda _text: None)
    assert (asked.scratch / f"outside{archive}").read_bytes() == WAS


@pytest.mark.parametrize("named", ["{file}", "out={file}", "link"])
def test_what_the_recording_run_has_changed_does_not_hinder_going_on(
    asked: Asked, archive: Path, monkeypatch: Patch, named: str
) -> None:
    """Named by the command, or behind a link in the working folder: noted before that run."""
    monkeypatch.chdir(asked.home)
    (asked.home / "link").symlink_to(archive)
    asked = replace(asked, command=["true", named.format(file=archive)])
    archive.write_bytes(b"as the user had it")
    there = survey(asked.home, {asked.output, asked.scratch})
    files = proof.files_of(asked.command)
    archive.write_bytes(WAS)
    ledger = begun(asked, archive)
    ledger.note("survey", asdict(there))
    ledger.note("named files", files)
    monkeypatch.setattr(Tune, "run", lambda _tune: Found(Verdict("no_verdict", "so far")))
    monkeypatch.setattr(session, "_written", lambda *_, **__: {})
    session.tune(asked, resume=True, say=lambda _text: None)
    assert archive.read_bytes() == WAS


def test_runs_find_the_same_input_when_a_tune_goes_on(asked: Asked, archive: Path) -> None:
    """A copy of what the recording run has changed since, at its own place."""
    (asked.home / "link").symlink_to(archive)
    found = survey(asked.home, {asked.output, asked.scratch})
    Scratch(asked.home, asked.scratch, found, set()).fill()
    archive.write_bytes(HALF)
    resumed = Scratch(asked.home, asked.scratch, found, set())
    resumed.fill()
    assert (resumed.inputs / "link").read_bytes() == WAS
