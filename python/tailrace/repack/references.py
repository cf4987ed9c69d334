# SPDX-License-Identifier: Apache-2.0
"""References of one file as references to the same things in another.

A reference is an address in its file. So each one is looked up in the source, and made anew to the
object that has the same place in the copy; also within compounds, arrays and sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
from h5py import h5r

Values = np.ndarray[Any, Any]


class References:
    """Translates the references of `source`.

    Args:
        source: the open file that they are read from.
        counterpart: the object of the copy that stands for an open object of the source.
        deleted: an object of the copy that will be deleted before it is closed: what points to
            nothing in the source shall point to nothing there.
    """

    def __init__(
        self, source: h5py.File, counterpart: Callable[[Any], Any], deleted: Callable[[], Any]
    ) -> None:
        self._source = source
        self._counterpart = counterpart
        self._deleted = deleted

    def translated(self, values: Values, dtype: Any) -> Values:
        """The same values; references among them are those of the copy.

        `dtype`: as h5py has it, with what it knows of references and sequences.
        """
        if not holds_references(dtype):
            return values
        if dtype.names:
            made = values.copy()
            for name in dtype.names:
                made[name] = self.translated(values[name], dtype[name])
            return made
        if dtype.subdtype is not None:
            return self.translated(values, dtype.subdtype[0])
        return self._each(values, dtype)

    def _each(self, values: Values, dtype: Any) -> Values:
        inner = h5py.check_vlen_dtype(dtype)
        made = np.empty(values.shape, dtype)
        flat, target = values.reshape(-1), made.reshape(-1)
        for index in range(flat.size):
            value = flat[index]
            if inner is None:
                target[index] = self._one(value)
            elif value is not None and not np.isscalar(value):
                target[index] = self.translated(np.asarray(value, dtype=inner), inner)
        return made

    def _one(self, reference: Any) -> Any:
        region = isinstance(reference, h5r.RegionReference)
        if not reference:
            return h5r.RegionReference() if region else h5r.Reference()
        try:
            thing = h5r.dereference(reference, self._source.id)
            space = h5r.get_region(reference, self._source.id) if region else None
        except (OSError, RuntimeError, ValueError, KeyError):
            return h5r.create(self._deleted(), b".", h5r.OBJECT)
        there = self._counterpart(thing)
        if region:
            return h5r.create(there, b".", h5r.DATASET_REGION, space)
        return h5r.create(there, b".", h5r.OBJECT)


def holds_references(dtype: Any) -> bool:
    """Whether values of an h5py type have references in them, at any depth."""
    if dtype is None:
        return False
    if dtype.names:
        return any(holds_references(dtype[name]) for name in dtype.names)
    if dtype.subdtype is not None:
        return holds_references(dtype.subdtype[0])
    if h5py.check_ref_dtype(dtype) is not None:
        return True
    inner = h5py.check_vlen_dtype(dtype)
    return isinstance(inner, np.dtype) and holds_references(inner)
