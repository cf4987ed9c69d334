# SPDX-License-Identifier: Apache-2.0
"""What a plan cannot do comes as advice, with commands that a shell takes as they stand."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from tailrace_cli import environment, tailrace

Json = dict[str, Any]


def profile_of(file: Json, **run: Any) -> Json:
    return {
        "schema": "tailrace-profile/1",
        "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
        "run": {"ranks": 1, "processes": [{"id": 0, "hdf5_version": "2.2.0"}], **run},
        "files": [{"processes": "0", **file}],
    }


def advice_of(folder: Path, profile: Json, *options: str) -> dict[str, Json]:
    """By the rule."""
    (folder / "p.json").write_text(json.dumps(profile))
    tailrace("advise", "p.json", "-o", "plan.json", *options, cwd=folder).expect(0)
    plan = json.loads((folder / "plan.json").read_text())
    return {one["because"]["rule"]: one for one in plan.get("advice", [])}


def field(**more: Any) -> Json:
    written = {"calls": 128, "bytes": 128 << 20, "elapsed_s": 12.0}
    return {
        "path": "/t", "interface": "hdf5", "processes": "0", "creates": 1, "layout": "contiguous",
        "dims": [1 << 24], "elements": 1 << 24, "type": {"class": "float", "bytes": 8},
        "writes": written, **more,
    }  # fmt: skip


HDF5 = {"opens": 1, "creates": 1}


def test_fewer_bytes(tmp_path: Path) -> None:
    plain = {"path": "/d/f.h5", "hdf5": HDF5, "datasets": [field()]}
    told = advice_of(tmp_path, profile_of(plain))["54"]
    assert told["because"]["text"] == (
        "128 MiB of floating-point numbers of 8 bytes are written as they are"
    )
    assert "zfp" in told["text"] and "single precision" in told["text"]
    packed = field(filters=[{"id": 1, "name": "deflate", "values": [1]}], layout="chunked",
                   chunk=[1 << 20])  # fmt: skip
    counts = field(type={"class": "integer", "bytes": 8})
    for other in (packed, counts):
        assert "54" not in advice_of(tmp_path, profile_of({**plain, "datasets": [other]}))


def test_no_file_at_all(tmp_path: Path) -> None:
    """Only where the file is not to last: declared scratch here."""
    back = field(reads={"calls": 64, "bytes": 64 << 20}, read_after_write={"any": True})
    file = {"path": "/d/f.h5", "hdf5": HDF5, "datasets": [back]}
    scratch = {
        **file,
        "declared": [{"from": "property_list", "intents": {"reliability": "scratch"}}],
    }
    assert "55" not in advice_of(tmp_path, profile_of(file))
    told = advice_of(tmp_path, profile_of(scratch))
    assert "128 MiB are written and 64 MiB read back" in told["55"]["because"]["text"]


def test_another_format(tmp_path: Path) -> None:
    small = {"calls": 40000, "bytes": 40000 * 60}
    text = {"path": "/d/out.txt", "posix": {"opens": 1, "writes": small}}
    told = advice_of(tmp_path, profile_of(text))["56"]
    assert told["because"]["text"] == "40000 writes of 60 bytes without a library for data"
    assert "HDF5 or netCDF" in told["text"]
    hdf5 = {**text, "hdf5": HDF5, "datasets": []}
    assert "56" not in advice_of(tmp_path, profile_of(hdf5))


def test_an_io_server(tmp_path: Path) -> None:
    file = {"path": "/d/f.h5", "hdf5": HDF5, "datasets": [field()]}
    told = advice_of(tmp_path, profile_of(file, ranks=4, elapsed_s=10.0))["57"]
    assert told["because"]["text"] == "of the time of 4 ranks 30 % is spent in writes"
    assert "I/O server" in told["text"]
    for elapsed_s in (100.0, 3.1):  # little to hide; nothing to hide it behind
        assert "57" not in advice_of(tmp_path, profile_of(file, ranks=4, elapsed_s=elapsed_s))


def command_of(told: Json) -> list[str]:
    (command,) = told["commands"]
    return shlex.split(command)


def test_commands_for_lustre_name_the_folder(tmp_path: Path) -> None:
    lustre = {"stripe_count": 8, "stripe_bytes": 1 << 20}
    systems = [{"folder": "/", "type": "lustre", "block_bytes": 1 << 20}]
    for path, folder in (("/s c/it's $1/f.h5", "/s c/it's $1"), ("/f.h5", "/"), ("f.h5", ".")):
        file = {"path": path, "hdf5": HDF5, "datasets": [field()], "lustre": lustre}
        told = advice_of(tmp_path, profile_of(file, ranks=32, file_systems=systems))
        if path.startswith("/"):
            assert command_of(told["48"]) == ["lfs", "setstripe", "-c", "1", folder]
    large = {"collective": 1000, "bytes": 2 << 30}
    shared = {"path": "/s c/it's $1/f.h5", "processes": "0-31", "lustre": {**lustre,
              "stripe_count": 1}, "mpiio": {"collective_opens": 32, "communicator_size": 32,
              "writes": large}}  # fmt: skip
    told = advice_of(tmp_path, profile_of(shared, ranks=32, file_systems=systems))
    assert command_of(told["47"]) == ["lfs", "setstripe", "-c", "8", "-S", "1024k", "/s c/it's $1"]


WRITE_AND_READ = """
import h5py, numpy as np
with h5py.File({name!r}, "w") as f:
    f.create_dataset("x y", data=np.arange(300000.0), chunks=(10000,), compression="gzip")
"""
READ = """
import h5py
with h5py.File({name!r}, "r") as f:
    for _ in range(5): f["x y"][...]
"""


def test_the_command_for_a_copy_runs_as_it_stands(tmp_path: Path) -> None:
    name = str(tmp_path / "a b's $HOME.h5")
    subprocess.run([sys.executable, "-c", WRITE_AND_READ.format(name=name)], check=True)
    tailrace("profile", "-o", "read.json", "--", sys.executable, "-c", READ.format(name=name),
             cwd=tmp_path).expect(0)  # fmt: skip
    profile = json.loads((tmp_path / "read.json").read_text())
    (command,) = advice_of(tmp_path, profile)["31"]["commands"]
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), check=False,
                         capture_output=True, text=True, timeout=60)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    with h5py.File(f"{name}.for_reading") as file:
        assert file["x y"].compression is None
        np.testing.assert_array_equal(file["x y"][...], np.arange(300000.0))
