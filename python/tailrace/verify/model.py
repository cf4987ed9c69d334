# SPDX-License-Identifier: Apache-2.0
"""What a file says, whatever its format: a tree of named nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tailrace.verify.types import Type

Shape = tuple[int, ...]
Box = tuple[slice, ...]
Values = np.ndarray[Any, Any]


@dataclass
class Attribute:
    """A small named value; `shape` None: an empty dataspace, which has a type and no value."""

    type: Type
    shape: Shape | None
    values: Values | None
    committed: str = ""  # path of the named type


class Reader(Protocol):
    """Reads a box of a dataset's elements; a scalar's box is ()."""

    def __call__(self, box: Box) -> Values: ...


class Storage(Protocol):
    """Of the elements of a dataset."""

    def overlaps(self, box: Box) -> bool:
        """Whether there is some for an element of the box, or it is not known."""
        ...


@dataclass
class Node:
    """A thing with a path.

    kind: group, dataset, type (committed), alias (a further hard link to `target`), soft, external,
    link (user-defined), or dimension (of a netCDF file).
    """

    path: str
    kind: str
    read_attributes: Callable[[], Mapping[str, Attribute]] = dict
    target: str = ""  # of an alias or a link
    type: Type | None = None
    shape: Shape | None = None  # None: empty dataspace
    limits: tuple[int | None, ...] | None = None  # greatest extents; None: unlimited
    dimensions: tuple[str, ...] | None = None  # names, where the format has them
    committed: str = ""
    chunk: Shape | None = None
    filtered: bool = False  # compressed or the like
    elsewhere: bool = False  # its elements lie in other files
    read: Reader | None = None
    unallocated: Callable[[], int] | None = None  # how many of its elements have no storage
    storage: Callable[[], Storage] | None = None  # which have


class Tree(Protocol):
    """An open file."""

    path: Path
    format: str
    nodes: dict[str, Node]  # sorted by path; "/" is there

    def reference_text(self, reference: Any, kind: str) -> str:
        """What a reference points to, in words that do not depend on the file's layout."""
        ...

    def close(self) -> None: ...
