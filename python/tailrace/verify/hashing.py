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

from tailrace.verify.canonical import ReferenceText, as_bytes, encode, numbers, plain
from tailrace.verify.compare_values import back_references, element_bytes, slab_elements
from tailrace.verify.files import open_tree
from tailrace.verify.ignore import Ignore
from tailrace.verify.model import Attribute, Node, Tree
from tailrace.verify.pace import Pace
from tailrace.verify.tiles import paced, row_major

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
        for node in tree.nodes.values():
            data = _hash_data(node, tree, result, lambda done: meter(done, total))
            attributes = _hash_attributes(node, tree, patterns)
            kind = node.type.describe() if node.type else ""
            result.objects.append(
                ObjectHash(node.path, node.kind, kind, node.shape, data, attributes)
            )
            facts = (
                node.path, node.kind, node.target, repr(node.type), node.committed,
                repr(node.shape), repr(node.limits), repr(node.dimensions), data, attributes,
            )  # fmt: skip
            whole.update(_joined(facts))
        result.whole = whole.hexdigest()
        return result
    finally:
        tree.close()


def _hash_data(node: Node, tree: Tree, result: FileHash, advance: Callable[[int], None]) -> str:
    if node.read is None or node.shape is None or node.type is None:
        return ""
    hasher = xxhash.xxh3_128()
    pace = Pace()
    for box in (
        paced(node.shape, pace)
        if node.type.variable
        else row_major(node.shape, node.chunk, slab_elements(node.type))
    ):
        values = node.read(box)
        if node.type.variable:
            pace.learn(values)
        if plain(node.type, values) and values.dtype.itemsize in (1, 2, 4, 8):
            hasher.update(numbers(values).data)
        else:
            hasher.update(as_bytes(encode(values, node.type, tree.reference_text)))
        result.read_bytes += values.nbytes
        advance(result.read_bytes)
    return hasher.hexdigest()


def _hash_attributes(node: Node, tree: Tree, ignore: Ignore) -> str:
    attributes = {
        name: attribute
        for name, attribute in sorted(node.read_attributes().items())
        if not ignore.attribute(node.path, name)
    }
    if not attributes:
        return ""
    hasher = xxhash.xxh3_128()
    for name, attribute in attributes.items():
        facts = (name, repr(attribute.type), attribute.committed, repr(attribute.shape))
        hasher.update(_joined(facts))
        hasher.update(_attribute_bytes(name, attribute, tree.reference_text))
    return hasher.hexdigest()


def _attribute_bytes(name: str, attribute: Attribute, resolve: ReferenceText) -> bytes:
    if attribute.values is None:
        return b""
    encoded = encode(attribute.values, attribute.type, resolve)
    if isinstance(encoded, list) and back_references(name, attribute.type):
        encoded = sorted(encoded)
    return bytes(as_bytes(encoded))


def _joined(facts: tuple[str, ...]) -> bytes:
    """Texts, each behind its length, so that no two lists of them give the same bytes."""
    raw = [fact.encode("utf-8", "surrogateescape") for fact in facts]
    return b"".join(len(text).to_bytes(8, "little") + text for text in raw)


def _bytes(node: Node) -> int:
    if node.read is None or not node.shape or node.type is None:
        return 0
    return math.prod(node.shape) * element_bytes(node.type)
