# SPDX-License-Identifier: Apache-2.0
"""Attributes as files of different families have them in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tailrace.verify.canonical import ReferenceText
from tailrace.verify.compare_values import back_references
from tailrace.verify.model import Attribute, Node
from tailrace.verify.types import Compound, Float, Integer, Reference, Text, Vlen

Attributes = Mapping[str, Attribute]

shadowed = "_nc4_non_coord_"  # the HDF5 name of a variable that is named like another's dimension
_only_a_dimension = "This is a netCDF dimension but not a netCDF variable"
_text_type = Text(None, "utf-8", "null-terminated")


# Of a kernel's file: where, as what and how it was written, and what was done besides.
_how_written = frozenset({
    "format", "filename", "chunk", "hints", "hint", "collective_write", "alignment", "precreate",
    "set_collective_metadata", "collective_metadata_write", "multi_dataset", "never_fill",
    "early_allocation", "alloc_time", "shuffle", "deflate", "zstd", "zfp", "filter", "fletcher32",
    "encode", "subfile", "reassemble", "libver", "metadata_block_size", "page_allocation", "szip",
    "quantize", "cmode", "unlimited", "default_chunks", "endian", "cdf", "put",
    "header_alignment", "record_alignment", "header_reserve", "burst_buffer", "repeat", "compute",
    "fsync", "reserve", "read_back", "read", "cold_cache", "verify", "limit", "results",
    "lfs_stripe_count", "lfs_stripe_size", "simulation_attributes",  # which says it all once more
})  # fmt: skip
_exact_in_doubles = 2**53


def plain_attributes(attributes: Attributes, left_out: Collection[str]) -> dict[str, Attribute]:
    """Texts without the way they are stored; one number is a list of one."""
    return {
        name: _plain(attribute) for name, attribute in attributes.items() if name not in left_out
    }


def classic_attributes(attributes: dict[str, Attribute], narrow: bool) -> dict[str, Attribute]:
    """What a classic netCDF file could say of it: no compounds; several texts as one, a line each.

    `narrow`: CDF-1 and CDF-2 have no integers of 64 bits and none without a sign; numbers are then
    compared by value.
    """
    return {
        name: by_value(joined(attribute)) if narrow else joined(attribute)
        for name, attribute in attributes.items()
        if not isinstance(attribute.type, Compound)
    }


def joined(attribute: Attribute) -> Attribute:
    """Several texts as one, a line each."""
    values = attribute.values
    if not isinstance(attribute.type, Text) or values is None or values.size < 2:
        return attribute
    text = np.empty(1, object)
    text[0] = b"\n".join(bytes(one) for one in values.reshape(-1))
    return replace(attribute, shape=(), values=text.reshape(()))


def by_value(attribute: Attribute) -> Attribute:
    values = attribute.values
    if values is None or values.dtype.kind not in "iubf":
        return attribute
    if values.dtype.kind in "iu" and any(abs(int(v)) > _exact_in_doubles for v in values.flat):
        return attribute
    return Attribute(Float(8), attribute.shape, values.astype(np.float64))


def how_written(root: Attributes) -> frozenset[str]:
    """Names of attributes of a file of our kernels that say how it was written, not what."""
    return _how_written if text_of(root.get("schema")).startswith("tailrace-") else frozenset()


def netcdf_name(path: str) -> str:
    """The last part of a path, as netCDF shows it."""
    return path.rpartition("/")[2].replace(shadowed, "")


# --- dimension scales ---------------------------------------------------------------------------


def is_of_netcdf(root: Attributes) -> bool:
    """Whether the netCDF library wrote the file that the root's attributes belong to."""
    return "_NCProperties" in root or "_nc3_strict" in root


def is_scale(attributes: Attributes) -> bool:
    return text_of(attributes.get("CLASS")) == "DIMENSION_SCALE"


def is_only_a_dimension(attributes: Attributes) -> bool:
    return text_of(attributes.get("NAME")).startswith(_only_a_dimension)


def dimensions_used(
    node: Node, attributes: Attributes, resolve: ReferenceText
) -> tuple[str, ...] | None:
    """The names of the scales along a dataset's axes; None where there are none."""
    scales = attributes.get("DIMENSION_LIST")
    if not _is_list_of_scales(node, scales) or scales is None or scales.values is None:
        return None
    names = []
    for references in scales.values.reshape(-1):
        items = np.asarray(references).reshape(-1) if references is not None else np.zeros(0)
        names.append(netcdf_name(resolve(items[0], "object")) if items.size else "")
    return tuple(names)


