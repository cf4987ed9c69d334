# SPDX-License-Identifier: Apache-2.0
"""Whether two files have the same logical content."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.verify import pace
from tailrace.verify.close import EXACT, Tolerance
from tailrace.verify.common_view import common_views
from tailrace.verify.compare_values import (
    ValueComparison,
    attributes_differ,
    element_bytes,
)
from tailrace.verify.differences import CompareReport, Difference
from tailrace.verify.files import greatest_cache_bytes, open_tree
from tailrace.verify.ignore import Ignore
from tailrace.verify.model import Attribute, Node, Tree
from tailrace.verify.plot.view import opened_pair
from tailrace.verify.same_bytes import same_bytes
from tailrace.verify.show import extents_text, limits_text, shown_attribute

Meter = Callable[[int, int], None]
_kind_words = {"type": "committed datatype", "alias": "hard link to an object named elsewhere too"}


@dataclass(frozen=True)
class CompareOptions:
    """What is left out, how near is near enough, how many differences are kept, and elements of one
    dataset among them (None: all for which there is room); and how much memory it takes: for
    elements that are compared at a time, and for unpacked chunks of each file. trusts_bytes: of
    files with the same bytes no elements are read, so that damaged ones are not found."""

    ignore: tuple[str, ...] = ()
    tolerance: Tolerance = EXACT
    most: int = 20
    slab_bytes: int = pace.slab_bytes
    cache_bytes: int = greatest_cache_bytes
    elements_of_each: int | None = None
    trusts_bytes: bool = False


DEFAULTS = CompareOptions()


def compare_files(
    one: Path,
    other: Path,
    options: CompareOptions = DEFAULTS,
    meter: Meter = lambda _done, _total: None,
) -> CompareReport:
    """Compares everything that is not left out.

    Raises TailraceError where one of the files cannot be opened (exit code 2) or is not whole (3).
    """
    started = time.perf_counter()
    ignore = Ignore(options.ignore)
    left, right = opened_pair(
        one, other, lambda path: open_tree(path, ignore.path, options.cache_bytes), ignore.path
    )
    try:
        try:
            report = CompareReport(one, other, (left.format, right.format))
            _Comparison(left, right, options, ignore, report, meter).run()
        finally:
            right.close()
    finally:
        left.close()
    report.unused_patterns = ignore.unused()
    report.elapsed_s = time.perf_counter() - started
    return report


class _Comparison:
    def __init__(
        self,
        left: Tree,
        right: Tree,
        options: CompareOptions,
        ignore: Ignore,
        report: CompareReport,
        meter: Meter,
    ) -> None:
        self._left, self._right = left, right
        self._options, self._ignore, self._report = options, ignore, report
        self._nodes, self._others, report.model = common_views(left, right)
        self._meter = meter
        self._is_same = (
            options.trusts_bytes and _is_one_file(left) and same_bytes(left.path, right.path)
        )
        self._total_bytes = sum(_bytes(node) for node in self._nodes.values())
        most = options.most
        if options.elements_of_each is not None:
            most = min(most, options.elements_of_each)
        self._values = ValueComparison(
            left.reference_text, right.reference_text, options.tolerance, most, options.slab_bytes
        )

    def run(self) -> None:
        for path in sorted(self._nodes.keys() | self._others.keys()):
            one, other = self._nodes.get(path), self._others.get(path)
            if one is None or other is None:
                self._add(Difference(path, "only", _said(one), _said(other)))
                continue
            self._report.objects += 1
            if one.kind != other.kind:
                self._add(Difference(path, "kind", _said(one), _said(other)))
                continue
            self._compare_nodes(one, other)

    def _compare_nodes(self, one: Node, other: Node) -> None:
        if one.target != other.target:
            self._add(Difference(one.path, "link", one.target, other.target))
        same = self._same_type(one, other)
        if one.shape != other.shape:
            texts = extents_text(one.shape), extents_text(other.shape)
            self._add(Difference(one.path, "extents", *texts))
            same = False
        elif one.limits != other.limits:
            texts = limits_text(one.limits), limits_text(other.limits)
            self._add(Difference(one.path, "limits", *texts))
        if one.dimensions != other.dimensions:
            texts = _names(one), _names(other)
            self._add(Difference(one.path, "dimensions", *texts))
        if same and one.read is not None and one.shape is not None:
            self._compare_elements(one, other)
        self._compare_attributes(one, other)

    def _same_type(self, one: Node, other: Node) -> bool:
        if one.type != other.type:
            texts = _described(one), _described(other)
            self._add(Difference(one.path, "type", *texts))
            return False
        if one.committed != other.committed:
            texts = _committed(one.committed), _committed(other.committed)
            self._add(Difference(one.path, "type", *texts))
        return True

    def _compare_elements(self, one: Node, other: Node) -> None:
        before = self._report.read_bytes
        if self._is_same and not (one.elsewhere or other.elsewhere):
            self._report.read_bytes += _bytes(one)
            return

        def advance(done_bytes: int) -> None:
            self._report.read_bytes = before + done_bytes
            self._meter(self._report.read_bytes, self._total_bytes)

        found, count = self._values.compare(one, other, advance)
        self._report.differing_elements += count
        for difference in found:
            self._add(difference, counted=difference is found[0])

    def _compare_attributes(self, one: Node, other: Node) -> None:
        left = one.read_attributes()
        right = left if self._is_same else other.read_attributes()
        for name in sorted(left.keys() | right.keys()):
            if self._ignore.attribute(one.path, name):
                continue
            self._report.attributes += 1
            if self._is_same:
                continue
            a, b = left.get(name), right.get(name)
            if a is None or b is None:
                texts = self._shown(a, b)
                self._add(Difference(one.path, "only", *texts, attribute=name))
                continue
            self._compare_attribute(one.path, name, a, b)

    def _compare_attribute(self, path: str, name: str, a: Attribute, b: Attribute) -> None:
        difference = Difference(path, "value", "", "", attribute=name)
        if a.type != b.type or a.committed != b.committed:
            texts = [f"{x.type.describe()}{_suffix(x.committed)}" for x in (a, b)]
            self._add(replace(difference, kind="type", one=texts[0], other=texts[1]))
        elif a.shape != b.shape:
            texts = [extents_text(x.shape) for x in (a, b)]
            self._add(replace(difference, kind="extents", one=texts[0], other=texts[1]))
        elif a.values is not None and b.values is not None:
            resolvers = self._left.reference_text, self._right.reference_text
            count = attributes_differ(name, a, b, resolvers, self._options.tolerance)
            if count:
                one, other = self._shown(a, b)
                self._add(replace(difference, one=one, other=other, count=count))

    def _shown(self, a: Attribute | None, b: Attribute | None) -> tuple[str, str]:
        one = "absent" if a is None else shown_attribute(a, self._left.reference_text)
        other = "absent" if b is None else shown_attribute(b, self._right.reference_text)
        return one, other

    def _add(self, difference: Difference, counted: bool = True) -> None:
        """Several elements of a dataset are one difference; the first ones are kept apart."""
        self._report.total += 1 if counted else 0
        if len(self._report.first) < self._options.most:
            self._report.first.append(difference)


def _is_one_file(tree: Tree) -> bool:
    return tree.format == "HDF5" or tree.format.startswith("netCDF")


def _bytes(node: Node) -> int:
    if node.kind != "dataset" or not node.shape or node.type is None:
        return 0
    return math.prod(node.shape) * element_bytes(node.type)


def _said(node: Node | None) -> str:
    if node is None:
        return "absent"
    words = _kind_words.get(node.kind, node.kind)
    return f"{words} ({node.target})" if node.target else words


def _described(node: Node) -> str:
    return node.type.describe() if node.type else "none"


def _names(node: Node) -> str:
    return "none" if node.dimensions is None else "(" + ", ".join(node.dimensions) + ")"


def _committed(path: str) -> str:
    return f"the committed type {path}" if path else "a type of its own"


def _suffix(path: str) -> str:
    return f" (committed as {path})" if path else ""
