# SPDX-License-Identifier: Apache-2.0
"""A folder as it is, with all that has to be put back after a run: content, permissions, owners,
links, hard links, pipes, and folders, empty ones too."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tailrace.sandbox import ownership
from tailrace.sandbox.snapshot import version_control
from tailrace.whole_files import write_text

beside_suffix = ".tailrace-put-back"  # of what is written beside a file, to be renamed over it
_kinds = {
    stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket",
}  # fmt: skip
_all_for_the_owner = 0o700


@dataclass(frozen=True)
class Entry:
    """kind: file, folder, link, fifo, socket or device. names: how many it has (hard links).
    behind: of a link to a file beyond the folder, the state of that file."""

    kind: str
    mode: int
    owner: tuple[int, int]
    bytes: int
    modified_ns: int
    changed_ns: int
    inode: int
    device: int
    names: int
    target: str = ""
    behind: Entry | None = None

    def is_surely(self, other: Entry | None) -> bool:
        """Neither content nor anything else has changed: the system's own time says so, which no
        program can set."""
        return other is not None and _sure(self) == _sure(other)

    def looks_like(self, other: Entry | None) -> bool:
        """All but the content, the inode and the system's time is alike."""
        return other is not None and _looks(self) == _looks(other)


Tree = dict[str, Entry]


def take(folder: Path, skip: Collection[Path] = ()) -> Tree:
    """Everything below it by path, parents first; without `skip`, version control, devices, and
    what other tunes have there."""
    found: Tree = {}
    home = os.path.realpath(folder)
    for path in _below(folder, skip):
        if path.name.endswith(beside_suffix):
            continue
        with suppress(FileNotFoundError):
            entry = _entry(path, home)
            if entry.kind != "device":
                found[os.path.relpath(path, folder)] = entry
    return found


def remove_cut_short(folder: Path, skip: Collection[Path]) -> None:
    """What was being written beside a file when a tune was killed."""
    for path in list(_below(folder, skip)):
        if path.name.endswith(beside_suffix):
            path.unlink()


def remove(folder: Path) -> None:
    """With all that lies in it, whatever a run has closed."""
    if folder.exists():
        open_up(folder)
        shutil.rmtree(folder, ignore_errors=True)


def discard(root: Path) -> None:
    """Removes what a tune has in a folder of its own; what was put aside stays: it might be the
    user's."""
    for path in list(root.glob("*")):
        if path.name == ownership.put_aside:
            continue
        if path.is_dir() and not path.is_symlink():
            remove(path)
        else:
            path.unlink()
    with suppress(OSError):
        root.rmdir()


def entry_of(path: Path, home: Path) -> Entry:
    """Of one path."""
    return _entry(path, os.path.realpath(home))


def store(tree: Tree, file: Path) -> None:
    """Whole or not at all."""
    write_text(file, json.dumps({name: asdict(entry) for name, entry in tree.items()}))


def load(file: Path) -> Tree:
    return {name: _from_json(entry) for name, entry in json.loads(file.read_text()).items()}


def open_up(folder: Path) -> None:
    """Lets the owner into it and all folders below, of which a run may have closed some: without
    that nothing can be looked at, moved away or removed."""
    _let_in(folder)
    for where, folders, _ in os.walk(folder):
        for name in folders:
            if not Path(where, name).is_symlink():
                _let_in(Path(where, name))


def open_way_to(name: str, folder: Path) -> None:
    """The same for the folders in which one file lies."""
    for above in Path(name).parents:
        if (folder / above).is_dir() and not (folder / above).is_symlink():
            _let_in(folder / above)


def _below(folder: Path, skip: Collection[Path]) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except PermissionError:
        _let_in(folder)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for entry in entries:
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if path in skip or (is_folder and entry.name in version_control):
            continue
        if is_folder and ownership.is_of_a_tune(path):
            continue
        yield path
        if is_folder:
            yield from _below(path, skip)


def _let_in(folder: Path) -> None:
    mode = folder.lstat().st_mode
    if mode & _all_for_the_owner != _all_for_the_owner:
        with suppress(PermissionError):  # it is somebody else's
            folder.chmod(stat.S_IMODE(mode) | _all_for_the_owner)


def _entry(path: Path, home: str) -> Entry:
    status = path.lstat()
    kind = _kinds.get(stat.S_IFMT(status.st_mode), "device")
    if kind != "link":
        return _of_status(kind, status)
    return _of_status(kind, status, str(path.readlink()), _behind(path, home))


def _behind(link: Path, home: str) -> Entry | None:
    real = os.path.realpath(link)
    if real.startswith(f"{home}/"):
        return None  # it has an entry of its own
    try:
        status = Path(real).stat()
    except OSError:
        return None
    return _of_status("file", status) if stat.S_ISREG(status.st_mode) else None


def _of_status(
    kind: str, status: os.stat_result, target: str = "", behind: Entry | None = None
) -> Entry:
    return Entry(
        kind, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid), status.st_size,
        status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_nlink,
        target, behind,
    )  # fmt: skip


def _sure(entry: Entry) -> tuple[object, ...]:
    if entry.kind == "folder":  # its times and size are those of what lies in it
        return (entry.kind, entry.mode, entry.owner)
    own = (
        entry.kind, entry.mode, entry.owner, entry.bytes, entry.modified_ns, entry.changed_ns,
        entry.inode, entry.device, entry.target,
    )  # fmt: skip
    return (*own, _sure(entry.behind) if entry.behind else None)


def _looks(entry: Entry) -> tuple[object, ...]:
    if entry.kind == "link":
        return (entry.kind, entry.target)
    if entry.kind != "file":
        return (entry.kind, entry.mode, entry.owner)
    return (entry.kind, entry.mode, entry.owner, entry.bytes, entry.modified_ns)


def _from_json(document: dict[str, object]) -> Entry:
    fields = dict(document)
    behind = fields.pop("behind")
    fields["owner"] = tuple(fields["owner"])  # type: ignore[arg-type]
    return Entry(**fields, behind=_from_json(behind) if isinstance(behind, dict) else None)  # type: ignore[arg-type]
