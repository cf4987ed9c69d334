# SPDX-License-Identifier: Apache-2.0
"""What a seism file says about the run that wrote it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.model import Attribute, Node, Tree
from tailrace.verify.types import Float

dataset_path = "/chunked"
known_schema = "tailrace-seism/1"
fills = ("rank", "position", "plugin")
_greatest = 1 << 63
_greatest_narrow = (1 << 32) - 1

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Seism:
    """Geometry and fill of a seism file; extents are x, y, z with z the fastest."""

    processor: Triple
    domain: Triple
    steps: int
    fill: str
    library: str = ""
    function: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def extents(self) -> Triple:
        x, y, z = (p * d for p, d in zip(self.processor, self.domain, strict=True))
        return x, y, z

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return (self.steps, *self.extents)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    def describe(self) -> str:
        grid, block = _by(self.processor), _by(self.domain)
        fill = f"{self.function} of {self.library}" if self.fill == "plugin" else self.fill
        return f"{grid} blocks of {block}, {self.steps} steps, fill {fill}"


def describe_run(tree: Tree) -> Seism:
    """Reads the attributes of the kernel.

    Raises: exit code 2 where the file is not a kernel's, 3 where what it says is contradictory.
    """
    attributes = tree.nodes["/"].read_attributes()
    if "kernel" in attributes:
        name = _string(attributes["kernel"])
        if name != "seism":
            raise TailraceError(
                f'it is of the kernel "{name}"',
                where=str(tree.path),
                hint="known here: seism, slab, particle",
            )
        run = _from_plain(tree, attributes)
        if "simulation_attributes" in attributes:
            _check_same(tree, run, _from_compound(tree, attributes["simulation_attributes"]))
        return run
    if "simulation_attributes" in attributes:
        return _from_compound(tree, attributes["simulation_attributes"])
    raise TailraceError(
        "is not a kernel's file: it has no attribute `kernel`",
        where=str(tree.path),
        hint="`tailrace verify A B` compares any two files; `--hash FILE` prints content hashes",
    )


def data_node(tree: Tree, run: Seism) -> Node:
    """The dataset, checked to be of the extents and the type that the attributes imply."""
    node = tree.nodes.get(dataset_path)
    if node is None or node.kind != "dataset":
        raise _wrong(tree, f"it has no dataset {dataset_path}")
    if node.shape != run.shape:
        extents = "empty" if node.shape is None else _by(node.shape)
        raise _wrong(tree, f"{dataset_path} is {extents}, its attributes say {_by(run.shape)}")
    if node.type != Float(4):
        found = node.type.describe() if node.type else "nothing"
        raise _wrong(tree, f"{dataset_path} holds {found} instead of float32")
    return node


def _from_plain(tree: Tree, attributes: Mapping[str, Attribute]) -> Seism:
    missing = [
        key for key in ("schema", "fill", "processor", "domain", "time") if key not in attributes
    ]
    if missing:
        raise _wrong(tree, f"the attribute {missing[0]} is missing")
    schema = _string(attributes["schema"])
    if schema != known_schema:
        raise _wrong(tree, f'the attribute schema is "{schema}", known is {known_schema}')
    fill = _string(attributes["fill"])
    library = _optional(attributes, "use_function_lib")
    if fill not in fills:
        raise _wrong(tree, f'the attribute fill is "{fill}", known are {", ".join(fills)}')
    arguments: tuple[str, ...] = ()
    if fill == "plugin" and "use_function_argv" in attributes:
        arguments = _strings(attributes["use_function_argv"])
    return _checked(
        tree,
        Seism(
            _triple(tree, "processor", attributes["processor"]),
            _triple(tree, "domain", attributes["domain"]),
            _integer(tree, "time", attributes["time"]),
            fill,
            library,
            _optional(attributes, "use_function_name"),
            arguments,
        ),
    )


def _from_compound(tree: Tree, attribute: Attribute) -> Seism:
    """The only description in files of the original kernel."""
    values = attribute.values
    needed = {"processor_dims", "domain_dims", "simulation_time"}
    names = set(values.dtype.names or ()) if values is not None else set()
    if values is None or not needed <= names:
        raise _wrong(tree, "simulation_attributes does not have the members it should")
    row: Any = values.reshape(-1)[0]

    def text(name: str) -> str:
        value = row[name] if name in names else b""
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    library = text("use_function_lib")
    return _checked(
        tree,
        Seism(
            _three([int(n) for n in row["processor_dims"]]),
            _three([int(n) for n in row["domain_dims"]]),
            int(row["simulation_time"]),
            "plugin" if library else "rank",
            library,
            text("use_function_name"),
            tuple(text("use_function_argv").split()),
        ),
    )


def _check_same(tree: Tree, plain: Seism, compound: Seism) -> None:
    """A file that describes itself twice has to say the same; the compound's numbers are narrow."""
    pairs: dict[str, tuple[object, object]] = {
        "processor": (plain.processor, compound.processor),
        "domain": (plain.domain, compound.domain),
        "time": (min(plain.steps, _greatest_narrow), compound.steps),
    }
    if plain.fill == "plugin":
        pairs["use_function_lib"] = (plain.library, compound.library)
        pairs["use_function_name"] = (plain.function, compound.function)
        words = " ".join(plain.arguments).split()
        pairs["use_function_argv"] = (words, list(compound.arguments))
    for name, (one, other) in pairs.items():
        if one != other:
            what = f"{one}, in simulation_attributes {other}"
            raise _wrong(tree, f"the attribute {name} is {what}")


def _checked(tree: Tree, run: Seism) -> Seism:
    if min(*run.processor, *run.domain) < 1 or run.steps < 1 or run.elements >= _greatest:
        raise _wrong(tree, f"its attributes are not those of a run: {run.describe()}")
    if run.fill == "plugin" and not (run.library and run.function):
        raise _wrong(tree, "it was filled by a plugin, and does not say by which")
    return run


def _wrong(tree: Tree, what: str) -> TailraceError:
    return TailraceError(
        what,
        where=str(tree.path),
        hint="the file was changed or damaged after the run",
        code=ExitCode.VERIFICATION_FAILED,
    )


def _triple(tree: Tree, name: str, attribute: Attribute) -> Triple:
    values = attribute.values
    if values is None or values.size != 3 or values.dtype.kind not in "iu":
        raise _wrong(tree, f"the attribute {name} is not three whole numbers")
    return _three([int(n) for n in values.reshape(-1)])


def _three(values: list[int]) -> Triple:
    x, y, z = values
    return x, y, z


def _integer(tree: Tree, name: str, attribute: Attribute) -> int:
    values = attribute.values
    if values is None or values.size != 1 or values.dtype.kind not in "iu":
        raise _wrong(tree, f"the attribute {name} is not a whole number")
    return int(values.reshape(-1)[0])


def _strings(attribute: Attribute) -> tuple[str, ...]:
    if attribute.values is None:
        return ()
    found = []
    for value in np.asarray(attribute.values).reshape(-1):
        text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
        found.append(text)
    return tuple(found)


def _string(attribute: Attribute) -> str:
    return (*_strings(attribute), "")[0]


def _optional(attributes: Mapping[str, Attribute], name: str) -> str:
    return _string(attributes[name]) if name in attributes else ""


def _by(extents: tuple[int, ...]) -> str:
    return " x ".join(str(n) for n in extents)
