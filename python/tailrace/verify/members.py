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


def as_numbers(node: Node) -> Node:
    """The same numbers, a compound's members along a last dimension, in the type of the first one;
    another node as it is."""
    members = member_types(node)
    if not members or node.shape is None or node.read is None:
        return node
    names, whole = list(members), node.read

    def read(box: Box) -> Values:
        found = whole(box[:-1])
        first = found.dtype[names[0]]
        return np.stack([found[name].astype(first) for name in names[box[-1]]], axis=-1)

    def longer(extents: tuple[int, ...] | None) -> tuple[int, ...] | None:
        return None if extents is None else (*extents, len(names))

    return replace(
        node, type=members[names[0]], shape=longer(node.shape), chunk=longer(node.chunk), read=read,
        limits=None if node.limits is None else (*node.limits, len(names)),
    )  # fmt: skip


def with_numbers(one: dict[str, Node], other: dict[str, Node]) -> None:
    """Where one side has compounds and the other an array of their numbers: both as numbers."""
    for path, node in one.items():
        mate = other.get(path)
        if mate is None or isinstance(mate.type, Compound) == isinstance(node.type, Compound):
            continue
        side, mine, its = (one, node, mate) if member_types(node) else (other, mate, node)
        if (seen := as_numbers(mine)).shape == its.shape:
            side[path] = seen
