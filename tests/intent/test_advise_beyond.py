# SPDX-License-Identifier: Apache-2.0
"""What a plan cannot do, on programs that are run; and the commands that advice says to type."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from mpi_programs import MPIEXEC
from own_namespace import not_run
from tailrace_cli import environment, tailrace

Json = dict[str, Any]
MIB = 1 << 20
ODD = 'it\'s "here" $x'


def script(folder: Path, text: str) -> Path:
    file = folder / "program.py"
    file.write_text(text)
    return file


def profiled(folder: Path, *command: str | Path, layers: str = "auto") -> Path:
    profile = folder / "profile.json"
    tailrace("profile", "--layers", layers, "-o", profile, "--", *command, cwd=folder).expect(0)
    return profile


def advice_of(*profiles: Path, **variables: str | None) -> list[Json]:
    own = {"PNETCDF_HINTS": None, **variables}
    plan: Json = tailrace("advise", "--json", *profiles, **own).expect(0).json["plan"]
    return list(plan.get("advice") or [])


def of_rule(rule: str, advice: list[Json]) -> Json:
    (one,) = [one for one in advice if rule in one["because"]["rule"].split(", ")]
    return one


def in_shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """As one types it: `tailrace` is the command of this build."""
    function = f'tailrace() {{ {shlex.quote(sys.executable)} -m tailrace "$@"; }}\n'
    return subprocess.run(["sh", "-c", function + command], cwd=cwd, env=environment(),
                          capture_output=True, text=True, timeout=100, check=False)  # fmt: skip


def argv_in_shell(command: str, name: str) -> list[str]:
    """What the shell gives to the program `name` of the command."""
    text = name + "() { printf '%s\\0' \"$@\"; }\n" + command
    ran = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
    return ran.stdout.split("\0")[:-1]


WRITES = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    made = file.create_dataset("t", (int(sys.argv[2]), 1 << 17), "f8", chunks=(1, 1 << 17))
    for row in range(made.shape[0]):
        made[row] = row
"""


