# SPDX-License-Identifier: Apache-2.0
"""All that an HDF5 file says, whatever its layout: objects, links, attributes, values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  # filters such as Blosc
import numpy as np


def content(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with h5py.File(file, "r") as f:
        _look(f, "", found)
    return found


def _look(group: h5py.Group, path: str, found: dict[str, Any]) -> None:
    found[f"{path}/"] = _attributes(group)
    for name in group:
        at, link = f"{path}/{name}", group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            found[at] = {key: str(value) for key, value in vars(link).items()}
            continue
        member = group[name]
        if isinstance(member, h5py.Group):
            _look(member, at, found)
        elif isinstance(member, h5py.Dataset):
            found[at] = [member.shape, member.maxshape, _kind(member), _elements(member)]
            found[at].append(_attributes(member))
        else:
            found[at] = [_kind(member), _attributes(member)]


def _kind(of: h5py.HLObject) -> bytes:
    kind = of.id if isinstance(of, h5py.Datatype) else of.id.get_type()
    return bytes(kind.encode())


def _elements(of: h5py.Dataset) -> Any:
    """As they are in the file, where they hold nothing that only points to something."""
    kind = of.id.get_type()
    pointing = (h5py.h5t.VLEN, h5py.h5t.REFERENCE)
    if _unknown(of):
        return None
    if of.shape is None or any(kind.detect_class(one) for one in pointing) or _texts(kind):
        return _value(of, of[()])
    into = np.empty(of.size * kind.get_size(), np.uint8)
    of.id.read(h5py.h5s.ALL, h5py.h5s.ALL, into, mtype=kind)
    return into.tobytes()


def _unknown(of: h5py.Dataset) -> bool:
    """References of HDF5 1.12 and later; what they hold are addresses."""
    try:
        return of.dtype is None
    except TypeError:
        return True


def _texts(kind: h5py.h5t.TypeID) -> bool:
    return isinstance(kind, h5py.h5t.TypeStringID) and kind.is_variable_str()


def _attributes(of: h5py.HLObject) -> dict[str, Any]:
    return {name: _value(of, of.attrs[name]) for name in of.attrs}


def _value(of: h5py.HLObject, value: Any) -> Any:
    """Bytes where there are some; references by what they lead to."""
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        return value.tobytes()
    if isinstance(value, np.ndarray):
        return [_value(of, part) for part in value.ravel()]
    if isinstance(value, np.void | tuple):
        return [_value(of, part) for part in value]
    if isinstance(value, h5py.RegionReference):
        return of.file[value].name, str(h5py.h5r.get_region(value, of.id).get_select_bounds())
    if isinstance(value, h5py.Reference):
        return of.file[value].name if value else None
    return str(value)
