# SPDX-License-Identifier: Apache-2.0
"""An environment into which pip installs the package, on a machine that has hardly anything."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from own_namespace import not_run

SOURCE = Path(__file__).resolve().parents[3]
_triplet = f"{platform.machine()}-linux-gnu"  # Debian's Python asks for its compilers by name
COMPILER = (
    "cc", "c++", "gcc", "g++", "as", "ld", "ar", "ranlib", f"{_triplet}-gcc", f"{_triplet}-g++"
)  # fmt: skip
_nobody = 65534
_same_version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"


@dataclass(frozen=True)
class Person:
    """Who is not root and cannot write at home, and the Python that they may start."""

    python: str
    user: int | None  # None: who runs the tests, which is not root

    def runs_as(self) -> dict[str, Any]:
        """Arguments of subprocess.run."""
        if self.user is None:
            return {}
        return {"user": self.user, "group": self.user, "extra_groups": []}

    def may_enter(self, folder: Path) -> bool:
        try:
            words = [self.python, "-c", _same_version]
            return not subprocess.run(words, cwd=folder, **self.runs_as()).returncode
        except OSError:  # they are below a folder that is root's alone
            return False

    def folder(self) -> Path:
        """A new one, short of name, in which they may write."""
        made = Path(tempfile.mkdtemp(prefix="tr.", dir="/tmp"))
        if self.user is not None:
            os.chown(made, self.user, self.user)
        return made


def somebody() -> Person:
    """Whoever runs the tests, unless that is root."""
    if os.geteuid() != 0:
        return Person(sys.executable, None)
    for python in (sys.executable, "/usr/bin/python3"):
        person = Person(python, _nobody)
        if person.may_enter(Path("/")):
            return person
    version = "{}.{}".format(*sys.version_info)
    not_run(f"needs a Python {version} that other users than root may start, in /usr/bin say")
    raise AssertionError


class Place:
    """A fresh environment, and a PATH with nothing of MPI on it, and of compilers only `tools`."""

    def __init__(
        self, folder: Path, tools: tuple[str, ...] = (), seconds: float = 500,
        person: Person | None = None,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.seconds = seconds
        self.person = person
        python = person.python if person else sys.executable
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.add_tools("sh", "git", "uname", "ldd", "cat", "sed", *tools)
        kept = {"HOME", "PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE", "SSL_CERT_FILE",
                "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "TMPDIR",
                "TAILRACE_CACHE", "XDG_CACHE_HOME"}  # fmt: skip
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment |= {"PATH": f"{self.bin}:{self.tools}", "COLUMNS": "80"}

    def add_tools(self, *names: str) -> None:
        for name in names:
            for place in ("/usr/bin", "/bin"):
                if Path(place, name).exists() and not (self.tools / name).exists():
                    (self.tools / name).symlink_to(Path(place, name))

    def install(self) -> None:
        self.pip(SOURCE)

    def install_cached(self) -> None:
        """With the compiler cache that `make` fills, which wants the headers of what builds the
        package below the clone: pip's own isolated environment has another name each time."""
        project = tomllib.loads((SOURCE / "pyproject.toml").read_text())
        self.pip(*project["build-system"]["requires"], "cmake", "ninja")
        self.pip(
            "--no-build-isolation", f"--config-settings=build-dir={self.bin.parent / 'wheel'}",
            "--config-settings=cmake.define.TAILRACE_COMPILER_CACHE=ON", SOURCE,
        )  # fmt: skip

    def pip(self, *words: str | Path) -> None:
        """As who runs the tests."""
        run = subprocess.run(
            [self.bin / "pip", "install", "--disable-pip-version-check", *words],
            env=self.environment, capture_output=True, text=True, timeout=self.seconds,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr

    def call(
        self, program: str, *words: str | Path, folder: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """As the person of this place, whose home is not to be written."""
        environment = self.environment | more
        who: dict[str, Any] = {}
        if self.person is not None:
            home = self.folder / "home"
            home.mkdir(mode=0o555, exist_ok=True)
            environment |= {"HOME": str(home), "TMPDIR": str(folder or "/tmp")}
            who = self.person.runs_as()
        return subprocess.run(
            [self.bin / program, *words], env=environment, capture_output=True, text=True,
            timeout=self.seconds, cwd=folder or self.bin.parent, **who,
        )  # fmt: skip
