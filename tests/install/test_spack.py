# SPDX-License-Identifier: Apache-2.0
"""The Spack recipe says what CMake can do: its variants and the CMake options are the same."""

import ast
import re
from pathlib import Path

from conftest import SOURCE

RECIPE = SOURCE / "packaging" / "spack" / "package.py"
# Options that no recipe should offer: where things lie, and how we work on it ourselves.
# How it is built, not what: Spack packages know compilers and dependencies themselves.
NOT_FOR_USERS = {
    "TAILRACE_COMPILER_CACHE",
    "TAILRACE_DEPS_PREFIX",
    "TAILRACE_PRECOMPILE",
    "TAILRACE_SANITIZE",
    "TAILRACE_WERROR",
}
# In Spack the packages mpi and hdf5 always come along: +mpi and +hdf5 would be no choice.
FIXED = {"TAILRACE_MPI", "TAILRACE_HDF5"}


def cmake_options() -> set[str]:
    texts = [path.read_text() for path in (SOURCE / "cmake").glob("*.cmake")]
    texts += [path.read_text() for path in (SOURCE / "src").rglob("CMakeLists.txt")]
    texts.append((SOURCE / "CMakeLists.txt").read_text())
    pattern = (
        r"^\s*(?:option|tailrace_tristate)\((TAILRACE_\w+)"
        r"|^\s*set\((TAILRACE_\w+) [^)]*CACHE (?!INTERNAL)"
    )
    found = {a or b for text in texts for a, b in re.findall(pattern, text, re.MULTILINE)}
    assert "TAILRACE_PLUGINS" in found
    return found


def recipe() -> ast.ClassDef:
    module = ast.parse(RECIPE.read_text())
    return next(node for node in module.body if isinstance(node, ast.ClassDef))


def calls(name: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(recipe())
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == name
    ]


def test_variants_are_the_options() -> None:
    variants = {"TAILRACE_" + ast.literal_eval(call.args[0]).upper() for call in calls("variant")}
    assert variants == cmake_options() - NOT_FOR_USERS - FIXED


def test_every_variant_reaches_cmake() -> None:
    passed = {
        ast.literal_eval(call.args[0]): ast.literal_eval(call.args[1])
        for call in calls("define_from_variant")
    }
    variants = {ast.literal_eval(call.args[0]) for call in calls("variant")}
    assert set(passed.values()) == variants
    assert all(option == "TAILRACE_" + variant.upper() for option, variant in passed.items())
    fixed = {ast.literal_eval(call.args[0]) for call in calls("define")}
    assert fixed >= FIXED


def test_defaults_are_the_same() -> None:
    text = (SOURCE / "cmake" / "TailraceDeps.cmake").read_text()
    on = re.search(r"option\(TAILRACE_PLUGINS \"[^\"]*\" (ON|OFF)\)", text)
    assert on is not None
    plugins = next(call for call in calls("variant") if ast.literal_eval(call.args[0]) == "plugins")
    default = next(
        ast.literal_eval(word.value) for word in plugins.keywords if word.arg == "default"
    )
    assert default == (on[1] == "ON")


def test_version_is_ours() -> None:
    ours = (SOURCE / "VERSION").read_text().strip()
    assert ours in {ast.literal_eval(call.args[0]) for call in calls("version") if call.args}


def test_every_required_package_is_a_dependency() -> None:
    """What cmake cannot do without stands in depends_on, under Spack's names."""
    spack = {
        "fmt": "fmt",
        "nlohmann_json": "nlohmann-json",
        "CLI11": "cli11",
        "tomlplusplus": "tomlplusplus",
        "xxHash": "xxhash",
    }
    required = re.findall(
        r"tailrace_require\((\w+)", (SOURCE / "cmake/TailraceDeps.cmake").read_text()
    )
    depends = {
        re.split(r"[@+~]", ast.literal_eval(call.args[0]))[0] for call in calls("depends_on")
    }
    assert {spack[name] for name in required} | {"mpi", "hdf5"} <= depends


def test_the_recipe_is_where_spack_looks() -> None:
    assert Path(RECIPE).name == "package.py"
    assert recipe().name == "Tailrace"
