# SPDX-License-Identifier: Apache-2.0
"""Elements of variable length as HDF5 has them in memory, by their pointers, from one file to
another. h5py makes objects of them, and of a text that is not there (a null pointer: where nothing
was written, or a dimension has no label) an empty one."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np
from h5py import h5d

_hdf5 = ctypes.CDLL(h5d.__file__)  # that of h5py, through what is linked with it
_id, _place = ctypes.c_int64, ctypes.c_void_p
_to_all = _id(0)  # H5S_ALL, H5P_DEFAULT


class _Error(ctypes.Structure):
    """H5E_error2_t."""

    _fields_ = [
        ("class_id", _id), ("major", _id), ("minor", _id), ("line", ctypes.c_uint),
        ("function", ctypes.c_char_p), ("file", ctypes.c_char_p), ("text", ctypes.c_char_p),
    ]  # fmt: skip


_Walk = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Error), _place)


def copy_elements(source: Any, target: Any, tid: Any, spaces: tuple[Any, Any]) -> None:
    """Of a dataset. spaces: of memory and file, the same for both. Raises OSError."""
    memory, file = (_id(space.id) for space in spaces)
    places = (memory, file, _to_all)
    with _Elements(tid, spaces[0]) as elements:
        _check(_hdf5.H5Dread(_id(source.id), elements.tid, *places, elements.buffer))
        _check(_hdf5.H5Dwrite(_id(target.id), elements.tid, *places, elements.buffer))


def copy_value(source: Any, target: Any) -> None:
    """Of an attribute. Raises OSError."""
    with _Elements(source.get_type(), source.get_space()) as elements:
        _check(_hdf5.H5Aread(_id(source.id), elements.tid, elements.buffer))
        _check(_hdf5.H5Awrite(_id(target.id), elements.tid, elements.buffer))


class _Elements:
    """Room for them; what they point to is given back in the end."""

    def __init__(self, tid: Any, space: Any) -> None:
        self._open = tid, space  # h5py closes what nobody holds
        self.tid, self._space = _id(tid.id), _id(space.id)
        self._values = np.zeros(space.get_simple_extent_npoints() * tid.get_size(), np.uint8)
        self.buffer = _place(self._values.ctypes.data)

    def __enter__(self) -> _Elements:
        return self

    def __exit__(self, *_: object) -> None:
        reclaim = getattr(_hdf5, "H5Treclaim", None) or _hdf5.H5Dvlen_reclaim
        reclaim(self.tid, self._space, _to_all, self.buffer)


def _check(status: int) -> None:
    """Raises with HDF5's own words, the outermost and the innermost."""
    if status >= 0:
        return
    said: list[str] = []

    def hear(_depth: int, error: Any, _data: object) -> int:
        with suppress(ValueError):
            said.append((error.contents.text or b"").decode("utf-8", "replace"))
        return 0

    _hdf5.H5Ewalk2(_to_all, ctypes.c_int(1), _Walk(hear), None)  # downward
    raise OSError(f"{said[0]} ({said[-1]})" if said else "HDF5 does not say why")
