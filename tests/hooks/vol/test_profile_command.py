# SPDX-License-Identifier: Apache-2.0
"""`tailrace profile` itself: what it says, and what cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from profiled import profiled, script
from tailrace_cli import tailrace

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import plugin, record

HELLO = """
import sys, h5py
with h5py.File("a.h5", "w") as f:
    f["x"] = [1, 2, 3]
print("hello")
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


def test_the_table_and_the_program(tmp_path: Path) -> None:
    ran, _ = profiled(tmp_path, *script(tmp_path, HELLO))
    assert ran.code == 0
    assert ran.out.startswith("hello\n1 process, 1 file\n")
    assert "a.h5:/x" in ran.out
    lines = [line for line in ran.out.splitlines() if not line.startswith("profile: ")]
    assert [line for line in lines if len(line.rstrip()) > 80] == []


def test_json_and_what_the_program_prints_stay_apart(tmp_path: Path) -> None:
    ran, _ = profiled(tmp_path, *script(tmp_path, HELLO), options=("--json",))
    assert ran.json["profile"] == str(tmp_path / "profile.json")
    assert (ran.json["program_exit_code"], ran.json["files"], ran.json["processes"]) == (0, 1, 1)
    assert "hello" in ran.err


def test_a_program_that_fails_leaves_a_profile(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, HELLO), "7", options=("--json",))
    assert ran.code == ExitCode.RUN_FAILED
    assert ran.json["program_exit_code"] == 7
    assert "exit code 7" in ran.err
    assert len(profile["files"]) == 1


def test_a_program_without_hdf5(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, "true")
    assert ran.code == 0
    assert "nothing was recorded" in ran.err
    assert "1.14" in ran.err
    assert "files" not in profile


def test_what_cannot_be_run(tmp_path: Path) -> None:
    ran = tailrace("profile", "--", "no-such-program", cwd=tmp_path).expect(ExitCode.USAGE)
    assert "no-such-program: the program cannot be started" in ran.err
    ran = tailrace("profile", "-o", "no/p.json", "--", "true", cwd=tmp_path).expect(ExitCode.USAGE)
    assert "the folder is not there" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_where_no_profile_can_be_written_nothing_is_run(tmp_path: Path) -> None:
    folder, text = tmp_path / "folder", tmp_path / "notes.txt"
    folder.mkdir()
    text.write_text("mine\n")
    for target in (folder, text):
        ran = tailrace("profile", "-o", str(target), "--", "touch", "ran", cwd=tmp_path)
        assert target.name in ran.expect(ExitCode.USAGE).err
    assert text.read_text() == "mine\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "notes.txt"]


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("HDF5_VOL_CONNECTOR", "pass_through under_vol=0;under_info={}", "another connector"),
        ("HDF5_PLUGIN_PRELOAD", "::", "forbids HDF5 to load plugins"),
        ("TAILRACE_MODE", "off", "switches the hooks off"),
    ],
)
def test_settings_that_forbid_it(tmp_path: Path, name: str, value: str, what: str) -> None:
    ran = tailrace("profile", "--", "touch", "x", cwd=tmp_path, **{name: value})
    assert what in ran.expect(ExitCode.USAGE).err
    assert list(tmp_path.iterdir()) == []


def test_a_plugin_that_cannot_load(tmp_path: Path) -> None:
    (tmp_path / plugin.file_name).write_text("this is no library")
    with pytest.raises(TailraceError) as caught:
        plugin.check(tmp_path)
    assert caught.value.code == ExitCode.CAPABILITY_MISSING
    assert "invalid ELF header" in caught.value.what or "too short" in caught.value.what
    assert "was not started" in caught.value.hint


def test_the_plugin_path_of_the_user_stays(tmp_path: Path) -> None:
    given = {"HDF5_PLUGIN_PATH": "/some/filters"}
    added = plugin.environment_for(tmp_path, tmp_path / "spools", 4, given)
    assert added["HDF5_PLUGIN_PATH"] == f"{tmp_path}:/some/filters"
    assert added["TAILRACE_PROFILE_MIB"] == "4"


@pytest.mark.parametrize(
    ("words", "flavour", "expected"),
    [
        (["mpiexec", "-n", "2", "p"], "openmpi", ["mpiexec", "-x", "A", "-x", "B", "-n", "2", "p"]),
        (["/opt/bin/mpirun", "p"], "openmpi", ["/opt/bin/mpirun", "-x", "A", "-x", "B", "p"]),
        (["mpiexec.hydra", "-n", "2", "p"], "mpich", ["mpiexec.hydra", "-n", "2", "p"]),
        (["srun", "-n", "2", "p"], "", ["srun", "-n", "2", "p"]),
        (["srun", "--export=NONE", "p"], "", ["srun", "--export=A,B", "p"]),
        (["srun", "--export=HOME", "p"], "", ["srun", "--export=HOME,A,B", "p"]),
        (["srun", "--export=ALL", "p"], "", ["srun", "--export=ALL", "p"]),
        ([sys.executable, "x.py"], "", [sys.executable, "x.py"]),
    ],
)
def test_launchers_hand_the_environment_on(
    words: list[str], flavour: str, expected: list[str]
) -> None:
    assert record.with_environment(words, ["A", "B"], lambda _launcher: flavour) == expected


def test_spools_stay_where_no_profile_can_be_written(tmp_path: Path) -> None:
    text = HELLO.replace('print("hello")', 'import os; os.mkdir("profile.json")')
    ran = tailrace("profile", "--", *script(tmp_path, text), cwd=tmp_path).expect(1)
    assert "could not be written" in ran.err
    assert "noted down is kept: profile.json.spools" in ran.err
    # One of the connector and one of the system calls.
    assert len(list((tmp_path / "profile.json.spools").glob("*.spool"))) == 2


def test_spools_can_be_kept(tmp_path: Path) -> None:
    tailrace(
        "profile", "--keep-spools", "--", *script(tmp_path, HELLO), cwd=tmp_path
    ).expect(0)  # fmt: skip
    # One of the connector and one of the system calls.
    assert len(list((tmp_path / "profile.json.spools").glob("*.spool"))) == 2