def bookkeeping(
    node: Node, attributes: Attributes, used: tuple[str, ...] | None, is_netcdf: bool
) -> set[str]:
    """Names of the attributes that say nothing but which dimensions there are and are used.

    An attribute is not bookkeeping for its name alone: a dataset that is no scale may well have a
    NAME, and a scale one that tells more than its path.
    """
    scale = is_scale(attributes)
    label = text_of(attributes.get("NAME"))
    tells_nothing = (
        is_netcdf or label in {"", netcdf_name(node.path)} or is_only_a_dimension(attributes)
    )
    found = set()
    for name, attribute in attributes.items():
        match name:
            case "CLASS":
                hidden = scale
            case "NAME":
                hidden = scale and tells_nothing
            case "REFERENCE_LIST":
                hidden = scale and back_references(name, attribute.type)
            case "DIMENSION_LIST":
                hidden = _is_list_of_scales(node, attribute)
            case "DIMENSION_LABELS":
                hidden = _labels(attribute) in ((), used)
            case "_Netcdf4Dimid" | "_Netcdf4Coordinates":
                hidden = isinstance(attribute.type, Integer) and node.kind == "dataset"
            case "_NCProperties" | "_nc3_strict":
                hidden = node.path == "/"
            case _:
                hidden = False
        if hidden:
            found.add(name)
    return found


def _is_list_of_scales(node: Node, attribute: Attribute | None) -> bool:
    """One sequence of references per axis."""
    return (
        attribute is not None
        and attribute.type == Vlen(Reference("object"))
        and node.shape is not None
        and attribute.shape == (len(node.shape),)
    )


def _labels(attribute: Attribute) -> tuple[str, ...] | None:
    """Of the axes; () where all are empty, None where these are no labels."""
    if not isinstance(attribute.type, Text) or attribute.values is None:
        return None
    texts = tuple(
        text.decode("utf-8", "replace") for text in _texts(attribute.values, attribute.type)
    )
    return texts if any(texts) else ()


# --- texts and numbers --------------------------------------------------------------------------


def _plain(attribute: Attribute) -> Attribute:
    values, kind = attribute.values, attribute.type
    if isinstance(kind, Text):
        found = [b""] if values is None else _texts(values, kind)
        texts = np.empty(len(found), object)
        texts[:] = found
        shape = () if len(found) == 1 else attribute.shape or (0,)
        return Attribute(_text_type, shape, texts.reshape(shape))
    if isinstance(kind, Compound):
        kind = plain_members(kind)
    if values is None or isinstance(kind, Reference):
        return replace(attribute, type=kind, committed="")
    if attribute.shape == ():
        return Attribute(kind, (1,), values.reshape(1))
    return Attribute(kind, attribute.shape, values)


def plain_members(kind: Compound) -> Compound:
    """Texts of any length are texts, whatever their character set is called."""
    return Compound(
        tuple(
            (name, _text_type if isinstance(member, Text) and member.size is None else member)
            for name, member in kind.members
        )
    )


def _texts(values: np.ndarray[Any, Any], kind: Text) -> list[bytes]:
    if kind.size is None:
        return [
            item.encode("utf-8", "surrogateescape") if isinstance(item, str) else bytes(item)
            for item in values.reshape(-1)
        ]
    rows = np.ascontiguousarray(values).reshape(-1)
    raw = [bytes(row) for row in rows.view(f"V{rows.itemsize}").tolist()] if rows.size else []
    if kind.padding == "space-padded":
        return [text.rstrip(b" ") for text in raw]
    if kind.padding == "null-terminated" and not kind.whole:
        return [text.partition(b"\0")[0] for text in raw]
    return raw if kind.whole else [text.rstrip(b"\0") for text in raw]


def text_of(attribute: Attribute | None) -> str:
    if attribute is None or attribute.values is None or not isinstance(attribute.type, Text):
        return ""
    texts = _texts(attribute.values, attribute.type)
    return texts[0].rstrip(b"\0").decode("utf-8", "replace") if texts else ""
