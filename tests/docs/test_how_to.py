# SPDX-License-Identifier: Apache-2.0
"""Pages that begin with a cure: both programs of a page print the same, commands do what it shows,
and the cure leaves nothing that `tailrace advise` would set."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shown_commands import Step, programs, steps
from tailrace_cli import SOURCE, environment

PAGES = SOURCE / "docs/how_to"
WITH_PROGRAMS = sorted(path.stem for path in PAGES.glob("*.md") if "# fast.py" in path.read_text())

# netCDF opens a variable anew for another cache; a profile has the cache of the first opening.
CACHE_SET_LATER = ("point_series_in_netcdf",)


def commands_of(page: str, folder: Path) -> tuple[list[Step], dict[str, str]]:
    """Of a page, and where they run: a folder with its programs."""
    tools = folder / "tools"
    tools.mkdir()
    launcher = "mpiexec --oversubscribe"
    for name, words in {
        "python": sys.executable,
        "tailrace": f"{sys.executable} -m tailrace",
    }.items():
        (tools / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (tools / name).chmod(0o755)
    for name, text in programs(page).items():
        (folder / name).write_text(text)
    shown = [Step(one.command.replace("mpiexec", launcher), one.lines) for one in steps(page)]
    return shown, environment(PATH=f"{tools}{os.pathsep}{os.environ['PATH']}", COLUMNS="400")


def check(step: Step, said: str) -> None:
    """Each line that a page shows is printed, wherever it is wrapped."""
    for line in step.lines:
        assert " ".join(line.split()) in " ".join(said.split()), f"{line}\n--- in:\n{said}"


def run(command: str, folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_there_are_pages() -> None:
    assert len(WITH_PROGRAMS) >= 4


@pytest.mark.parametrize("page", WITH_PROGRAMS)
def test_the_cure_does_the_same_and_leaves_nothing_to_set(page: str, tmp_path: Path) -> None:
    text = (PAGES / f"{page}.md").read_text()
    assert text.index("**The cure") < text.index("# fast.py") < text.index("# slow.py")
    shown, env = commands_of(text, tmp_path)
    if (tmp_path / "make.py").exists():
        run("python make.py", tmp_path, env)
    printed = []
    for program in ("slow.py", "fast.py"):
        printed.append(run(f"python {program}", tmp_path, env))
    assert printed[0] == printed[1]
    if page not in CACHE_SET_LATER:
        run("tailrace profile -o cured.json -- python fast.py", tmp_path, env)
        plan = json.loads(run("tailrace advise cured.json --json", tmp_path, env))["plan"]
        assert not any(entry.get("settings") for entry in plan.get("entries", [])), plan
    for step in shown:
        check(step, run(step.command, tmp_path, env))


def test_collective_writes_are_made_by_whom_the_page_says(tmp_path: Path) -> None:
    page = (PAGES / "slow_collective_writes.md").read_text()
    shown, env = commands_of(page, tmp_path)
    kernels = [step for step in shown if step.command.startswith("tailrace run")]
    assert len(kernels) == 2
    for step in kernels:
        check(step, run(step.command, tmp_path, env))


def test_each_line_of_the_table_for_ior_is_an_input_of_the_kernel(tmp_path: Path) -> None:
    """`tailrace run seism --dry-run` takes what the page maps IOR's options to."""
    page = (SOURCE / "docs/beside_other_tools.md").read_text()
    rows = re.findall(r"^\| `-[^|]*\| ([^|]*) \|", page, re.MULTILINE)
    words = {word for row in rows for word in re.findall(r"`(\w+(?:=[\w-]+)?)`", row)}
    shape = {"domain": "4x4x4", "processor": "4x1x1", "time": "2", "repeat": "5"}
    single = {"collective_write", "verify", "never_fill"}
    keys = {word.replace("=N", "=4096") for word in words if "=" in word or word in single}
    keys = {word for word in keys if word.split("=")[0] not in shape}
    assert {"format=posix-per-rank", "alignment=4096", "read=shuffled", "fsync=close"} <= keys
    given = " ".join(f"{key}={value}" for key, value in shape.items())
    _, env = commands_of(page, tmp_path)
    for key in sorted(keys):
        run(f"tailrace run seism --dry-run {given} {key}", tmp_path, env)
