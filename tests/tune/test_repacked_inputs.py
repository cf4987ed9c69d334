# SPDX-License-Identifier: Apache-2.0
"""The arm that reads repacked copies: which files, what proves it, what it costs and brings."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import jsonschema
import numpy as np
import pytest
from mpi_programs import BUILD
from tailrace_cli import SOURCE, tailrace

from tailrace.repack.reading import BadlyRead, badly_read
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.statistics import compare, compare_checked
from tailrace.tune import recording, repacked_inputs, words
from tailrace.tune.arms import Arms
from tailrace.tune.budget import Budget, BudgetEnded
from tailrace.tune.content import Report
from tailrace.tune.measurement import Runner, Setting
from tailrace.tune.pairs import Times
from tailrace.tune.repacked_inputs import Arm, Means

PROGRAM = BUILD / "tests/bin/tune_program"
SCHEMA = json.loads((SOURCE / "schemas/tune-1.schema.json").read_text())
ATTEMPTS = 3
Json = dict[str, Any]


def table(home: Path, rows: int = 2048, columns: int = 512) -> Path:
    """Read by columns it is badly laid out."""
    file = home / "in.h5"
    with h5py.File(file, "w") as made:
        made["table"] = np.arange(float(rows * columns)).reshape(rows, columns)
    return file


def hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_files_that_lie_badly_are_proposed() -> None:
    badly = [
        BadlyRead("/h/deep/b.h5", 9, 2.0), BadlyRead("/far/e.h5", 3, 1.0),
        BadlyRead("/h/a.h5", 5, 0.5), BadlyRead("/home/f.h5", 5, 0.1),
    ]  # fmt: skip
    found = repacked_inputs.proposed(badly, Path("/h"))
    assert (found.names, found.saved_s) == (["deep/b.h5", "a.h5"], 2.5)
    assert (found.beyond, found.further) == (["/far/e.h5", "/home/f.h5"], 0)
    many = [BadlyRead(f"/h/{number}.h5", 4) for number in range(20)]
    most = repacked_inputs.proposed(many, Path("/h"))
    assert (len(most.names), most.further, most.saved_s) == (16, 4, None)


def arm(one: list[float], other: list[float], repack_s: float = 3.0) -> Arm:
    file = {"name": "in.h5", "copy": "/c", "repack_s": repack_s, "datasets": [
        {"path": "/x", "from": [], "to": [4, 2], "why": "9 reads of 4 x 1"}]}  # fmt: skip
    compared = compare(one, other, "smaller")
    report = Report(reads_compared=10, what="what 10 reads gave")
    became = "faster" if compared.verdict == "faster" else "no_difference"
    return Arm([file], became, "", repack_s, False, compared, Times(one, other), report)


def test_the_price_is_in_runs() -> None:
    faster = arm([2.0] * 6, [0.5] * 6)
    assert (faster.saved_s, faster.pays_after, faster.saved_s_per_read) == (1.5, 2, 0.15)
    document = faster.as_json(Path("/h"), "/h/p.json")
    assert document["files"][0]["command"] == "tailrace repack /h/in.h5 --profile /h/p.json"
    spaced = faster.as_json(Path("/my data"), "/my data/p.json")["files"][0]["command"]
    assert spaced == "tailrace repack '/my data/in.h5' --profile '/my data/p.json'"
    assert words.repack_text(document) == (
        "/h/in.h5: faster: 4 times as fast (4 to 4, 6 pairs); repacking takes 3 s and saves 1.5 s "
        "of each run (150 ms of each read): it pays after 2 runs"
    )
    assert words.chunk_text(document["files"][0]["datasets"][0]) == (
        "/x: no chunks -> 4 x 2, for 9 reads of 4 x 1"
    )
    same = arm([2.0] * 6, [2.0] * 6)
    assert same.pays_after is None
    assert "pays" not in words.repack_text(same.as_json(Path("/h"), "p"))


Begun = tuple[list[str], Ledger, Means]


def begun(home: Path, root: Path, script: str) -> Begun:
    """What the arm of a script is asked, after its default was run."""
    (home / "read.py").write_text(script)
    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    setting = Setting([sys.executable, "read.py"], home, root)
    recorded = recording.record_run(setting, ground, 60)
    (root / "profile.json").write_text(json.dumps(recorded.profile))
    ledger = Ledger(root)
    ledger.note("seed", "7")
    arms = Arms(Runner(setting, ground), ground, ledger, lambda _text: None, Budget())
    known, alike = arms.defaults(60)
    assert alike.equal, alike
    names = repacked_inputs.proposed(badly_read(recorded.profile), home).names
    assert names == ["in.h5"]
    means = Means(arms, ground, home, recorded.profile, None, known, lambda _text: None)
    return names, ledger, means


def measured(names: list[str], ledger: Ledger, means: Means) -> tuple[Arm, list[str]]:
    arm, notes = repacked_inputs.prepared(names, ledger, means)
    if arm.waits:
        repacked_inputs.measure(arm, means.arms, means.plan)
    return arm, notes


def tried(home: Path, root: Path, script: str) -> tuple[Arm, list[str]]:
    return measured(*begun(home, root, script))


COLUMNS = """
import os, h5py
with h5py.File(os.path.realpath("in.h5")) as file:  # where the link leads to
    for column in range(8):
        file["table"][:, column]
