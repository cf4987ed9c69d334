# SPDX-License-Identifier: Apache-2.0
"""`tailrace recover`: what is whole after a job that was killed, and what becomes of its parts."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import netCDF4
import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components
from tailrace_cli import called

TROUBLE = BUILD / "tests/bin/tailrace_server_trouble"


@pytest.fixture
def killed(tmp_path):
    """A folder in which a job has finished good.nc4, and is killed while it writes another."""
    folder = tmp_path / "out"
    folder.mkdir()
    environment = {**os.environ, **mpi_components()[0][1]}
    command = [str(word) for word in [*MPIEXEC, "-n", 4, TROUBLE]]
    servers = ["--npes_output_server", "1"]
    subprocess.run([*command, "none", *servers], cwd=folder, env=environment, check=True,
                   timeout=60, stdout=subprocess.DEVNULL)  # fmt: skip
    (folder / "good.nc4").rename(folder / "before.nc4")
    with subprocess.Popen([*command, "long_pause", *servers], cwd=folder, env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as job:  # fmt: skip
        part = folder / "good.nc4.part"
        for _ in range(200):
            if part.exists():
                break
            time.sleep(0.05)
        running = called("recover", folder, "--remove", "--finish", "--json").expect(0).json
        os.killpg(job.pid, signal.SIGKILL)
        job.wait(timeout=30)
    for _ in range(200):  # the ranks end a moment later than their launcher
        if called("recover", folder, "--json").json["files"][1]["state"] != "being written":
            break
        time.sleep(0.05)
    return folder, {one["path"].rsplit("/", 1)[1]: one for one in running["files"]}


def test_parts_of_a_killed_job_are_told_from_what_is_whole(killed):
    folder, running = killed
    assert running["good.nc4.part"]["state"] == "being written"
    assert running["good.nc4.part"]["done"] == ""
    text = called("recover", folder).out
    assert "before.nc4: whole" in text
    assert "5 datasets, 0 to 4 records" in text
    assert "good.nc4.part: damaged" in text or "good.nc4.part: empty" in text
    called("recover", folder, "--remove").expect(0)
    assert [path.name for path in folder.iterdir()] == ["before.nc4"]


def test_a_part_that_can_be_read_gets_its_name_and_replaces_nothing(tmp_path, killed):
    folder, _ = killed
    shutil.copy(folder / "before.nc4", tmp_path / "one.nc4.part")
    shutil.copy(folder / "before.nc4", tmp_path / "two.nc4.part")
    for name in ("one", "two"):
        (tmp_path / f"{name}.nc4.part.lock").touch()
    (tmp_path / "two.nc4").write_bytes(b"another")
    shutil.rmtree(folder)
    done = called("recover", tmp_path, "--finish")
    assert "one.nc4.part: readable" in done.out
    assert "there is a file of the final name" in done.err
    assert done.code == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "one.nc4",
        "two.nc4",
        "two.nc4.part",
        "two.nc4.part.lock",
    ]
    assert (tmp_path / "two.nc4").read_bytes() == b"another"


def test_a_folder_that_is_none_is_named(tmp_path):
    assert "it is no folder" in called("recover", tmp_path / "no").expect(2).err


def test_parts_of_others_and_of_the_classic_format_stay(tmp_path):
    """A classic file does not say if it is complete; a part without a lock may be of a browser."""
    with netCDF4.Dataset(tmp_path / "whole.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f8", ("x",))[:] = 1
    shutil.copy(tmp_path / "whole.nc", tmp_path / "killed.nc.part")
    (tmp_path / "killed.nc.part.lock").touch()
    (tmp_path / "download.part").write_bytes(b"\x89HDF\r\n\x1a\nhalf of it")
    (tmp_path / "torn.nc4.part").write_bytes(b"half of it")
    (tmp_path / "torn.nc4.part.lock").touch()
    found = called("recover", tmp_path, "--remove", "--finish", "--json").expect(0).json["files"]
    assert {Path(one["path"]).name: (one["state"], one["done"]) for one in found} == {
        "download.part": ("of others", ""),
        "killed.nc.part": ("unreadable here", ""),
        "torn.nc4.part": ("damaged", "removed"),
        "whole.nc": ("whole", ""),
    }
    assert {path.name for path in tmp_path.iterdir()} == {
        "download.part",
        "killed.nc.part",
        "killed.nc.part.lock",
        "whole.nc",
    }
