# SPDX-License-Identifier: Apache-2.0
"""Content hashes: XXH3-128 over what a file says, whatever its layout.

The hash of a dataset is over its elements alone, in row-major order and canonical form
(canonical.py), so that it is the same in every format. The hash of a file covers paths, kinds,
types, extents, values and attributes: two files of one family have the same one exactly when they
compare equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from tailrace.verify.compare_values import element_bytes
from tailrace.verify.files import open_tree
from tailrace.verify.ignore import Ignore
from tailrace.verify.model import Attribute, Node
from tailrace.verify.node_hash import hash_attributes, hash_elements, joined, node_facts

schema = "tailrace-content/1"
Meter = Callable[[int, int], None]


@dataclass(frozen=True)
class ObjectHash:
    """`data` is empty for what has no elements; `attributes` where there are none."""

    path: str
    kind: str
    type: str
    shape: tuple[int, ...] | None
    data: str
    attributes: str


@dataclass
class FileHash:
    path: Path
    format: str
    whole: str = ""
    objects: list[ObjectHash] = field(default_factory=list)
    read_bytes: int = 0


def hash_file(
    path: Path, ignore: tuple[str, ...] = (), meter: Meter = lambda _done, _total: None
) -> FileHash:
    """Hashes everything that is not left out, in bounded memory."""
    patterns = Ignore(ignore)
    tree = open_tree(path, patterns.path)
    try:
        result = FileHash(path, tree.format)
        total = sum(_bytes(node) for node in tree.nodes.values())
        whole = xxhash.xxh3_128(schema.encode())

        def advance(slab_bytes: int) -> None:
            result.read_bytes += slab_bytes
            meter(result.read_bytes, total)

        for node in tree.nodes.values():
            data = hash_elements(node, tree.reference_text, advance)
            attributes = hash_attributes(_kept(node, patterns), tree.reference_text)
            kind = node.type.describe() if node.type else ""
            result.objects.append(
                ObjectHash(node.path, node.kind, kind, node.shape, data, attributes)
            )
            whole.update(joined((node.path, *node_facts(node), data, attributes)))
        result.whole = whole.hexdigest()
        return result
    finally:
        tree.close()


def _kept(node: Node, ignore: Ignore) -> dict[str, Attribute]:
    return {
        name: attribute
        for name, attribute in node.read_attributes().items()
        if not ignore.attribute(node.path, name)
    }


def _bytes(node: Node) -> int:
    if node.read is None or not node.shape or node.type is None:
        return 0
    return math.prod(node.shape) * element_bytes(node.type)
