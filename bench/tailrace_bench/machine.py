# SPDX-License-Identifier: Apache-2.0
"""The machine and the build that are measured: programs, folders, quiet."""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from tailrace import native


class Machine:
    def __init__(self, build: Path, memory_folder: Path, disk_folder: Path, ranks: int) -> None:
        self.build = build.resolve()
        self.ranks = ranks
        self.folders = {"tmpfs": memory_folder, "disk": disk_folder}
        disk_folder.mkdir(parents=True, exist_ok=True)
        self.seism = self.build / "bin" / "tailrace-seism"
        if not self.seism.exists():
            sys.exit(f"bench: error: {self.seism} is not there; build it first (make build)")
        self.cache = self._cmake_cache()
        self.mpiexec = self.cache.get("MPIEXEC_EXECUTABLE", "mpiexec")
        self.romio = self.cache.get("TAILRACE_ROMIO_COMPONENT", "")
        self.core = self._core()

    def _cmake_cache(self) -> dict[str, str]:
        values = {}
        for line in (self.build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
            name, typed, value = line.partition("=")
            if typed and ":" in name and not name.startswith(("#", "//")):
                values[name.split(":")[0]] = value
        return values

    def _core(self) -> ModuleType:
        """The extension, which says what was built; of this build where none is installed."""
        os.environ.setdefault("TAILRACE_BUILD_DIR", str(self.build))
        found = native.core()
        if found is not None:
            return found
        sys.exit(f"bench: error: no extension module in {self.build}/bindings/python/tailrace")

    def environment(self, io: str) -> dict[str, str]:
        """For a run with this MPI-IO implementation; nothing of the caller's that changes I/O."""
        ours = ("OMPI_MCA_", "ROMIO_", "HDF5_", "H5FD_", "TAILRACE_")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        environment |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
        }
        if io == "romio":
            environment["OMPI_MCA_io"] = self.romio
        return environment

    def fresh_folder(self, where: str) -> Path:
        return Path(tempfile.mkdtemp(prefix="tailrace-bench-", dir=self.folders[where]))

    def context(self) -> dict[str, Any]:
        return {
            "host": platform.node(),
            "os_kernel": platform.release(),
            "cores": len(os.sched_getaffinity(0)),
            "load_1m": os.getloadavg()[0],
            "mpi": self.cache.get("TAILRACE_MPI_VERSION", ""),
            "hdf5": self.cache.get("TAILRACE_HDF5_VERSION", ""),
            "build_type": self.cache.get("CMAKE_BUILD_TYPE", ""),
            "tailrace_version": self.core.version,
            "commit": self.core.commit,
            "python": platform.python_version(),
        }


def set_priority(nice: int) -> None:
    """For this process and all that it starts. Where the kernel schedules sessions as groups, a
    priority within the session means nothing: then the session is ours alone and has it too."""
    with contextlib.suppress(PermissionError):  # leads a group already
        os.setsid()
    os.nice(nice)
    group = Path("/proc/self/autogroup")
    if group.exists():
        group.write_text(str(nice), encoding="ascii")


@contextlib.contextmanager
def turn(file: Path | None) -> Iterator[None]:
    """The machine for itself, as far as others lock this file too."""
    if file is None:
        yield
        return
    with file.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
