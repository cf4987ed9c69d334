# SPDX-License-Identifier: Apache-2.0
"""Landlock, by which a process takes rights from itself and from all that it starts: here every
right to change something in a file system, but beneath some folders. It needs no privileges."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Of <linux/landlock.h>; the numbers of the calls are the same on every architecture.
_create_ruleset, _add_rule, _restrict_self = 444, 445, 446
_ask_for_version, _path_beneath = 1, 1
_write_file, _truncate = 1 << 1, 1 << 14
_of_files = _write_file | _truncate
# Removing folders and files, making whatever can be made, and moves from folder to folder.
_of_folders = sum(1 << bit for bit in range(4, 14))
_least_version = 2  # before it every move from one folder to another is refused
_of_truncate = 3
_no_new_privileges = 38  # PR_SET_NO_NEW_PRIVS of <linux/prctl.h>


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Of Landlock on this system; 0: there is none, it is not switched on, or it is too old."""
    try:
        found = _called(_create_ruleset, None, 0, _ask_for_version)
    except OSError:
        return 0
    return found if found >= _least_version else 0


def sees_truncate() -> bool:
    """Whether cutting a file by its name is refused too."""
    return version() >= _of_truncate


@contextmanager
def confining(folders: Iterable[Path]) -> Iterator[Callable[[], None]]:
    """For `preexec_fn`: the child changes nothing any more but beneath these; those that are not
    there are left out. Everything is made ready here: the child does two system calls.

    Raises: OSError.
    """
    rules = _ruleset(folders)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    call, number = _call(), ctypes.c_long(_restrict_self)
    ruleset, none = ctypes.c_long(rules), ctypes.c_long(0)

    def confine() -> None:
        # Without it the system takes rights only from the privileged.
        if prctl(_no_new_privileges, 1, 0, 0, 0) or call(number, ruleset, none) != 0:
            raise OSError(ctypes.get_errno(), "the program cannot be confined")

    try:
        yield confine
    finally:
        os.close(rules)


def _ruleset(folders: Iterable[Path]) -> int:
    rights = _of_folders | (_of_files if sees_truncate() else _write_file)
    handled = ctypes.c_uint64(rights)
    rules = _called(_create_ruleset, ctypes.byref(handled), ctypes.sizeof(handled), 0)
    try:
        for folder in folders:
            _grant(rules, folder, rights)
    except BaseException:
        os.close(rules)
        raise
    return rules


def _grant(rules: int, path: Path, rights: int) -> None:
    try:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there, or not ours: nothing to be written there either
        return
    try:
        beneath = _Beneath(rights if path.is_dir() else rights & _of_files, at)
        _called(_add_rule, rules, _path_beneath, ctypes.byref(beneath), 0)
    finally:
        os.close(at)


def _call() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def _called(number: int, *words: object) -> int:
    """Raises: OSError."""
    given = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    ctypes.set_errno(0)
    found = _call()(ctypes.c_long(number), *given)
    if found < 0:
        code = ctypes.get_errno() or errno.ENOSYS
        raise OSError(code, os.strerror(code))
    return found
