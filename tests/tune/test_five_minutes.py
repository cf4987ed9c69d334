# SPDX-License-Identifier: Apache-2.0
"""The page "Tune your program in five minutes" says what happens: its programs and commands are
run, and each line that it shows is printed, with other numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_programs import BUILD
from shown_commands import Step, programs, steps, without_numbers
from tailrace_cli import SOURCE, environment

PAGE = SOURCE / "docs/user/tune_in_five_minutes.md"
ATTEMPTS = 3  # a machine that is at work may differ from itself: "no verdict" is an answer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a user, with the commands of the page."""
    folder = tmp_path / "home"
    tools = tmp_path / "bin"
    folder.mkdir()
    tools.mkdir()
    libraries = subprocess.run(
        ["ldd", BUILD / "tests/bin/tune_program"], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"=> (/\S+)/libhdf5\.so", libraries)
    assert found is not None
    lib = found[1]
    words = {
        "python": f'exec {sys.executable} "$@"',
        "tailrace": f'exec {sys.executable} -m tailrace "$@"',
        # That of HDF5 as it is here; what the page says of it is one option.
        "h5cc": f'shift; exec mpicc -O2 "$@" -I{lib}/../include -L{lib} -Wl,-rpath,{lib} -lhdf5',
    }
    for name, text in words.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    return folder


def run(step: Step, home: Path) -> str:
    env = environment(PATH=f"{home.parent / 'bin'}{os.pathsep}{os.environ['PATH']}", COLUMNS="400")
    for _ in range(ATTEMPTS):
        ran = subprocess.run(
            step.command, shell=True, cwd=home, env=env, capture_output=True, text=True,
            timeout=280, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{step.command}\n{ran.stdout}\n{ran.stderr}"
        if not ran.stdout.startswith("No verdict"):
            break
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("program", ["rows.py", "columns.c"])
def test_the_page_says_what_happens(program: str, home: Path) -> None:
    page = PAGE.read_text()
    part = next(part for part in page.split("\n## ") if program in programs(part))
    (home / program).write_text(programs(part)[program])
    typed = steps(part)
    assert len(typed) >= 4
    assert any(step.command.startswith("tailrace tune") for step in typed)
    for step in typed:
        said = without_numbers(run(step, home), home)
        for line in step.lines:
            assert without_numbers(line, Path("/home/me")) in said, f"{line}\n--- in:\n{said}"
