# SPDX-License-Identifier: Apache-2.0
"""Ranks on several nodes: after each run every node syncs. The nodes are imitated: a daemon of
Open MPI each, with a host name of its own."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from mpi_programs import BUILD, MPIEXEC
from own_namespace import not_run, unshare

from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import nodes, recording
from tailrace.tune.measurement import Runner, Setting

PROGRAM = BUILD / "tests/bin/tune_program"
SYNC = ["sync", "--file-system", "/data"]


def executable(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mpiexec -n 4 ./app in.h5", "mpiexec -n 4 SYNC"),
        ("mpirun --oversubscribe ./app", "mpirun --oversubscribe SYNC"),
        ("srun -N 2 -n 4 ./app -n 3", "srun -N 2 -n 4 SYNC"),
        ("mpiexec -x A=1 --mca plm_rsh_agent ./agent -H a:2,b:2 ./app",
         "mpiexec -x A=1 --mca plm_rsh_agent ./agent -H a:2,b:2 SYNC"),
        ("mpiexec -n 1 ./app a : -n 3 ./app b", "mpiexec -n 1 SYNC : -n 3 SYNC"),
        ("mpiexec -n 2 sh -c ./app", "mpiexec -n 2 SYNC"),
        ("mpiexec -n 2 ./wrap", "mpiexec -n 2 SYNC"),
        ("./wrap ./app", ""),
        ("mpiexec --version", ""),
    ],
)  # fmt: skip
def test_the_launcher_starts_a_sync_where_it_starts_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("app", "agent", "wrap"):
        executable(tmp_path / name, "")
    programs = {str(tmp_path / "app")}
    words = nodes.words_to_sync(command.split(), programs, ["/data"])
    assert words == expected.replace("SYNC", " ".join(SYNC)).split()


def test_a_shim_of_python_is_known_by_its_name(tmp_path: Path) -> None:
    shim = executable(tmp_path / "python", "")
    command = ["mpiexec", "--oversubscribe", str(shim), "script.py"]
    words = nodes.words_to_sync(command, {"/opt/3.11/bin/python3.11"}, ["/data"])
    assert words == ["mpiexec", "--oversubscribe", *SYNC]


def test_each_file_system_is_named_once(tmp_path: Path) -> None:
    files = [tmp_path / "a/x", tmp_path / "gone/y", Path("/proc/self/status")]
    (tmp_path / "a").mkdir()
    assert nodes.file_systems(files, tmp_path) == [str(tmp_path), "/proc/self"]


def test_every_node_syncs_and_its_time_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.environ.get("TAILRACE_TEST_MPI") != "openmpi":
        not_run("needs Open MPI, whose daemons imitate nodes")
    home, root, seen = tmp_path / "home", tmp_path / "scratch", tmp_path / "seen"
    for folder in (home, seen):
        folder.mkdir()
    own_name = f'host=$1; shift; exec {" ".join(unshare("-u"))} sh -c "hostname $host; $*"'
    agent = executable(tmp_path / "agent", own_name)
    noting = f'echo "$@" >> {seen}/$(hostname); exec {shutil.which("sync")} "$@"'
    who_synced_what = executable(tmp_path / "sync", noting)
    monkeypatch.setattr(nodes, "sync", (str(who_synced_what), "--file-system"))
    monkeypatch.setenv("OMPI_MCA_plm", "rsh")
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", str(agent))

    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    words = [*MPIEXEC, "-H", "nodea:2,nodeb:2", "-n", "4", str(PROGRAM), "out.h5", "ranks"]
    runner = Runner(Setting(words, home, root), ground)
    recorded = recording.record_run(Setting(words, home, root), ground, 60)
    assert recorded.profile["run"]["nodes"] == 2
    runner.programs_on_nodes = nodes.programs_of(recorded.profile)
    measured = runner.run("default", None, 60)
    assert not measured.outcome.code
    assert {path.name for path in seen.iterdir()} == {"nodea", "nodeb"}
    for path in seen.iterdir():
        assert path.read_text().split("\n")[:2] == [f"--file-system {ground.folder}"] * 2
    assert measured.sync_s > 0.01, "the launcher's start is part of it"
    assert runner.notes == []

    executable(who_synced_what, "exit 7")
    runner.run("default-2", None, 60)
    assert "synced from this node only" in runner.notes[0]
    assert "exit code 7" in runner.notes[0]
