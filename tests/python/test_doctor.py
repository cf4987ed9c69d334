# SPDX-License-Identifier: Apache-2.0
"""What the probes make of what they find."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import h5py
import pytest
from records import a_run, written
from tailrace_cli import tailrace

from tailrace.cli.app import _commands
from tailrace.doctor import commands
from tailrace.doctor import examine as room
from tailrace.doctor.libraries import hdf5_settings
from tailrace.doctor.model import Section
from tailrace.doctor.mpi import components
from tailrace.doctor.places import mount_of

INFO = (
    "mca:io:base:param:io:value:\n"
    "mca:io:romio321:param:io_romio321_priority:value:10\n"
    "mca:io:romio321:param:io_romio321_delete_priority:value:10\n"
    "mca:io:ompio:param:io_ompio_priority:value:30\n"
)
MOUNTS = r"""22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:25 / /dev/shm rw,nosuid - tmpfs tmpfs rw
31 22 0:40 / /work\040space rw - lustre mgs@tcp:/fs rw
32 31 0:41 / /work\040space/home rw - nfs4 server:/home rw
"""
KEYS = {"commands", "programs", "mpi", "hdf5", "netcdf", "place", "python", "recording"}


def test_components_and_their_priorities() -> None:
    assert components(INFO) == {"romio321": 10, "ompio": 30}


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/", "ext4"), ("/dev/shm/x", "tmpfs"), ("/work space/a", "lustre"),
     ("/work space/home/me", "nfs4"), ("/work spaces", "ext4")],
)  # fmt: skip
def test_the_deepest_mount_counts(folder: str, kind: str) -> None:
    mount = mount_of(Path(folder), MOUNTS)
    assert mount is not None and mount.kind == kind


def test_settings_within_a_library(tmp_path: Path) -> None:
    text = b"SUMMARY OF THE HDF5 CONFIGURATION\n   HDF5 Version: 2.2.0\n  Parallel HDF5: ON\n"
    (tmp_path / "libhdf5.so").write_bytes(b"\x7fELF\0" + text + b"\0after: no\n")
    assert hdf5_settings(tmp_path / "libhdf5.so") == {
        "HDF5 Version": "2.2.0", "Parallel HDF5": "ON",
    }  # fmt: skip
    assert hdf5_settings(tmp_path / "absent") == {}


def test_a_failing_probe_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_folder: Path) -> Section:
        raise RuntimeError("odd machine")

    monkeypatch.setattr(room, "place_section", broken)
    found = {section.key: section for section in room.examine(Path("/"))}
    assert set(found) == KEYS
    assert "odd machine" in found["place"].findings[0].value


def test_a_machine_with_nothing(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path), "TAILRACE_BUILD_DIR": None, "TAILRACE_BIN": None}
    ran = tailrace("doctor", "--json", tmp_path / "absent", cwd=tmp_path, **nothing).expect(0)
    found = ran.json
    assert set(found["sections"]) == KEYS
    assert "Programs: tailrace-seism" in found["missing"]
    assert "make build" in found["sections"]["programs"]["tailrace-seism"]["remedy"]
    assert "openmpi-bin" in found["sections"]["mpi"]["library"]["remedy"]
    assert found["sections"]["place"]["file system"]["state"] == "missing"
    assert not any(one.startswith("Commands") for one in found["missing"])
    text = tailrace("doctor", cwd=tmp_path, **nothing).expect(0).out
    assert re.search(r"^  MISSING run +not ready: it needs the kernels' programs", text, re.M)
    assert max(len(line.rstrip()) for line in text.splitlines()[:-1]) <= 80


def test_all_commands_are_told_of() -> None:
    assert set(commands.COMMANDS) == set(_commands) - {"doctor"}


SEISM = ("seism", "processor=1x1x1", "domain=2x2x2", "time=1")
TRUE = shutil.which("true") or ""  # PATH is another one then
CALLS = {
    "tune": ("--", TRUE), "advise": ("p.json",), "apply": ("plan.json", "--", TRUE),
    "repack": ("a.h5", "-o", "b.h5", "--chunk", "x=1"), "profile": ("--", TRUE),
    "intents": ("p.json",), "rules": (), "run": SEISM, "sweep": (*SEISM, "format=hdf5,posix"),
    "scale": ("seism", "--ranks", "1,2", *SEISM[1:]), "suite": ("quick",),
    "compare": ("r.jsonl", "s.jsonl"), "report": ("r.jsonl",), "submit": SEISM,
    "verify": ("a.h5",) * 2, "recover": (".",), "env": ("plan.json",),
}  # fmt: skip


def test_a_command_that_is_not_ready_says_so_itself(tmp_path: Path) -> None:
    """And one that is ready works: where neither programs nor compiled parts are."""
    nothing = {"PATH": str(tmp_path / "empty"), "TAILRACE_BUILD_DIR": None, "TAILRACE_BIN": None}
    (tmp_path / "empty").mkdir()
    for file in ("r.jsonl", "s.jsonl"):
        written(tmp_path / file, a_run((0.5, 0.6)))
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["x"] = [1]
    plan = {"schema": "tailrace-plan/1", "origin": {"version": "0"}, "entries": []}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (tmp_path / "p.json").write_text('{"schema": "tailrace-profile/1"}')
    told = tailrace("doctor", "--json", cwd=tmp_path, **nothing).expect(0).json
    for name, one in told["sections"]["commands"].items():
        ran = tailrace(name, *CALLS[name], cwd=tmp_path, **nothing)
        missing = 125 if name in {"profile", "apply"} else 4
        assert (ran.code == missing) is not one["ready"], f"{name}: {ran.err}"
