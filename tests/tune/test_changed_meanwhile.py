# SPDX-License-Identifier: Apache-2.0
"""A folder that others work in too: what changes while it is copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tailrace.errors import TailraceError
from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.scratch import Scratch
from tailrace.tune import session
from tailrace.tune.request import Asked

pytestmark = pytest.mark.usefixtures("at_home")


def tuned(home: Path, monkeypatch: pytest.MonkeyPatch, *, in_place: bool = False) -> list[str]:
    """What is said of a tune during whose copying a log grows."""
    kind = InPlace if in_place else Scratch
    whole = kind.fill

    def fill(self: InPlace | Scratch) -> int:
        shared = whole(self)  # type: ignore[arg-type]
        with (home / "other.log").open("a") as log:
            log.write("more\n")
        return shared

    monkeypatch.setattr(kind, "fill", fill)
    (home / "other.log").write_text("first\n")
    output = home / "tailrace-tune"
    heard: list[str] = []
    asked = Asked(["true"], home, output, scratch=output / "scratch", in_place=in_place)
    assert session.tune(asked, resume=False, say=heard.append)["verdict"] == "nothing_to_gain"
    return heard


def test_a_file_that_grows_while_it_is_copied(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = tuned(home, monkeypatch)
    assert any("changed while the folder was copied: other.log" in line for line in heard), heard
    assert (home / "other.log").read_text() == "first\nmore\n"


def test_in_place_it_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows then whose change it is."""
    with pytest.raises(TailraceError, match=r"other\.log has been changed"):
        tuned(home, monkeypatch, in_place=True)