def test_reduction_of_what_a_script_writes(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    folder.mkdir()
    program = script(tmp_path, WRITES)
    profile = profiled(folder, sys.executable, program, "out.h5", "80")
    found = of_rule("54", advice_of(profile))
    assert "80.0 MiB" in found["because"]["text"] or "80 MiB" in found["because"]["text"]
    assert "Lossless" in found["text"] and "Lossy" in found["text"]
    assert "32 bits halve them" in found["text"]
    (command,) = found["commands"]
    assert argv_in_shell(command, "tailrace") == [
        "repack", str(folder / "out.h5"), "--filters", "/t=shuffle,deflate=1", "--dry-run",
    ]  # fmt: skip
    before = (folder / "out.h5").stat().st_mtime_ns
    ran = in_shell(command, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (folder / "out.h5").stat().st_mtime_ns == before


READS = """
import sys, h5py
with h5py.File(sys.argv[1], "r") as file:
    sum(file["t"][row].sum() for row in range(file["t"].shape[0]))
"""


def test_in_situ_where_another_script_reads_it(tmp_path: Path) -> None:
    profiles = []
    for name, text in (("a", WRITES), ("b", READS)):
        folder = tmp_path / name
        folder.mkdir()
        program = script(folder, text)
        profiles.append(profiled(folder, sys.executable, program, tmp_path / "x.h5", "260"))
    found = of_rule("55", advice_of(*profiles))
    assert "by 1 other run" in found["because"]["text"]
    assert "in situ" in found["text"]
    assert all(one["because"]["rule"] != "55" for one in advice_of(profiles[0]))


TEXT = """
import os
handle = os.open("table.txt", os.O_CREAT | os.O_WRONLY | {flags})
for row in range(11000):
    os.write(handle, (("%23.16e " * 20) % ((row / 7,) * 20)).encode() + b"\\n")
"""


@pytest.mark.parametrize("flags", ["0", "os.O_APPEND"])
def test_another_format_for_numbers_as_text(tmp_path: Path, flags: str) -> None:
    program = script(tmp_path, TEXT.replace("{flags}", flags))
    profile = profiled(tmp_path, sys.executable, program, layers="posix")
    plan = tailrace("advise", "--json", profile).expect(0).json["plan"]
    held = [one for one in plan.get("held_back", []) if one["because"]["rule"] == "56"]
    if flags != "0":
        assert [one["guard"] for one in held] == ["append"]
        rules = [one["because"]["rule"] for one in plan["advice"]]
        assert rules == ["61"]  # a log: its lines are short, and no other format is for it
        return
    found = of_rule("56", plan["advice"])
    assert "11000 writes of 481 bytes on average to 1 plain file" in found["because"]["text"]
    assert "HDF5 or netCDF" in found["text"]


STEPS = """
import time, h5py, numpy as np
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
data = np.random.default_rng(rank).random(1 << 20)
with h5py.File(f"out.{rank}.h5", "w") as file:
    took_s = 0.3
    for step in range(5):
        time.sleep(max(took_s, 0.3))
        begun_s = time.monotonic()
        file.create_dataset(f"s{step}", data=data, chunks=(1 << 17,), compression="gzip")
        took_s = time.monotonic() - begun_s
"""


def test_an_io_server_for_ranks_that_compute_and_write(tmp_path: Path) -> None:
    if os.environ["TAILRACE_TEST_MPI"] == "mpich":
        not_run("needs an mpi4py for MPICH; its wheels are for the MPI that they find first")
    program = script(tmp_path, STEPS)
    profile = profiled(tmp_path, *MPIEXEC, "-n", "2", sys.executable, program)
    found = of_rule("57", advice_of(profile))
    facts = {one["name"]: one["value"] for one in found["because"]["evidence"]}
    assert facts["run.bytes_written"] == 80 * MIB
    assert facts["run.write_share"] >= 0.1 and facts["run.between_writes_share"] >= 0.1
    assert found["file"] == ""
    page = found["text"].rsplit("(", 1)[1].rstrip(")")
    assert (Path(os.environ["TAILRACE_SOURCE_DIR"]) / page).is_file()
    assert "the run: an I/O server" in tailrace("advise", profile).expect(0).out


def test_the_repack_that_is_advised_runs(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    folder.mkdir()
    data = np.arange(1 << 18, dtype="f8").reshape(512, 512)
    names = ["t", "a b", "k=v", "w*"]
    with h5py.File(folder / "in put.h5", "w") as file:
        for name in names:
            file.create_dataset(name, data=data, chunks=(64, 512), compression="gzip")
    program = script(tmp_path, """
import sys, h5py
with h5py.File(sys.argv[1], "r") as file:
    for name in file:
        for again in range(5):
            file[name][...]
""")  # fmt: skip
    profile = profiled(tmp_path, sys.executable, program, folder / "in put.h5")
    (command,) = of_rule("31", advice_of(profile))["commands"]
    copy = folder / "in put.plain.h5"
    assert argv_in_shell(command, "tailrace") == [
        "repack", str(folder / "in put.h5"), "--filters", "/a b=none", "--filters", "/k?v=none",
        "--filters", "/t=none", "--filters", "/w[*]=none", "-o", str(copy),
    ]  # fmt: skip
    ran = in_shell(command, tmp_path)
    assert ran.returncode == 0, ran.stderr
    with h5py.File(copy, "r") as file, h5py.File(folder / "in put.h5", "r") as old:
        for name in names:
            assert (file[name].compression, old[name].compression) == (None, "gzip")
            assert np.array_equal(file[name][...], data)


def test_the_repack_for_reads_names_the_file(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    folder.mkdir()
    with h5py.File(folder / "in.h5", "w") as file:
        file["table"] = np.zeros((4096, 512))
    program = script(tmp_path, """
import sys, h5py
with h5py.File(sys.argv[1], "r") as file:
    for column in range(40):
        file["table"][:, column]
""")  # fmt: skip
    profile = profiled(tmp_path, sys.executable, program, folder / "in.h5")
    (command,) = of_rule("75", advice_of(profile))["commands"]
    words = ["repack", str(folder / "in.h5"), "--profile", "profile.json", "--dry-run"]
    assert argv_in_shell(command, "tailrace") == words
    ran = in_shell(command, tmp_path)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("path", "folder"),
    [(f"/lus/{ODD}/f.h5", f"/lus/{ODD}"), ("f.h5", "."), ("/f.h5", "/"), ("-d/f.h5", "./-d")],
)
def test_the_shell_understands_the_striping(tmp_path: Path, path: str, folder: str) -> None:
    file = {
        "path": path, "processes": "0-31", "lustre": {"stripe_count": 1, "stripe_bytes": MIB},
        "hdf5": {"opens": 32, "creates": 32, "mpio": True, "communicator_size": 32},
        "mpiio": {"writes": {"collective": 100, "bytes": 2 << 30}}, "datasets": [],
    }  # fmt: skip
    alone = {
        "path": path, "processes": "0", "lustre": {"stripe_count": 8, "stripe_bytes": MIB},
        "posix": {"writes": {"calls": 3, "bytes": 3 * MIB}}, "datasets": [],
    }  # fmt: skip
    wanted = {
        "47": (file, ["setstripe", "-c", "8", "-S", "1024k", folder]),
        "48": (alone, ["setstripe", "-c", "1", folder]),
    }
    for rule, (one, words) in wanted.items():
        profile = tmp_path / f"{rule}.json"
        profile.write_text(json.dumps({
            "schema": "tailrace-profile/1", "run": {"ranks": 32}, "files": [one],
            "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
        }))  # fmt: skip
        (command,) = of_rule(rule, advice_of(profile))["commands"]
        quoted = shlex.quote(folder).replace("'\"'\"'", "'\\''")  # the same, in another style
        assert command == f"lfs {' '.join(words[:-1])} {quoted}"
        assert argv_in_shell(command, "lfs") == words


def pnetcdf(folder: Path) -> Path:
    profile = folder / "profile.json"
    profile.write_text(json.dumps({
        "schema": "tailrace-profile/1", "run": {"ranks": 1},
        "files": [{"path": "/d/f.nc", "processes": "0", "datasets": [],
                   "pnetcdf": {"creates": 1, "redefinitions": 3}}],
        "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
    }))  # fmt: skip
    return profile


def test_hints_of_the_environment_stay_and_advice_says_so(tmp_path: Path) -> None:
    profile, plan = pnetcdf(tmp_path), tmp_path / "plan.json"
    ours = "nc_header_align_size=65536"
    assert advice_of(profile) == []
    assert advice_of(profile, PNETCDF_HINTS=ours) == []
    own = "nc_header_align_size=512;cb_nodes=1"
    found = of_rule("49", advice_of(profile, PNETCDF_HINTS=own))
    assert "stays: nc_header_align_size=512 against nc_header_align_size=65536" in found["text"]
    assert found["commands"] == [f"export PNETCDF_HINTS='{own}'"]
    found = of_rule("49", advice_of(profile, PNETCDF_HINTS="cb_nodes=1"))
    assert f"stays: without {ours}" in found["text"]
    assert found["commands"] == [f"export PNETCDF_HINTS='cb_nodes=1;{ours}'"]
    tailrace("advise", profile, "-o", plan, PNETCDF_HINTS=own).expect(0)
    kept = tailrace("env", plan, PNETCDF_HINTS=own).expect(0)
    assert "PNETCDF_HINTS" not in kept.out
    assert "PNETCDF_HINTS stays: the environment has its own" in " ".join(kept.err.split())
    put = tailrace("env", plan, PNETCDF_HINTS=None).expect(0)
    assert put.out == f"export PNETCDF_HINTS={ours}\n"
