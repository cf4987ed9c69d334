# SPDX-License-Identifier: Apache-2.0
"""Datasets of compounds of numbers, as the arrays with one dimension more that others have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tailrace.verify.model import Box, Node, Values
from tailrace.verify.types import Compound, Float, Integer, Type


def member_types(node: Node) -> dict[str, Type]:
    """By name; empty where the elements are no compounds of numbers of one size."""
    if not isinstance(node.type, Compound):
        return {}
    members = dict(node.type.members)
    sizes = {kind.size if isinstance(kind, Float | Integer) else 0 for kind in members.values()}
    return members if len(sizes) == 1 and sizes != {0} else {}


def as_numbers(node: Node, kind: Float | None = None) -> Node:
    """The same numbers, a compound's members along a last dimension, in `kind` or else the type of
    the first one; another node as it is."""
    members = member_types(node)
    if not members or node.shape is None or node.read is None:
        return node
    names, whole = list(members), node.read

    def read(box: Box) -> Values:
        found = whole(box[:-1])
        to = found.dtype[names[0]] if kind is None else np.dtype(f"f{kind.size}")
        return np.stack([found[name].astype(to) for name in names[box[-1]]], axis=-1)

    def longer(extents: tuple[int, ...] | None) -> tuple[int, ...] | None:
        return None if extents is None else (*extents, len(names))

    return replace(
        node, type=kind or members[names[0]], read=read,
        shape=longer(node.shape), chunk=longer(node.chunk),
        limits=None if node.limits is None else (*node.limits, len(names)),
    )  # fmt: skip


def with_numbers(one: dict[str, Node], other: dict[str, Node]) -> None:
    """Where one side has compounds and the other an array of their numbers: both as numbers, and
    those of unlike types in one that holds them all (a large int32 is not what float32 makes of
    it). Where there is none (int64 and float64), as they are."""
    for path, node in one.items():
        mate = other.get(path)
        if mate is None or isinstance(mate.type, Compound) == isinstance(node.type, Compound):
            continue
        is_first = bool(member_types(node))
        mine, its = (node, mate) if is_first else (mate, node)
        seen, kinds = as_numbers(mine), set(member_types(mine).values())
        if seen.shape != its.shape:
            continue
        if len(kinds) > 1 and seen.type == its.type:
            if max(getattr(kind, "size", 8) for kind in kinds) > 4:
                continue
            seen, its = as_numbers(mine, Float(8)), _as_doubles(its)
        one[path], other[path] = (seen, its) if is_first else (its, seen)


def _as_doubles(node: Node) -> Node:
    assert node.read is not None
    whole = node.read
    return replace(node, type=Float(8), read=lambda box: whole(box).astype("f8"))
