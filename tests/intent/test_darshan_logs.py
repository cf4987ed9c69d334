# SPDX-License-Identifier: Apache-2.0
"""Whole logs: those that come with PyDarshan, and damaged ones made from them."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from made_logs import SHARED, made_log, record

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent.darshan import read_darshan
from tailrace.intent.darshan_log import Json

IOR = "ior_hdf5_example.darshan"


@pytest.fixture(scope="module")
def ior(logs: Path) -> Json:
    (profile,) = read_darshan([logs / IOR])
    return profile


def failure(*logs: Path, partial: bool = False) -> TailraceError:
    with pytest.raises(TailraceError) as caught:
        read_darshan(logs, partial=partial)
    return caught.value


def test_every_layer_of_a_log(ior: Json) -> None:
    (file,) = ior["files"]
    assert {"posix", "mpiio", "hdf5", "lustre", "datasets"} <= set(file)
    assert ior["origin"]["sources"][0]["parts"] == [
        "DXT_MPIIO", "DXT_POSIX", "H5D", "H5F", "LUSTRE", "MPI-IO", "POSIX", "STDIO"
    ]  # fmt: skip
    assert ior["run"]["ranks"] == 4
    assert file["processes"] == "0-3"
    (dataset,) = file["datasets"]
    assert dataset["writes"]["bytes"] == 3 << 20  # H5D has records of three of the four ranks
    assert dataset["processes"] == "1-3"
    assert dataset["ndims"] == 1
    assert sum(file["posix"]["writes"]["order"].get(kind, 0)
               for kind in ("sequential", "strided", "random", "repeated")) > 0  # fmt: skip


@pytest.mark.parametrize(
    ("log", "files"),
    [("dxt.darshan", 215), ("noposix.darshan", 2), ("sample-badost.darshan", 2049)],
)
def test_no_module_is_required(logs: Path, log: str, files: int) -> None:
    (profile,) = read_darshan([logs / log])
    assert len(profile["files"]) == files


def test_ids_of_64_bits_are_exact(logs: Path) -> None:
    """Every POSIX record of this log has a name; a third of the ids are above 2^63."""
    (profile,) = read_darshan([logs / "sample-badost.darshan"])
    assert "dropped" not in profile["origin"]
    assert sum("posix" in file for file in profile["files"]) > 2000


def test_several_logs_come_in_their_order(graph_logs: Path) -> None:
    paths = sorted(graph_logs.glob("*.darshan"))
    profiles = read_darshan(paths)
    found = [profile["origin"]["sources"][0]["path"] for profile in profiles]
    assert found == [str(path) for path in paths]


def test_what_is_no_log(tmp_path: Path) -> None:
    empty = tmp_path / "empty.darshan"
    empty.touch()
    assert "the log is empty" in failure(empty).text()
    text = tmp_path / "text.darshan"
    text.write_text("this is not a log\n" * 99)
    error = failure(text)
    assert "this is no Darshan log" in error.text() and error.hint
    assert error.code == ExitCode.USAGE
    assert "there is no such file" in failure(tmp_path / "none.darshan").text()
    assert "folder" in failure(tmp_path).text()


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_log_says_so(logs: Path, tmp_path: Path, share: float) -> None:
    """At some lengths the library that reads it crashes; that is our error, not our crash."""
    whole = (logs / IOR).read_bytes()
    cut = tmp_path / "cut.darshan"
    cut.write_bytes(whole[: int(len(whole) * share)])
    error = failure(cut)
    assert "truncated or damaged" in error.text() or "no Darshan log" in error.text()
    assert str(cut) in error.text() and error.hint
    assert error.code == ExitCode.USAGE


def test_what_can_be_read_of_a_truncated_log(logs: Path, tmp_path: Path, ior: Json) -> None:
    whole = (logs / IOR).read_bytes()
    cut = tmp_path / "cut.darshan"
    cut.write_bytes(whole[: int(len(whole) * 0.9)])
    (profile,) = read_darshan([cut], partial=True)
    assert (
        profile["files"][0]["posix"]["writes"]["bytes"]
        == (ior["files"][0]["posix"]["writes"]["bytes"])
    )
    assert any("DXT_MPIIO could not be read" in note for note in profile["origin"]["notes"])


def test_damaged_bytes_are_an_error_or_harmless(logs: Path, tmp_path: Path, ior: Json) -> None:
    """Never a crash, and never other numbers without a word."""
    whole = (logs / IOR).read_bytes()
    dice = random.Random(20240301)
    outcomes = set()
    for _ in range(8):
        at = dice.randrange(400, len(whole))
        bad = tmp_path / "bad.darshan"
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            (profile,) = read_darshan([bad])
        except TailraceError as error:
            assert "damaged" in error.what or "no Darshan log" in error.what
            outcomes.add("error")
        else:
            assert profile["files"] == ior["files"]
            outcomes.add("same")
    assert "error" in outcomes


def test_records_made_of_wrong_bytes_are_not_used(tmp_path: Path) -> None:
    """Of a module so large that some of its records come before the library sees the damage."""
    dice = random.Random(7)
    names = {2**63 + n: f"/data/{n}.nc" for n in range(4000)}
    records = [
        record("PNETCDF_FILE", key, SHARED, {"CREATES": 1, "BYTES_WRITTEN": dice.randrange(2**40)})
        for key in names
    ]
    whole = made_log(tmp_path / "whole.darshan", names, {"PNETCDF_FILE": records})
    (right,) = read_darshan([whole])
    wanted = {one["path"]: one["pnetcdf"] for one in right["files"]}
    assert len(wanted) == 4000
    content = whole.read_bytes()
    for share in (0.5, 0.7, 0.9, 0.97):
        at = int(len(content) * share)
        bad = tmp_path / "bad.darshan"
        bad.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        try:
            (profile,) = read_darshan([bad], partial=True)
        except TailraceError as error:  # nothing else is in it
            assert "holds no record of a file" in error.what or "damaged" in error.what
        else:
            assert {
                one["path"]: one["pnetcdf"] for one in profile["files"]
            }.items() <= wanted.items()


def test_without_pydarshan(tmp_path: Path, logs: Path) -> None:
    """As in an installation without the extra: exit code 4 and the remedy."""
    shutil.copy(logs / IOR, tmp_path / "a.darshan")
    program = (
        "import sys; sys.modules['darshan'] = None\n"
        "from tailrace.intent.darshan_child import main\n"
        f"sys.exit(main([{str(tmp_path / 'a.darshan')!r}]))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == ExitCode.CAPABILITY_MISSING
    assert "pip install darshan" in run.stdout


def test_a_time_without_end_is_damage(tmp_path: Path) -> None:
    values = {"OPENS": 1, "READS": 3, "BYTES_READ": 10, "F_READ_TIME": float("inf")}
    log = made_log(tmp_path / "a.darshan", {1: "/x"}, {"POSIX": [record("POSIX", 1, 0, values)]})
    with pytest.raises(TailraceError) as caught:
        read_darshan([log])
    assert caught.value.code == ExitCode.USAGE
    assert "damaged" in caught.value.what and caught.value.where == str(log)