"""


@pytest.fixture
def no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = compare([2.0] * 6, [0.5] * 6, "smaller"), Times([2.0] * 6, [0.5] * 6)
    monkeypatch.setattr(Arms, "on_copies", lambda *_: measured)


@pytest.mark.usefixtures("no_pairs")
def test_the_same_values_from_a_copy_prove_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    before = hash_of(table(home))
    found, notes = tried(home, tmp_path / "scratch", COLUMNS)
    assert (found.became, notes) == ("faster", [])
    assert found.report is not None
    assert (found.report.reads_compared, found.report.read_bytes) == (8, 8 * 2048 * 8)
    (file,) = found.files
    with h5py.File(file["copy"]) as copy:
        assert copy["table"].chunks == tuple(file["datasets"][0]["to"])
    assert hash_of(home / "in.h5") == before
    assert Path(file["copy"]).is_relative_to(tmp_path / "scratch")


@pytest.mark.usefixtures("no_pairs")
def test_the_command_for_a_link_can_be_run(tmp_path: Path) -> None:
    home, far = tmp_path / "home", tmp_path / "far"
    for folder in (home, far):
        folder.mkdir()
    table(far)
    (home / "in.h5").symlink_to(far / "in.h5")
    found, _ = tried(home, tmp_path / "scratch", COLUMNS)
    (file,) = found.as_json(home, f"{tmp_path}/scratch/profile.json")["files"]
    tailrace(*shlex.split(file["command"])[1:], cwd=home).expect(0)
    assert (home / "in.h5").is_symlink()
    with h5py.File(far / "in.h5") as made:
        assert list(made["table"].chunks) == file["datasets"][0]["to"]


@pytest.mark.usefixtures("no_pairs")
def test_a_tune_that_goes_on_repacks_only_what_is_gone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    table(home)
    asked = begun(home, tmp_path / "scratch", COLUMNS)
    first, _ = measured(*asked)
    copy = Path(first.files[0]["copy"])
    made = copy.stat().st_mtime_ns
    again, _ = measured(*asked)
    assert (again.became, copy.stat().st_mtime_ns) == ("faster", made)
    copy.unlink()
    anew, _ = measured(*asked)
    assert anew.became == "faster"
    assert copy.stat().st_mtime_ns > made


@pytest.mark.usefixtures("no_pairs")
def test_a_program_that_reads_by_the_chunks_is_not_proven(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    table(home)
    script = COLUMNS + "    file['table'][: (file['table'].chunks or (1,))[0]]\n"
    found, _ = tried(home, tmp_path / "scratch", script)
    assert found.became == "not_proven"
    assert found.reason.startswith(
        f"on the copies the content differs: {home}/in.h5:/table: is read in another way: 9 reads"
    )
    assert found.compared is None


def test_a_program_that_writes_to_its_copy_is_not_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    table(home)

    def writes(arms: Arms, _stage: str, _plan: None, copies: dict[str, Path]) -> Any:
        copies["in.h5"].touch()
        return compare([2.0] * 6, [0.5] * 6, "smaller"), Times([2.0] * 6, [0.5] * 6)

    monkeypatch.setattr(Arms, "on_copies", writes)
    found, _ = tried(home, tmp_path / "scratch", COLUMNS)
    assert (found.became, found.reason) == (
        "not_proven", "the program has written to its inputs"
    )  # fmt: skip


def test_what_has_no_verdict_is_not_called_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    table(home)
    asked = begun(home, tmp_path / "scratch", COLUMNS)
    times = Times([2.0] * 6, [1.5] * 6)
    unsteady = compare_checked([1.0] * 6, [2.0] * 6, times.one, times.other, "smaller")
    monkeypatch.setattr(Arms, "on_copies", lambda *_: (unsteady, times))
    found, _ = measured(*asked)
    assert (found.became, found.reason) == ("no_verdict", unsteady.reason)
    assert unsteady.reason

    def ends(*_: Any) -> Any:
        raise BudgetEnded

    monkeypatch.setattr(Arms, "on_copies", ends)
    found, _ = measured(*asked)
    assert (found.became, found.compared) == ("no_verdict", None)
    assert "the budget ended" in words.repack_text(found.as_json(home, "p.json"))


def test_a_budget_that_is_gone_makes_no_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    table(home)
    names, ledger, means = begun(home, tmp_path / "scratch", COLUMNS)
    over = Budget(1.0, spent_s=10.0)
    monkeypatch.setattr(means.arms, "_budget", over)
    with pytest.raises(BudgetEnded):
        repacked_inputs.prepared(names, ledger, means)
    assert not (means.ground.repacked / "in.h5").exists()


def test_a_reader_is_told_to_repack_and_what_it_brings(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    before = hash_of(table(home))
    command = ["--", str(PROGRAM), "in.h5", "columns"]
    for _ in range(ATTEMPTS):
        ran = tailrace("tune", "--json", *command, cwd=home, timeout=150).expect(0)
        found = ran.json
        if found["verdict"] != "no_verdict":
            break
    jsonschema.validate(found, SCHEMA)
    (file,) = found["repack"]["files"]
    assert found["repack"]["became"] == "faster", found["repack"]
    assert found["repack"]["speedup"]["range"][0] > 1.03
    assert found["repack"]["pays_after_runs"] >= 1
    assert found["repack"]["content"]["reads_compared"] == 512
    assert file["path"] == f"{home}/in.h5"
    page = (home / "tailrace-tune/report.html").read_text()
    assert "repacked copies" in page
    assert file["command"] in page
    assert hash_of(home / "in.h5") == before
    assert sorted(path.name for path in home.iterdir()) == ["in.h5", "tailrace-tune"]
    shutil.copy(home / "in.h5", home / "kept.h5")
    tailrace(*file["command"].split()[1:], cwd=home).expect(0)
    with h5py.File(home / "in.h5") as made, h5py.File(home / "kept.h5") as old:
        assert list(made["table"].chunks) == file["datasets"][0]["to"]
        assert (made["table"][:] == old["table"][:]).all()


def test_in_place_it_is_only_said(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    table(home)
    words_of = ["tune", "--in-place", "--json", "--", PROGRAM, "in.h5", "columns"]
    found = tailrace(*words_of, cwd=home, timeout=150).expect(0).json
    assert found["repack"] is None
    assert any("not tried in place; tailrace repack FILE" in note for note in found["notes"])
