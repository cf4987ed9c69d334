# SPDX-License-Identifier: Apache-2.0
"""Declaring intents from Python: on property lists, and of files by pattern.

Done by libtailrace_intent, the library that C, C++ and Fortran programs link. It is loaded for this
module alone; the HDF5 connector finds it there.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.native import missing

file_name = "libtailrace_intent.so"
_codes = {1: ExitCode.RUN_FAILED, 2: ExitCode.USAGE, 4: ExitCode.CAPABILITY_MISSING}
_hint_mark = "\n       hint: "

Declarations = Mapping[str, Any]


def candidates(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where the library may lie, in the order of preference."""
    found = [Path(__file__).parents[1] / "hooks" / file_name]
    for variable in ("TAILRACE_BUILD_DIR", "TAILRACE_HOME"):
        if home := environment.get(variable):
            found += [Path(home) / lib / file_name for lib in ("lib", "lib64")]
    return found


@cache
def library() -> ctypes.PyDLL | None:
    """The library; None where the package was installed without a compiler."""
    path = next((path for path in candidates() if path.is_file()), None)
    if path is None:
        return None
    # With the lock of the interpreter held: HDF5 in wheels does not know of threads.
    found = ctypes.PyDLL(str(path))
    found.tailrace_intent_set.argtypes = [ctypes.c_int64, ctypes.c_char_p]
    found.tailrace_intent_get.argtypes = [
        ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t),
    ]  # fmt: skip
    found.tailrace_intent_clear.argtypes = [ctypes.c_int64]
    found.tailrace_intent_push.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)]
    found.tailrace_intent_pop.argtypes = [ctypes.c_uint64]
    found.tailrace_intent_use.argtypes = [ctypes.c_void_p]
    found.tailrace_intent_use.restype = None
    found.tailrace_intent_error.restype = ctypes.c_char_p
    return found


def intent_set(target: Any, declarations: Declarations) -> None:
    """Declares what is to be done with the files or datasets of a property list.

    Args:
        target: a list of h5py (h5py.h5p.create(...)), or the number of one.
        declarations: keys and words of docs/user/declare.md.

    Raises:
        TailraceError: they are wrong, or there is no HDF5; the list is unchanged then.
    """
    text = _text(declarations)
    _on_list(target, "intent_set", lambda lib, number: lib.tailrace_intent_set(number, text))


def intent_get(target: Any) -> dict[str, Any]:
    """What is declared on a list; empty: nothing. Raises as intent_set does."""
    needed = ctypes.c_size_t()
    texts = []

    def ask(lib: ctypes.PyDLL, number: int) -> int:
        code = int(lib.tailrace_intent_get(number, None, 0, ctypes.byref(needed)))
        if code:
            return code
        room = ctypes.create_string_buffer(needed.value)
        code = int(lib.tailrace_intent_get(number, room, needed.value, None))
        texts.append(room.value)
        return code

    _on_list(target, "intent_get", ask)
    found: dict[str, Any] = json.loads(texts[0]) if texts[0] else {}
    return found


def intent_clear(target: Any) -> None:
    """Takes a declaration off a list. Raises as intent_set does."""
    _on_list(target, "intent_clear", lambda lib, number: lib.tailrace_intent_clear(number))


class Intents(AbstractContextManager["Intents"]):
    """Declares of files by pattern, whoever opens them within the block, in whatever thread.

    Inner blocks win over outer ones, each key by itself. Without the compiled part of the package
    it does nothing: then there is no hook to read it either.
    """

    def __init__(
        self, declarations: Declarations, pattern: str | Sequence[str] | None = None
    ) -> None:
        if pattern is not None:
            patterns = [pattern] if isinstance(pattern, str) else list(pattern)
            declarations = {"files": dict.fromkeys(patterns, declarations)}
        self._json = _text(declarations)
        self._tokens: list[int] = []

    def __enter__(self) -> Intents:
        lib = library()
        if lib is not None:
            token = ctypes.c_uint64()
            _check(lib, lib.tailrace_intent_push(self._json, ctypes.byref(token)), "intents")
            self._tokens.append(token.value)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lib = library()
        if lib is not None and self._tokens:
            lib.tailrace_intent_pop(self._tokens.pop())


def _text(declarations: Declarations) -> bytes:
    try:
        return json.dumps(declarations, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise TailraceError(
            f"the declarations are no JSON: {error}", where="intents",
            hint='a dict such as {"reliability": "scratch"}',
        ) from error  # fmt: skip


def _on_list(target: Any, where: str, call: Any) -> None:
    number, owner = _number_of(target, where)
    lib = library()
    if lib is None:
        raise missing("declarations on lists need the compiled part of this package", where)
    with _lock_of(owner):
        # Its HDF5 is the one that the package of the list is linked with.
        lib.tailrace_intent_use(ctypes.CDLL(owner)._handle if owner else None)
        try:
            _check(lib, call(lib, number), where)
        finally:
            lib.tailrace_intent_use(None)


def _number_of(target: Any, where: str) -> tuple[int, str]:
    """The number of a list, and the compiled module that it comes from."""
    if isinstance(target, int) and not isinstance(target, bool):
        return target, ""
    number = getattr(target, "id", None)
    if not isinstance(number, int):
        raise TailraceError(
            f"a property list is wanted, not {type(target).__name__}",
            where=where,
            hint="h5py.h5p.create(h5py.h5p.FILE_ACCESS) makes one; for what is opened by name: "
            "with tailrace.intents({...}, pattern=NAME)",
        )
    file = getattr(sys.modules.get(type(target).__module__), "__file__", None) or ""
    return number, file if ".so" in Path(file).name else ""


def _lock_of(owner: str) -> AbstractContextManager[Any]:
    """The lock under which h5py calls HDF5."""
    if Path(owner).parent.name == "h5py" and "h5py" in sys.modules:
        from h5py._objects import phil

        lock: AbstractContextManager[Any] = phil
        return lock
    return nullcontext()


def _check(lib: ctypes.PyDLL, code: int, where: str) -> None:
    if code == 0:
        return
    text = lib.tailrace_intent_error().decode("utf-8", "replace")
    what, _, hint = text.partition(_hint_mark)
    raise TailraceError(
        what.removeprefix("tailrace_intent: "), where=where, hint=hint,
        code=_codes.get(code, ExitCode.RUN_FAILED),
    )  # fmt: skip
