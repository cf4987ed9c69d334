# SPDX-License-Identifier: Apache-2.0
"""XXH3-128 over the elements, and over the attributes, of one node in canonical form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import xxhash

from tailrace.verify.canonical import ReferenceText, as_bytes, encode, numbers, plain
from tailrace.verify.compare_values import back_references, slab_elements
from tailrace.verify.model import Attribute, Node
from tailrace.verify.pace import Pace
from tailrace.verify.tiles import paced, row_major


def hash_elements(
    node: Node, resolve: ReferenceText, advance: Callable[[int], None] = lambda _bytes: None
) -> str:
    """In row-major order; empty for what has no elements. `advance`: bytes of each slab."""
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
            hasher.update(as_bytes(encode(values, node.type, resolve)))
        advance(values.nbytes)
    return hasher.hexdigest()


def hash_attributes(attributes: Mapping[str, Attribute], resolve: ReferenceText) -> str:
    """In the order of names; empty where there are none."""
    if not attributes:
        return ""
    hasher = xxhash.xxh3_128()
    for name, attribute in sorted(attributes.items()):
        facts = (name, repr(attribute.type), attribute.committed, repr(attribute.shape))
        hasher.update(joined(facts))
        hasher.update(_attribute_bytes(name, attribute, resolve))
    return hasher.hexdigest()


def joined(facts: Iterable[str]) -> bytes:
    """Texts, each behind its length, so that no two lists of them give the same bytes."""
    raw = [fact.encode("utf-8", "surrogateescape") for fact in facts]
    return b"".join(len(text).to_bytes(8, "little") + text for text in raw)


def node_facts(node: Node) -> tuple[str, ...]:
    """All that a node says of itself but its elements and attributes."""
    return (
        node.kind, node.target, repr(node.type), node.committed,
        repr(node.shape), repr(node.limits), repr(node.dimensions),
    )  # fmt: skip


def _attribute_bytes(name: str, attribute: Attribute, resolve: ReferenceText) -> bytes:
    if attribute.values is None:
        return b""
    encoded = encode(attribute.values, attribute.type, resolve)
    if isinstance(encoded, list) and back_references(name, attribute.type):
        encoded = sorted(encoded)
    return bytes(as_bytes(encoded))
