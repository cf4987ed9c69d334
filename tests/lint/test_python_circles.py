# SPDX-License-Identifier: Apache-2.0
"""No module of the Python package imports in a circle, imports within functions included, and the
check sees one. Imports for the type checker alone do not count."""

import ast
import os
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(os.environ["TAILRACE_SOURCE_DIR"])


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from imported(node)


def imports_of(file: Path) -> Iterator[str]:
    """Modules, or names in them."""
    return imported(ast.parse(file.read_text()))


def circle(root: Path) -> list[str]:
    """Names of the modules of a circle below a folder; empty: there is none."""
    files = {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in root.rglob("*.py")
    }
    arrows: dict[str, set[str]] = {}
    for name, file in files.items():
        found = arrows.setdefault(name, set())
        for one in imports_of(file):
            module = one if one in files else one.rpartition(".")[0]
            if module in files and module != name:
                found.add(module)
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_in_a_circle() -> None:
    assert circle(ROOT / "python") == []


def test_a_circle_is_seen_also_within_a_function(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from two import f\n")
    (tmp_path / "two.py").write_text("def f():\n    import one\n")
    assert set(circle(tmp_path)) == {"one", "two"}
    (tmp_path / "two.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import one\n"
    )
    assert circle(tmp_path) == []
