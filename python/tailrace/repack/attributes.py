# SPDX-License-Identifier: Apache-2.0
"""Attributes of an object of one file to its copy in another, in their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from h5py import h5, h5a, h5p, h5s, h5t

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack.pointers import copy_value
from tailrace.repack.references import References, holds_references
from tailrace.repack.survey import raw, text
from tailrace.verify.hdf5_types import type_of

TypeFor = Callable[[Any], Any]


def attributes_of(thing: Any) -> Iterator[Any]:
    """Open attributes, in the order of creation where the object keeps it."""
    tracked = thing.get_create_plist().get_attr_creation_order() & h5p.CRT_ORDER_TRACKED
    kind = h5.INDEX_CRT_ORDER if tracked else h5.INDEX_NAME
    for index in range(h5a.get_num_attrs(thing)):
        yield h5a.open(thing, index=index, index_type=kind, order=h5.ITER_INC)


def have_references(thing: Any) -> bool:
    """Whether an attribute of the object can only be copied when all objects are there."""
    for attribute in attributes_of(thing):
        if type_of(attribute.get_type()).variable and holds_references(_numpy_type(attribute)):
            return True
    return False


def copy_attributes(thing: Any, there: Any, type_for: TypeFor, references: References) -> None:
    """All of them.

    Args:
        type_for: the type of the copy that stands for one of the source: itself, or where it is
            committed the one that is committed there.
    """
    for attribute in attributes_of(thing):
        _copy(attribute, there, type_for, references)


def _copy(attribute: Any, there: Any, type_for: TypeFor, references: References) -> None:
    tid = attribute.get_type()
    space = attribute.get_space()
    made = h5a.create(there, raw(text(attribute.name)), type_for(tid), space)
    if space.get_simple_extent_type() == h5s.NULL or not math.prod(attribute.shape):
        return
    if not type_of(tid).variable:
        values = np.zeros(attribute.shape, f"V{tid.get_size()}")
        attribute.read(values, mtype=tid)
        made.write(values, mtype=tid)
        return
    dtype = _numpy_type(attribute)
    if dtype is None:
        raise unknown_type(f"attribute {text(attribute.name)}")
    if not holds_references(dtype):
        copy_value(attribute, made)
        return
    memory = h5t.py_create(dtype)
    outer, base = tuple(attribute.shape), dtype
    if dtype.subdtype is not None:
        base, inner = dtype.subdtype
        outer += inner
    values = np.zeros(outer, base, order="C")
    attribute.read(values, mtype=memory)
    made.write(references.translated(values, base), mtype=memory)


def _numpy_type(holder: Any) -> Any:
    try:
        return holder.dtype
    except TypeError:
        return None


def unknown_type(what: str) -> TailraceError:
    """Elements of variable length whose type numpy has no equal of."""
    return TailraceError(
        f"{what} has elements of variable length of a type that cannot be taken over here",
        hint="h5repack of the HDF5 tools may know it",
        code=ExitCode.CAPABILITY_MISSING,
    )
