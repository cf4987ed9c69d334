# SPDX-License-Identifier: Apache-2.0
"""An environment into which pip installs the package, on a machine that has hardly anything."""

from __future__ import annotations

import os
import subprocess
import tomllib
import venv
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
COMPILER = ("cc", "c++", "gcc", "g++", "as", "ld", "ar", "ranlib")


class Place:
    """A fresh environment, and a PATH with nothing of MPI on it, and of compilers only `tools`."""

    def __init__(self, folder: Path, tools: tuple[str, ...] = (), seconds: float = 500) -> None:
        self.bin = folder / "venv" / "bin"
        self.seconds = seconds
        venv.create(folder / "venv", with_pip=True, clear=True)
        self.tools = folder / "tools"
        self.tools.mkdir(exist_ok=True)
        for name in ("sh", "git", "uname", "ldd", "cat", "sed", *tools):
            for place in ("/usr/bin", "/bin"):
                if Path(place, name).exists() and not (self.tools / name).exists():
                    (self.tools / name).symlink_to(Path(place, name))
        kept = {"HOME", "PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE", "SSL_CERT_FILE",
                "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "TMPDIR",
                "TAILRACE_CACHE", "XDG_CACHE_HOME"}  # fmt: skip
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment |= {"PATH": f"{self.bin}:{self.tools}", "COLUMNS": "80"}

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
        run = self.call("pip", "install", "--disable-pip-version-check", *words)
        assert run.returncode == 0, run.stdout + run.stderr

    def call(
        self, program: str, *words: str | Path, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / program, *words], env=self.environment, capture_output=True, text=True,
            timeout=self.seconds, cwd=folder or self.bin.parent,
        )  # fmt: skip
