# SPDX-License-Identifier: Apache-2.0
"""Where nothing can be made beside a file, it is written into: what has its other names stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from grounds import contents, ground_of, home_in

from tailrace.sandbox import restoration
from tailrace.sandbox.tree import Entry


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_in(tmp_path)


@pytest.fixture
def nothing_beside_one(monkeypatch: pytest.MonkeyPatch) -> None:
    replace = restoration._replace

    def refused(copy: Path, here: Path, was: Entry) -> None:
        if here.name == "one":
            raise PermissionError(13, "Permission denied")
        replace(copy, here, was)

    monkeypatch.setattr(restoration, "_replace", refused)


@pytest.mark.usefixtures("nothing_beside_one")
def test_what_a_run_has_left_stays_where_a_file_is_written_into(home: Path) -> None:
    before = contents(home)
    ground = ground_of(home)
    kept = {}
    for text in (b"of the first run", b"of the second"):
        ground.begin()
        (home / "one").write_bytes(text)
        kept[text] = ground.end(f"run-{len(kept)}").folder / "one"
        assert contents(home) == before
        assert [path.read_bytes() for path in kept.values()] == list(kept)


@pytest.mark.usefixtures("nothing_beside_one")
def test_what_was_put_aside_stays_where_a_file_is_written_into(home: Path) -> None:
    before = contents(home)
    ground = ground_of(home)
    (home / "one").write_bytes(b"edited")
    ground.put_back()
    assert contents(home) == before
    ground.begin()
    (home / "one").write_bytes(b"of a run, or edited meanwhile")
    ground.end("run")
    assert contents(home) == before
    aside = [ground.put_aside / name for name in ("one", "again-2/one")]
    assert [path.read_bytes() for path in aside] == [b"edited", b"of a run, or edited meanwhile"]
