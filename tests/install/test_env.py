# SPDX-License-Identifier: Apache-2.0
"""env.sh: in bash and dash, from any folder, twice the same as once."""

import os
import subprocess

import pytest
from conftest import BUILD

ENV = BUILD / "env.sh"
SHOW = 'echo "$PATH|$LD_LIBRARY_PATH|$PYTHONPATH|$TAILRACE_HOME"'
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}


def shell(name: str, script: str, **more: str) -> str:
    done = subprocess.run(
        [name, "-euc", script],
        env=CLEAN | more,
        cwd="/",
        text=True,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["bash", "dash", "sh"])
class TestEnv:
    def test_programs_and_package_are_found(self, name: str) -> None:
        script = f". '{ENV}'; command -v tailrace-seism; command -v tailrace; command -v python"
        seism, command, python = shell(name, script).splitlines()
        assert seism == str(BUILD / "bin" / "tailrace-seism")
        assert command == str(BUILD / "bin" / "tailrace")
        assert python
        assert shell(name, f". '{ENV}'; python -c 'import tailrace; print(tailrace.__name__)'")

    def test_twice_is_once(self, name: str) -> None:
        once = shell(name, f". '{ENV}'; {SHOW}")
        twice = shell(name, f". '{ENV}'; . '{ENV}'; {SHOW}")
        assert once == twice
        assert once.count(str(BUILD / "bin")) == 1

    def test_what_was_there_stays(self, name: str) -> None:
        text = shell(name, f". '{ENV}'; {SHOW}", LD_LIBRARY_PATH="/mine", PYTHONPATH="/own")
        assert text.split("|")[1].endswith(":/mine")
        assert text.split("|")[2].endswith(":/own")

    def test_nothing_of_its_own_is_left(self, name: str) -> None:
        names = shell(name, f". '{ENV}'; set").splitlines()
        assert not [
            line for line in names if line.startswith(("tailrace_prepend", "tailrace_value"))
        ]
