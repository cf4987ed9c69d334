# SPDX-License-Identifier: Apache-2.0
"""What the programs that tune starts may write to: their own scratch folder and little else, as the
system sees to it (Landlock). Where it cannot, what a profile shows is looked at instead."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tailrace.run.launcher import by_daemons, launchers
from tailrace.sandbox import landlock

_switch = "TAILRACE_TUNE_CONFINE"  # "off": as on a system without it
_devices = Path("/dev")
_shared_memory = Path("/dev/shm")
_always = ("/proc",)
_shared = ("/tmp", "/var/tmp")


class Confinement:
    """Of one tune, the same for every run of either arm.

    allowed: folders that the user lets programs write to. temporary: the TMPDIR of the runs, which
    no other program uses and which is empty when a run begins. why_not: "" where runs are confined.
    beyond: who or what of them is not, in words; "": nothing.
    """

    def __init__(
        self, yours: Sequence[Path], allowed: Sequence[Path] = (), *, root: Path,
        command: Sequence[str] = (), temporary: Path | None = None,
        given: Mapping[str, str] = os.environ,
    ) -> None:  # fmt: skip
        """yours: what must not be within what is opened to programs as a whole. temporary: that of
        the same tune before it was ended."""
        self.allowed = tuple(allowed)
        self.why_not = _why_not(given)
        opened = _opened_to_ranks(yours, command)
        self.beyond = _beyond(command, given) or (
            f"files in {opened[0]}, where MPI makes its own" if opened else ""
        )
        self.temporary = _still_ours(temporary) or _new_folder(root, given)
        names = ("TMPDIR", *(name for name in ("TMP", "TEMP") if name in given))
        self.environment = dict.fromkeys(names, str(self.temporary))
        self._common = [*allowed, self.temporary, *opened, *_common(yours, given)]

    @property
    def is_whole(self) -> bool:
        """Nothing that belongs to a run can write elsewhere."""
        return not self.why_not and not self.beyond

    def begin(self) -> None:
        """Before a run: nothing is left of the one before."""
        self.temporary.mkdir(exist_ok=True)  # where it is not confined it may be gone
        for path in self.temporary.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def writable(self, own: Sequence[Path]) -> tuple[Path, ...] | None:
        """For a Job. own: folders of this run alone; None: it is not confined."""
        return None if self.why_not else (*own, *self._common)

    def is_open(self, path: Path, own: Sequence[Path] = ()) -> bool:
        """Whether programs may write there."""
        return any(path.is_relative_to(folder) for folder in (*own, *self._common))

    def is_allowed(self, path: Path) -> bool:
        """Whether the user lets programs write there."""
        return any(path.is_relative_to(folder) for folder in self.allowed)

    def close(self) -> None:
        shutil.rmtree(self.temporary, ignore_errors=True)


def _why_not(given: Mapping[str, str]) -> str:
    if given.get(_switch) == "off":
        return f"{_switch}=off"
    if landlock.version() == 0:
        return "this system has no Landlock (Linux 5.19 and later, where it is switched on)"
    return ""


def _opened_to_ranks(yours: Sequence[Path], command: Sequence[str]) -> list[Path]:
    """MPI does not start without files in shared memory: there also what is yours is opened, since
    only a folder as a whole can be."""
    is_mpi = bool(command) and Path(command[0]).name in launchers
    return [_shared_memory] if is_mpi and _below(_shared_memory, _real(yours)) else []


def _beyond(command: Sequence[str], given: Mapping[str, str]) -> str:
    """A process hands its confinement on to what it starts itself, and to nothing else."""
    launcher = Path(command[0]).name if command else ""
    if launcher in by_daemons:
        return f"ranks that {launcher} has its own daemons start"
    if launcher in launchers and _several_nodes(given):
        return "ranks on other nodes"
    return ""


def _new_folder(root: Path, given: Mapping[str, str]) -> Path:
    """A short path, since sockets are made there; on several nodes one that all of them see."""
    if _several_nodes(given):
        root.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="tmp", dir=root))
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="tailrace-")))


def _several_nodes(given: Mapping[str, str]) -> bool:
    if "PBS_NODEFILE" in given:
        file = Path(given["PBS_NODEFILE"])
        return file.is_file() and len(set(file.read_text().split())) > 1
    nodes = given.get("SLURM_JOB_NUM_NODES") or given.get("SLURM_NNODES") or "1"
    return nodes != "1" or len(set(given.get("LSB_HOSTS", "").split())) > 1


def _still_ours(folder: Path | None) -> Path | None:
    """Programs print its path: where it was removed since, it is made again. Somebody else may have
    made one of that name."""
    if folder is None:
        return None
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
    except OSError:
        return None
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return folder if ours else None


def _common(yours: Sequence[Path], given: Mapping[str, str]) -> Iterator[Path]:
    """What any program may need. A folder for temporary files only where nothing is yours: it is
    opened as a whole, and programs that name it in their source could alter what is there."""
    real = _real(yours)
    yield from map(Path, _always)
    yield from _without(_devices, real)
    if run_time := given.get("XDG_RUNTIME_DIR"):
        yield from _without(Path(run_time), real, depth=0)
    for name in dict.fromkeys([*_shared, given.get("TMPDIR", "")]):
        folder = Path(os.path.realpath(name)) if name else None
        if folder is None or not folder.is_dir() or folder == Path("/"):
            continue
        if not _below(folder, real) and not _holds_files_of_mine(folder):
            yield folder


def _without(folder: Path, yours: Sequence[Path], depth: int = 2) -> Iterator[Path]:
    """The folder, or all that is in it but what is yours or holds it."""
    if not _below(folder, yours):
        yield folder
    elif depth and folder.is_dir():
        for path in folder.iterdir():
            if not path.is_symlink():
                yield from _without(path, yours, depth - 1)


def _real(paths: Sequence[Path]) -> list[Path]:
    return [Path(os.path.realpath(path)) for path in paths]


def _below(folder: Path, paths: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in paths)


def _holds_files_of_mine(folder: Path) -> bool:
    """Sockets, pipes and empty folders are none."""
    try:
        entries = list(os.scandir(folder))
    except OSError:  # of somebody else
        return False
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            if status.st_uid == os.getuid() and _holds_files_of_mine(Path(entry.path)):
                return True
        elif status.st_uid == os.getuid() and (
            stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)
        ):
            return True
    return False
