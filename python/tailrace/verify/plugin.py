# SPDX-License-Identifier: Apache-2.0
"""Fill plugins: a C function called once per element of a rank's block."""

from __future__ import annotations

import ctypes
import itertools
import os
from pathlib import Path

import numpy as np

from tailrace.errors import ExitCode, TailraceError
from tailrace.native import core
from tailrace.verify.fill import Floats
from tailrace.verify.kernel import Seism, Triple
from tailrace.verify.model import Box

_Number = ctypes.c_uint64 * 3
_Function = ctypes.CFUNCTYPE(
    ctypes.c_float,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_char_p),
)


class PluginFill:
    """Values of a plugin; the same in every step."""

    same_in_every_step = True

    def __init__(self, run: Seism, library: str = "") -> None:
        self._run = run
        self._library = _load(library or run.library, run.library)
        try:
            symbol = getattr(self._library, run.function)
        except AttributeError as error:
            raise TailraceError(
                f"it has no function {run.function}",
                where=self._library._name,
                hint="name the library that the run used with --plugin-lib",
                code=ExitCode.CAPABILITY_MISSING,
            ) from error
        self._check_arguments()
        self._address = ctypes.cast(symbol, ctypes.c_void_p).value or 0

    def _check_arguments(self) -> None:
        """A function that refuses its arguments may return anything, and did not fill the file."""
        check = getattr(self._library, f"{self._run.function}_check", None)
        if check is None:
            return
        check.restype = ctypes.c_int
        check.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        text = ctypes.create_string_buffer(1024)
        argc, argv = self._argv()
        if check(argc, argv, text, len(text)) == 0:
            return
        said = text.raw.split(b"\0", 1)[0].decode("utf-8", "replace")
        raise TailraceError(
            f"plugin function {self._run.function} refuses its arguments: {said}",
            where=self._library._name,
            hint="the file names other arguments (use_function_argv) than this library wants; "
            "name the library that the run used with --plugin-lib",
        )

    def _argv(self) -> tuple[int, ctypes.Array[ctypes.c_char_p]]:
        """With a null pointer behind the last, as for a program."""
        texts = [os.fsencode(argument) for argument in self._run.arguments]
        return len(texts), (ctypes.c_char_p * (len(texts) + 1))(*texts, None)

    def __call__(self, step: int, box: Box) -> Floats:
        """The box may reach over several blocks."""
        values = np.empty(tuple(part.stop - part.start for part in box), np.float32)
        spans = [
            range(part.start // extent, -(-part.stop // extent))
            for part, extent in zip(box, self._run.domain, strict=True)
        ]
        for i, j, k in itertools.product(*spans):
            self._fill_within((i, j, k), box, values)
        return values

    def _fill_within(self, block: Triple, box: Box, values: Floats) -> None:
        target, offset = [], []
        for number, extent, part in zip(block, self._run.domain, box, strict=True):
            low, high = max(part.start, number * extent), min(part.stop, (number + 1) * extent)
            target.append(slice(low - part.start, high - part.start))
            offset.append(low - number * extent)
        grid = self._run.processor
        rank = (block[0] * grid[1] + block[1]) * grid[2] + block[2]
        counts = [part.stop - part.start for part in target]
        piece = np.empty((counts[0], counts[1], counts[2]), np.float32)
        helper = core()
        arguments = list(self._run.arguments)
        first = (offset[0], offset[1], offset[2])
        if helper is not None:
            helper.fill_block(
                self._address, rank, grid, self._run.domain, block, first, arguments, piece
            )
        else:
            self._call_each(rank, block, first, piece)
        values[tuple(target)] = piece

    def _call_each(self, rank: int, block: Triple, first: Triple, piece: Floats) -> None:
        function = _Function(self._address)
        grid, domain = _Number(*self._run.processor), _Number(*self._run.domain)
        number, position = _Number(*block), _Number()
        argc, argv = self._argv()
        flat = piece.reshape(-1)
        extents = [range(low, low + count) for low, count in zip(first, piece.shape, strict=True)]
        for at, (x, y, z) in enumerate(itertools.product(*extents)):
            position[0], position[1], position[2] = x, y, z
            flat[at] = function(rank, grid, domain, number, position, argc, argv)


def _load(library: str, recorded: str) -> ctypes.CDLL:
    """By path or as the dynamic loader finds it; the programs' own plugins also where they are."""
    tried = [library]
    if "/" not in library:
        folders = [Path.cwd()]
        for name in ("TAILRACE_PLUGIN_DIR", "TAILRACE_BUILD_DIR"):
            if os.environ.get(name):
                folders += [Path(os.environ[name]), Path(os.environ[name]) / "lib"]
        tried += [str(folder / library) for folder in folders]
    elif library == recorded:
        tried.append(Path(library).name)
    error = ""
    for name in tried:
        try:
            return ctypes.CDLL(name)
        except OSError as problem:
            error = error or str(problem)
    raise TailraceError(
        f"the fill plugin cannot be loaded: {error}",
        where=library,
        hint="name its file with --plugin-lib, or put its folder on LD_LIBRARY_PATH",
        code=ExitCode.CAPABILITY_MISSING,
    )
