# SPDX-License-Identifier: Apache-2.0
"""Elements and attributes of HDF5 files, as numpy arrays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, TypeGuard

import h5py
import numpy as np
from h5py import h5d, h5s, h5t

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.allocated import Allocated, Everything
from tailrace.verify.hdf5_types import has_opaque, has_padded_text, stored_type, type_of
from tailrace.verify.model import Attribute, Box, Node, Shape, Storage, Values
from tailrace.verify.types import Bitfield, Type

# What is read of bitfields with unused bits: HDF5 moves the others to the low end.
_whole_bitfields = {1: h5t.STD_B8LE, 2: h5t.STD_B16LE, 4: h5t.STD_B32LE, 8: h5t.STD_B64LE}

_cache_bytes = 64 << 20

# HDF5's words where a filter is not there; one that found damage "returned failure".
_plugin_missing = ("can't find plugin", "required filter", "can't open directory")


def damaged(path: Path, error: Exception, where: str = "") -> TailraceError:
    """The error of a file that calls itself HDF5 and cannot be read as such."""
    text = str(error) or type(error).__name__
    what = f"cannot read {where}: {text}" if where else f"not readable as HDF5: {text}"
    hint = "the file is incomplete or damaged; write it again, or restore it from a copy"
    code = ExitCode.VERIFICATION_FAILED
    lowered = text.lower()
    if "conversion path" in lowered:
        hint = "this datatype cannot be read here; --ignore PATH leaves the object out"
    elif any(words in lowered for words in _plugin_missing):
        code = ExitCode.CAPABILITY_MISSING
        hint = (
            "HDF5 needs the filter's plugin to read this: set HDF5_PLUGIN_PATH to its folder, "
            "or `pip install hdf5plugin`"
        )
    elif "unable to lock" in lowered:
        code = ExitCode.USAGE
        hint = "another program has the file open; wait, or set HDF5_USE_FILE_LOCKING=FALSE"
    return TailraceError(what, where=str(path), hint=hint, code=code)


def read_attribute(attribute: Any, committed: str) -> Attribute:
    """`committed`: the path of its type, where that is a named one."""
    tid = attribute.get_type()
    kind = type_of(tid)
    if attribute.get_space().get_simple_extent_type() == h5s.NULL:
        return Attribute(kind, None, None, committed)
    shape: Shape = tuple(int(n) for n in attribute.shape)
    dtype = _numpy_type(attribute)
    if _leaves_bits_unused(kind):
        values = np.zeros(shape, f"<u{kind.size}")
        attribute.read(values, mtype=_whole_bitfields[kind.size])
        return Attribute(kind, shape, values, committed)
    if dtype is None or has_opaque(kind) or has_padded_text(kind):
        values = np.zeros(shape, f"V{tid.get_size()}")
        attribute.read(values, mtype=tid)
        values = values.view(dtype or stored_type(tid))
        return Attribute(kind, shape, values, committed)
    outer = shape
    memory = h5t.py_create(dtype)
    if dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        outer = shape + inner
    values = np.zeros(outer, dtype=dtype, order="C")
    if math.prod(shape):
        attribute.read(values, mtype=memory)
    return Attribute(kind, shape, values, committed)


def unallocated(dataset: Any, node: Node) -> int:
    """Elements without storage. Where storage is compact or elsewhere, none."""
    if not node.shape:
        return 0
    layout = dataset.get_create_plist().get_layout()
    if layout == h5d.CONTIGUOUS and dataset.get_create_plist().get_external_count() == 0:
        return math.prod(node.shape) if dataset.get_storage_size() == 0 else 0
    if layout != h5d.CHUNKED or node.chunk is None:
        return 0
    grid = [-(-extent // chunk) for extent, chunk in zip(node.shape, node.chunk, strict=True)]
    missing = math.prod(grid) - dataset.get_num_chunks()
    return min(missing * math.prod(node.chunk), math.prod(node.shape)) if missing > 0 else 0


def storage(dataset: Any, node: Node) -> Storage:
    """Where `unallocated` has found elements without."""
    if unallocated(dataset, node) == 0 or node.shape is None:
        return Everything(there=True)
    if node.chunk is None:
        return Everything(there=False)
    return Allocated(dataset, node.shape, node.chunk)


def cache_for(node: Node, most: int) -> int:
    """Room for one row of chunks, so that reading in row-major order unpacks each chunk once; but
    at most `most` bytes."""
    if node.shape is None or node.chunk is None:
        return min(_cache_bytes, most)
    first = next((axis for axis, extent in enumerate(node.chunk) if extent > 1), 0)
    row = node.chunk[first] * math.prod(node.shape[first + 1 :]) * 8
    return min(max(2 * row, _cache_bytes), most)


def read_box(dataset: h5py.Dataset, kind: Type | None, box: Box) -> Values:
    """The elements of a box, a scalar's is ()."""
    dtype = _numpy_type(dataset)
    if _leaves_bits_unused(kind):
        return _read_as(_whole_bitfields[kind.size], dataset, box).view(f"<u{kind.size}")
    if dtype is not None and (has_opaque(kind) or has_padded_text(kind)):
        return _read_stored(dataset, box).view(dtype)
    if dtype is None:
        return _read_stored(dataset, box).view(stored_type(dataset.id.get_type()))
    if dtype.kind in "iufb" and dtype.subdtype is None and box:
        # Zeros first: elements without storage and without a fill value leave the buffer as it was.
        values = np.zeros(tuple(part.stop - part.start for part in box), dtype)
        if values.size:
            dataset.read_direct(values, source_sel=box)
        return values
    values = dataset[box]
    if not box and dtype.kind == "O":
        # The one element may itself be an array, which must not become the dataset's extents.
        cell = np.empty(1, object)
        cell[0] = values
        return cell.reshape(())
    return np.asarray(values)


def _leaves_bits_unused(kind: Type | None) -> TypeGuard[Bitfield]:
    return isinstance(kind, Bitfield) and kind.bits is not None and kind.size in _whole_bitfields


def _numpy_type(holder: Any) -> Any:
    """None where numpy has no equal of the type."""
    try:
        return holder.dtype
    except TypeError:
        return None


def _read_stored(dataset: h5py.Dataset, box: Box) -> Values:
    """The bytes as they are stored: of a type that numpy has no equal of, or that holds opaque
    parts, whose tag h5py loses so that HDF5 refuses to convert them."""
    return _read_as(dataset.id.get_type(), dataset, box)


def _read_as(tid: Any, dataset: h5py.Dataset, box: Box) -> Values:
    """The bytes of the elements as `tid` has them."""
    extents = tuple(part.stop - part.start for part in box)
    values = np.zeros(extents, f"V{tid.get_size()}")
    if not values.size:
        return values
    space = dataset.id.get_space()
    if box:
        space.select_hyperslab(tuple(part.start for part in box), extents)
        memory = h5s.create_simple(extents)
    else:
        memory = h5s.create(h5s.SCALAR)
    dataset.id.read(memory, space, values, mtype=tid)
    return values
