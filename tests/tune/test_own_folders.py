# SPDX-License-Identifier: Apache-2.0
"""A tune works in folders of its own: those of the user are refused, whatever their names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from own_namespace import small_disk
from tailrace_cli import called, environment

from tailrace.errors import ExitCode, TailraceError
from tailrace.sandbox import ownership
from tailrace.sandbox.ledger import Ledger
from tailrace.tune import session
from tailrace.tune.request import Verdict


@pytest.fixture
def output(home: Path) -> Path:
    """The folder of the results of a tune that has ended."""
    folder = home / "out"
    folder.mkdir()
    (folder / "result.json").write_text('{"schema": "tailrace-tune/1"}')
    return folder


def put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize(
    "name",
    ["scratch/mine", "state/mine", "state/lock", "state/facts.jsonl", "state/profile.json"],
)
def test_a_folder_of_the_users_beside_results_is_refused_and_stays(output: Path, name: str) -> None:
    put(output / name, b"mine")
    ran = called("tune", "-o", "out", "--", "true").expect(2)
    assert "is there and is not of a tune" in ran.err
    assert (output / name).read_bytes() == b"mine"
    found = sorted(str(path.relative_to(output)) for path in output.rglob("*") if path.is_file())
    assert found == sorted(["result.json", name])


def test_folders_that_are_only_called_so_are_refused(home: Path) -> None:
    for number, name in enumerate(("state/lock", "scratch/put_aside/one")):
        folder = home / str(number)
        put(folder / name, b"")
        put(folder / "plan.json", b"mine")
        with pytest.raises(TailraceError, match="no folder of tailrace tune") as raised:
            ownership.check_own(folder, folder / "scratch")
        assert raised.value.code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("state/lock", b""),
        ("state/facts.jsonl", b""),
        ("state/profile.json", b'{"schema": "tailrace-profile/1"}'),
        ("scratch/put_aside/one", b"of the user"),
        ("scratch/of_tailrace_tune", b'"/somewhere/out"'),
    ],
)
def test_what_a_tune_has_left_does_not_hinder_the_next(
    output: Path, name: str, content: bytes
) -> None:
    put(output / name, content)
    ownership.check_own(output, output / "scratch")
    (output / "result.json").unlink()
    ownership.check_own(output, output / "scratch")


def test_an_unfinished_tune_knows_its_scratch_folder_and_no_other(output: Path) -> None:
    (output / "state").mkdir()
    Ledger(output / "state").note("asked", {"argv": [], "scratch": str(output / "scratch")})
    put(output / "scratch/inputs/one", b"a copy")
    ownership.check_own(output, output / "scratch")
    put(output.parent / "far/one", b"mine")
    with pytest.raises(TailraceError, match="is not of a tune, whose runs work there"):
        ownership.check_own(output, output.parent / "far")


def test_results_without_room_are_refused_before_any_run(tmp_path: Path, home: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    ran = subprocess.run(
        [*small_disk(results, 4 << 20), sys.executable, "-m", "tailrace", "tune",
         "-o", str(results / "one"), "--scratch", str(tmp_path / "scratch"),
         "--", sys.executable, "-c", "open('ran', 'w')"],
        cwd=home, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    assert f"{results}/one" in ran.stderr and "the results take up to 8.0 MiB" in ran.stderr
    assert "name a folder on another file system with -o" in ran.stderr
    assert [path.name for path in home.iterdir()] == ["mine.txt"]
    assert not (tmp_path / "scratch").exists()


def test_what_was_found_is_said_where_it_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a tune whose folder has filled up meanwhile; --resume only writes then."""
    found = SimpleNamespace(verdict=Verdict("kept", "3.1 times as fast"))
    said: list[str] = []

    def full(*_: object, **__: object) -> None:
        raise TailraceError("could not be written: No space left on device")

    monkeypatch.setattr(session, "_written", full)
    with pytest.raises(TailraceError, match="No space left"):
        session._written_or_said(Any, found, Any, said.append, confined=True)  # type: ignore[arg-type]
    assert said == ["the result could not be written (kept): 3.1 times as fast"]
