# SPDX-License-Identifier: Apache-2.0
"""The installed tree, made once per run in a fresh folder and moved before it is used."""

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
LAUNCHER = os.environ["TAILRACE_TEST_MPIEXEC"].split()


def call(*command: object, **options: object) -> str:
    """The output of a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,  # a wheel is compiled
        **options,
    )
    assert done.returncode == 0, f"{' '.join(words)}: status {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installed in one place and moved to another: nothing may depend on where it was."""
    first = tmp_path_factory.mktemp("installed") / "first"
    call(SOURCE / "cmake/setup/install.sh", BUILD, first)
    moved = first.with_name("moved here")
    first.rename(moved)
    return moved


@pytest.fixture(scope="session")
def clean_environment() -> dict[str, str]:
    """Without what the build tree put on the paths."""
    paths = {"LD_LIBRARY_PATH", "PYTHONPATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH"}
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in paths and not name.startswith("TAILRACE_")
    }
    parts = environment["PATH"].split(":")
    environment["PATH"] = ":".join(part for part in parts if part != str(BUILD / "bin"))
    return environment
