# SPDX-License-Identifier: Apache-2.0
"""`tailrace run seism` with the real program, and `tailrace verify` of what it wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import seism_files as files
from tailrace_cli import SOURCE, environment, tailrace

from tailrace.run.programs import find_program

pytestmark = pytest.mark.mpi
CASE = files.Case((2, 1, 2), (6, 5, 4), 3)
GEOMETRY = ("processor=2x1x2", "domain=6x5x4", "time=3", "fill=position")
FORMATS = ("hdf5", "mpiio", "posix", "posix-per-rank")


@pytest.fixture(autouse=True)
def _program() -> None:
    assert find_program("tailrace-seism"), "build the programs; TAILRACE_BUILD_DIR names the folder"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def written(folder: Path) -> dict[str, Path]:
    found = {}
    for name in FORMATS:
        words = [*GEOMETRY, f"format={name}", f"filename=out.{name}"]
        tailrace("run", "seism", *words, "-q", cwd=folder).expect(0)
        found[name] = folder / f"out.{name}"
    words = [*GEOMETRY, "chunk=4x3x4", "collective_write", "deflate=4", "filename=out.deflate"]
    tailrace("run", "seism", *words, "-q", cwd=folder).expect(0)
    found["deflate"] = folder / "out.deflate"
    words = [*GEOMETRY, "subfile=2", "filename=out.subfiled"]
    tailrace("run", "seism", *words, "-q", cwd=folder).expect(0)
    found["subfiled"] = folder / "out.subfiled"
    return found


def test_every_format_is_verified_and_has_the_same_content(written: dict[str, Path]) -> None:
    found = tailrace("verify", "--json", *written.values()).expect(0).json
    assert [item["correct"] for item in found["files"]] == [CASE.steps * 480] * len(written)
    hashes = tailrace("verify", "--hash", "--json", *written.values()).expect(0).json["files"]
    assert len({item["data_hash"] for file in hashes for item in file["objects"] if
                item["path"] == "/chunked"}) == 1  # fmt: skip


def test_the_values_are_those_of_the_definition(written: dict[str, Path]) -> None:
    """By h5py alone: nothing of ours reads or computes here."""
    for name in ("hdf5", "deflate"):
        with h5py.File(written[name]) as file:
            assert np.array_equal(file["chunked"][...], files.data(CASE))
            assert file.attrs["kernel"] in {"seism", b"seism"}


def test_files_of_two_layouts_compare_equal(written: dict[str, Path]) -> None:
    ignored = [word for name in ("chunk", "filename", "deflate", "collective_write", "format",
                                 "alloc_time", "simulation_attributes")
               for word in ("--ignore", f"@{name}")]  # fmt: skip
    tailrace("verify", written["hdf5"], written["deflate"], *ignored).expect(0)


@pytest.mark.parametrize("name", FORMATS)
def test_a_changed_byte_is_caught(name: str, written: dict[str, Path], tmp_path: Path) -> None:
    source = written[name]
    for file in source.parent.glob(f"{source.name}*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    victim = tmp_path / (f"{source.name}.00001" if name == "posix-per-rank" else source.name)
    raw = bytearray(victim.read_bytes())
    needle = np.float32(files.value(CASE, 1, 3, 2, 5)).tobytes()
    at = raw.find(needle)
    assert at >= 0
    raw[at] ^= 1
    victim.write_bytes(raw)
    found = tailrace("verify", "--json", tmp_path / source.name).expect(3).json["files"][0]
    assert found["wrong"] == 1 and found["first_wrong"][0]["position"] == [3, 2, 5]


def test_lines_on_standard_input_and_json(folder: Path) -> None:
    text = "processor 1 1 2\n# time 9\ndomain 4 4 4\ntime 2\nfilename in.h5\nDONE\nnot read\n"
    found: Any = tailrace("run", "seism", "-", "--json", cwd=folder, stdin=text).expect(0).json
    assert found["ranks"] == 2 and found["exit_code"] == 0
    assert any(line.startswith("Number of time steps:") for line in found["output"])
    records = found["records"]
    assert len(records) == 1 and records[0]["schema"] == "tailrace-record/1"
    tailrace("verify", folder / "in.h5").expect(0)
    page = (SOURCE / "docs" / "user" / "run.md").read_text()
    assert all(f"`{key}`" in page for key in found)


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    ran = tailrace("run", "seism", *GEOMETRY, "--dry-run", cwd=tmp_path).expect(0)
    assert "-n 4" in ran.out and "processor 2 1 2" in ran.out
    assert list(tmp_path.iterdir()) == []


MISTAKES = [
    (["procesor=2x1x2"], "procesor"),
    (["processor=2x1x2", "domain=6x5"], "domain needs 3 numbers"),
    (["processor=2x1x2", "domain=6x5x4", "tme=3"], "tme"),
    (["processor=2x0x2", "domain=6x5x4", "time=3"], "processor"),
    ([*GEOMETRY, "--ranks", "3"], "processor"),
    ([*GEOMETRY, "filename=no/such/folder/x.h5"], "no/such/folder"),
]


@pytest.mark.parametrize(("words", "text"), MISTAKES)
def test_bad_input_is_the_programs_to_explain(words: list[str], text: str, tmp_path: Path) -> None:
    ran = tailrace("run", "seism", *words, cwd=tmp_path).expect(2)
    assert text in ran.err and "tailrace: error: " in ran.err
    assert "non-zero" not in ran.err  # the launcher's banners
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".jsonl"] == []


def test_without_the_program_the_remedy(tmp_path: Path) -> None:
    nothing = {"PATH": "/nowhere", "TAILRACE_BUILD_DIR": None, "TAILRACE_BIN": None}
    ran = tailrace("run", "seism", *GEOMETRY, cwd=tmp_path, **nothing).expect(4)
    assert "make build" in ran.err and "TAILRACE_BIN" in ran.err


def begun(folder: Path) -> subprocess.Popen[str]:
    """A long run that has begun to write x.h5 in the folder."""
    words = ["processor=2x1x2", "domain=64x64x64", "time=500", "compute=0.2 idle", "filename=x.h5"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", "run", "seism", *words], cwd=folder,
        env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(300):
        if (folder / "x.h5.part").exists():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the run did not begin")
    time.sleep(0.5)
    return process


def left_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.name.startswith("x.h5")]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_runs_leave_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = begun(tmp_path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert left_in(tmp_path) == []


def test_a_killed_command_takes_its_run_with_it(tmp_path: Path) -> None:
    process = begun(tmp_path)
    process.kill()
    process.wait()
    for _ in range(300):
        if not left_in(tmp_path):
            break
        time.sleep(0.1)
    assert left_in(tmp_path) == [], "the ranks were ended, and have removed what they had begun"


def test_a_file_name_is_bytes(tmp_path: Path) -> None:
    text = b"processor 1 1 2\ndomain 4 4 4\ntime 2\nfilename caf\xe9.h5\nDONE\n"
    ran = subprocess.run(
        [sys.executable, "-m", "tailrace", "run", "seism", "-", "--launcher",
             f"{os.environ['TAILRACE_TEST_MPIEXEC']} -n2"],
        input=text, cwd=tmp_path, env=environment(), capture_output=True, timeout=90,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert b"caf\xe9.h5" in {os.fsencode(file.name) for file in tmp_path.iterdir()}


def test_the_original_default_test_set(tmp_path: Path) -> None:
    """Seed 000's input, with smaller extents; as root and on few cores nothing else is needed."""
    text = (
        "# default test set\nprocessor 2 2 2\nchunk 18 8 8\ndomain 36 8 8\ntime 5\nprecreate\n"
        "collective_write\nset_collective_metadata\nnever_fill\nDONE\n"
    )
    ran = tailrace("run", "seism", "-", cwd=tmp_path, stdin=text).expect(0)
    assert "Number of processes:            8" in ran.out
    tailrace("verify", tmp_path / "seism-test.h5").expect(0)


def test_the_limit_beside_the_kernel_and_alone(tmp_path: Path) -> None:
    words = ["processor=2x1x1", "domain=4x4x4", "time=2", "--json"]
    beside = tailrace("run", "seism", *words, "--limit", cwd=tmp_path).expect(0).json
    alone = tailrace("run", "limit", *words, cwd=tmp_path).expect(0).json
    assert "kernel" in beside["records"][0]["limit"]["order"]
    assert (alone["kernel"], alone["records"][0]["kernel"]) == ("limit", "limit")
    assert (
        alone["records"][0]["limit"]["arms"].keys() == beside["records"][0]["limit"]["arms"].keys()
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.jsonl", "seism-test.h5"]
