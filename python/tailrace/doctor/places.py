# SPDX-License-Identifier: Apache-2.0
"""Where files go: the file system of a folder, shared memory, Lustre's tools."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tailrace.doctor.model import Finding, Section, missing, note, ok
from tailrace.run.programs import output_of
from tailrace.units import mib

_parallel = {"lustre", "gpfs", "beegfs", "panfs", "ceph", "orangefs", "daos", "wekafs"}
_network = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"}


@dataclass(frozen=True)
class Mount:
    point: str
    kind: str
    device: str


def place_section(folder: Path) -> Section:
    findings = [_file_system(folder), _space(folder), _writable(folder), _shared_memory()]
    findings.append(_lustre(folder))
    return Section("place", f"Folder {folder}", findings)


def mount_of(folder: Path, table: str | None = None) -> Mount | None:
    """The mount that holds a folder: the deepest one, the last one where several lie on another."""
    text = table if table is not None else Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    where = str(folder.resolve())
    best: Mount | None = None
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields, source = left.split(), right.split()
        if len(fields) < 5 or len(source) < 2:
            continue
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code.group(1), 8)), fields[4])
        inside = where == point or where.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= len(best.point)):
            best = Mount(point, source[0], source[1])
    return best


def _file_system(folder: Path) -> Finding:
    if not folder.is_dir():
        return missing("file system", f"there is no folder {folder}", "create it, or name another")
    mount = mount_of(folder)
    if mount is None:
        return note("file system", "not known")
    data = {"type": mount.kind, "mount_point": mount.point, "device": mount.device}
    text = f"{mount.kind}, mounted on {mount.point}"
    if mount.kind in _network:
        remedy = "MPI-IO on it is slow and may be wrong; write to a parallel or local file system"
        return Finding("file system", "note", f"{text} (network)", remedy, data)
    if mount.kind == "tmpfs":
        return Finding("file system", "note", f"{text} (memory: steady, and not a disk)", "", data)
    return ok("file system", text + (" (parallel)" if mount.kind in _parallel else ""), **data)


def _space(folder: Path) -> Finding:
    try:
        found = os.statvfs(folder)
    except OSError:
        return note("free space", "not known")
    free, total = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    text = f"{mib(free)} of {mib(total)}"
    data = {"free_bytes": free, "total_bytes": total}
    if found.f_files and not found.f_favail:
        return missing("free space", f"{text}, but no inodes", "remove files", **data)
    if free < 1 << 30:
        return missing("free space", text, "make room, or choose another folder", **data)
    return ok("free space", text, **data)


def _writable(folder: Path) -> Finding:
    if os.access(folder, os.W_OK | os.X_OK):
        return ok("writable", "yes", writable=True)
    return missing("writable", "no", "choose a folder of yours", writable=False)


def _shared_memory() -> Finding:
    path = Path("/dev/shm")
    try:
        found = os.statvfs(path)
    except OSError:
        return missing("/dev/shm", "absent", "MPI on one node needs it: mount a tmpfs there")
    size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    data = {"total_bytes": size, "free_bytes": free}
    text = f"{mib(free)} free of {mib(size)}"
    if size < 256 << 20:
        remedy = "enlarge it: mount -o remount,size=1G /dev/shm; in a container --shm-size=1g"
        return missing("/dev/shm", text, remedy, **data)
    return ok("/dev/shm", text, **data)


def _lustre(folder: Path) -> Finding:
    lfs = shutil.which("lfs")
    mount = mount_of(folder) if folder.is_dir() else None
    on_lustre = mount is not None and mount.kind == "lustre"
    if lfs is None:
        if on_lustre:
            remedy = "install lustre-client, or load its module: lfs_stripe_count needs `lfs`"
            return missing("Lustre tools", "the folder is on Lustre and there is no `lfs`", remedy)
        return note("Lustre tools", "no `lfs`; not needed here", lfs=None, on_lustre=on_lustre)
    if not on_lustre:
        return ok("Lustre tools", f"{lfs} (the folder is not on Lustre)", lfs=lfs, on_lustre=False)
    striping = " ".join(output_of([lfs, "getstripe", "-d", str(folder)]).split())
    return ok("Lustre tools", f"{lfs}; striping: {striping}", lfs=lfs, on_lustre=True)
