# SPDX-License-Identifier: Apache-2.0
"""What the attributes of a kernel's file say, each of the type that it should have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.model import Attribute, Tree

_greatest = 1 << 63


@dataclass(frozen=True)
class Described:
    """The attributes of the root of a file.

    Methods raise: exit code 3, for a file that was changed or damaged.
    """

    tree: Tree
    attributes: Mapping[str, Attribute]

    def wrong(self, what: str) -> TailraceError:
        return TailraceError(
            what,
            where=str(self.tree.path),
            hint="the file was changed or damaged after the run",
            code=ExitCode.VERIFICATION_FAILED,
        )

    def has(self, name: str) -> bool:
        return name in self.attributes

    def text(self, name: str, known: tuple[str, ...] = ()) -> str:
        values = self._values(name)
        value = values.reshape(-1)[0] if values is not None and values.size == 1 else None
        if isinstance(value, bytes):
            value = value.decode("utf-8", "surrogateescape")
        if not isinstance(value, str):
            raise self.wrong(f"the attribute {name} is no text")
        if known and value not in known:
            raise self.wrong(f'the attribute {name} is "{value}", known are {", ".join(known)}')
        return value

    def number(self, name: str, least: int = 1) -> int:
        values = self._values(name)
        if values is None or values.size != 1 or values.dtype.kind not in "iu":
            raise self.wrong(f"the attribute {name} is not a whole number")
        value = int(values.reshape(-1)[0])
        if not least <= value < _greatest:
            raise self.wrong(f"the attribute {name} is {value}")
        return value

    def _values(self, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]] | None:
        if name not in self.attributes:
            raise self.wrong(f"the attribute {name} is missing")
        values = self.attributes[name].values
        return None if values is None else np.asarray(values)
