# SPDX-License-Identifier: Apache-2.0
"""Under the connector every call answers as without it, and the files are the same."""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from mpi_programs import programs
from runs import told

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
HOOK = BUILD / "src" / "hooks" / "vol"
# Programs built with sanitizers get a connector with them too.
SANITIZED = bool(os.environ.get("TAILRACE_TEST_SANITIZE"))
PLUGIN = HOOK / ("sanitized" if SANITIZED else "plugin")
PROGRAM = programs() / "vol_api"
NATIVE = "under_vol=0;under_info={}"
STACKS = {
    "alone": f"tailrace {NATIVE}",
    "without information": "tailrace",
    "over pass_through": f"tailrace under_vol=1;under_info={{{NATIVE}}}",
    "under pass_through": f"pass_through under_vol=466;under_info={{{NATIVE}}}",
    "twice": f"tailrace under_vol=466;under_info={{{NATIVE}}}",
}
if os.environ.get("TAILRACE_TEST_PROGRAMS"):  # HDF5 1.14, which does not find it by its number
    del STACKS["over pass_through"]


def run(folder: Path, ranks: int, **environment: str) -> dict[str, bytes]:
    """The lines of each rank and the files that the program left."""
    folder.mkdir()
    words: list[str | Path] = [PROGRAM, folder, *(["mpi"] if ranks else [])]
    if ranks:
        words = [*shlex.split(os.environ["TAILRACE_TEST_MPIEXEC"]), "-n", str(ranks), *words]
    done = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A word from each rank; Hydra does not keep their lines whole.
    assert (done.stdout.replace("\n", ""), told(done.stderr)) == ("done" * max(ranks, 1), "")
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def recording(folder: Path, connector: str) -> dict[str, str]:
    (folder / "spools").mkdir()
    return {
        "HDF5_PLUGIN_PATH": str(PLUGIN),
        "HDF5_VOL_CONNECTOR": connector,
        "TAILRACE_MODE": "record",
        "TAILRACE_PROFILE_DIR": str(folder / "spools"),
    }


def sanitizers_without(folder: Path, function: str) -> dict[str, str]:
    """What a function hands to functions of the C library is not looked at."""
    file = folder / "suppressions"
    file.write_text(f"interceptor_via_fun:{function}\n")
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:suppressions={file}"
    return {"ASAN_OPTIONS": options} if SANITIZED else {}


def same(native: dict[str, bytes], other: dict[str, bytes]) -> None:
    for name in sorted(native):
        if name.startswith("lines."):
            ours, theirs = (found[name].decode().splitlines() for found in (other, native))
            difference = "\n".join(difflib.unified_diff(theirs, ours, "native", name, "", "", 1))
            assert difference == ""
    assert set(other) == set(native)
    assert [name for name in native if native[name] != other[name]] == []


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, bytes]]:
    folder = tmp_path_factory.mktemp("native")
    found = {ranks: run(folder / str(ranks), ranks) for ranks in (0, 4)}
    # The program is of use only where it really gets to the end of its checks.
    for ranks in (0, 4):
        lines = found[ranks]["lines.0"].decode().splitlines()
        assert len(lines) > 300
        assert "signals are handled as before: 1" in lines
        assert sum(": bad" in line for line in lines) < 20
    return found


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("ranks", [0, 4])
def test_like_native(
    native: dict[int, dict[str, bytes]], tmp_path: Path, ranks: int, stack: str
) -> None:
    expected = native[ranks]
    if "pass_through" in stack:  # which by itself loses the reasons of some failures
        expected = run(tmp_path / "plain", ranks, HDF5_VOL_CONNECTOR=f"pass_through {NATIVE}")
    # It hands down a text that ends one byte behind its memory.
    added = sanitizers_without(tmp_path, "H5VL_pass_through_str_to_info")
    other = run(tmp_path / "run", ranks, **recording(tmp_path, STACKS[stack]), **added)
    same(expected, other)
    spools = list((tmp_path / "spools").glob("*.spool"))
    assert len(spools) == max(ranks, 1)  # so it was recorded, by each process once


@pytest.mark.parametrize("mode", ["off", "apply", "nonsense"])
def test_nothing_is_recorded(
    native: dict[int, dict[str, bytes]], tmp_path: Path, mode: str
) -> None:
    environment = recording(tmp_path, STACKS["alone"]) | {"TAILRACE_MODE": mode}
    folder = tmp_path / "run"
    folder.mkdir()
    done = subprocess.run(
        [PROGRAM, folder], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert ("it names no compiled plan" in done.stderr) == (mode == "apply")
    assert ("record, apply or off" in done.stderr) == (mode == "nonsense")
    assert len(done.stderr.splitlines()) == (0 if mode == "off" else 1)
    same(native[0], {file.name: file.read_bytes() for file in folder.iterdir()})
    # Where a plan is to be applied, what becomes of it would be noted down.
    assert len(list((tmp_path / "spools").iterdir())) == (1 if mode == "apply" else 0)


def test_an_unrelated_program_with_the_plugin_on_its_path(
    native: dict[int, dict[str, bytes]], tmp_path: Path
) -> None:
    same(native[0], run(tmp_path / "run", 0, HDF5_PLUGIN_PATH=str(PLUGIN)))


def test_the_plugin_depends_on_libc_alone() -> None:
    plugin = HOOK / "plugin" / "libtailrace_vol.so"
    needed = subprocess.run(["readelf", "-d", plugin], capture_output=True, text=True).stdout
    libraries = [line.split("[")[1].rstrip("]") for line in needed.splitlines() if "NEEDED" in line]
    assert libraries == ["libc.so.6"]
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", plugin], capture_output=True, text=True
    ).stdout.split()[2::3]
    assert sorted(exported) == ["H5PLget_plugin_info", "H5PLget_plugin_type"]
