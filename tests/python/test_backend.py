# SPDX-License-Identifier: Apache-2.0
"""The build of the package where its compiled parts cannot be compiled: it says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python" / "backend"))

from compile_failure import cause_and_remedy  # noqa: E402

# Good enough for cmake's checks, and for nothing else.
COMPILER = """#!/bin/sh
case "$*" in *CMakeScratch*|*CMakeCXXCompilerId*|*--version*|*-print*|*-dumpmachine*)
  exec c++ "$@";;
esac
echo "$PWD/src/core/box.cpp:7:2: error: there is no such type" >&2
exit 1
"""
AGAIN = "pip install --force-reinstall --no-deps ."
BUILD = """
import sys, tailrace_backend
tailrace_backend.build_wheel(sys.argv[1], dict(word.split("=") for word in sys.argv[2:]))
"""
TELL = "import sys; sys.path.insert(0, sys.argv[1]); from tailrace import native; print(*{})"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the package is built from."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("src", "bindings", "cmake", "include", "python"):
        shutil.copytree(SOURCE / name, folder / name)
    for name in ("pyproject.toml", "VERSION", "LICENSE"):
        shutil.copy(SOURCE / name, folder)
    (folder / "c++").write_text(COMPILER)
    (folder / "c++").chmod(0o755)
    return folder


def build(
    clone: Path, target: Path, compiler: str, *words: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CXX": compiler, "PYTHONPATH": str(clone / "python" / "backend")}
    return subprocess.run(
        [sys.executable, "-c", BUILD, target, *words], cwd=clone, env=environment, timeout=100,
        capture_output=True, text=True,
    )  # fmt: skip


def test_a_compilation_that_fails_leaves_a_word(clone: Path, tmp_path: Path) -> None:
    ran = build(clone, tmp_path, str(clone / "c++"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "there is no such type" in ran.stdout  # as it came
    (wheel,) = tmp_path.glob("*.whl")
    told = subprocess.run(
        [sys.executable, "-I", "-c", TELL.format("native.why_missing()"), wheel],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    what = f"the C++ compiler {clone}/c++ GNU"
    where = "box.cpp:7:2: error: there is no such type"
    for text in (ran.stderr, told):
        assert what in text and where in text and "pip install -v" in text


def test_who_asks_for_the_compiled_parts_gets_no_package_without(
    clone: Path, tmp_path: Path
) -> None:
    ran = build(clone, tmp_path, "/absent/c++", "wheel.cmake=true")
    assert ran.returncode == 1 and not list(tmp_path.glob("*.whl"))
    assert not (clone / "python" / "tailrace" / "_not_compiled.py").exists()  # nor an earlier one


FOUND = """-- The CXX compiler identification is GNU {}
-- Check for working CXX compiler: /usr/bin/c++ - skipped
"""


@pytest.mark.parametrize(
    ("output", "cause", "remedy"),
    [
        (
            "CMake Error at CMakeLists.txt:6 (project):\n  No CMAKE_CXX_COMPILER could be found.\n",
            "there was no C++ compiler", "apt-get install g++",
        ),
        (
            "CMake Error at C:6 (p):\n  Could not find compiler set in environment variable "
            "CXX:\n\n    g++.\n\n-- Configuring incomplete, errors occurred!\n",
            "there was no C++ compiler: g++", "apt-get install g++",
        ),
        (
            "CMake Error at C.txt:9 (find_package):\n  Could not find\n  Python.\n\n-- Configuring "
            "incomplete, errors occurred!\n",
            "the compilation failed: Could not find Python.", "pip install -v",
        ),
        (
            FOUND.format("9.4.0") + "/clone/src/a.hpp:3:10: fatal error: span: No such file\n",
            "the C++ compiler /usr/bin/c++ GNU 9.4.0 failed: src/a.hpp:3:10: fatal error: span: No "
            "such file", f"`CXX=g++-12 {AGAIN}`",
        ),
        (
            FOUND.format("12.2.0") + "FAILED: [code=1] x.dir/Unity/unity_3_cxx.cxx.o \n"
            "c++: fatal error: Killed signal terminated program cc1plus\n",
            "the C++ compiler /usr/bin/c++ GNU 12.2.0 was killed in unity_3_cxx.cxx: too little "
            "memory, probably", "CMAKE_BUILD_PARALLEL_LEVEL=1",
        ),
        (
            FOUND.format("12.2.0") + "/usr/bin/ld: cannot find -lxxhash\n"
            "collect2: error: ld returned 1 exit status\n",
            "the C++ compiler /usr/bin/c++ GNU 12.2.0 failed: /usr/bin/ld: cannot find -lxxhash",
            "pip install -v",
        ),
        ("*** CMake build failed\n", "the compilation failed: *** CMake build failed", "-v"),
    ],
)  # fmt: skip
def test_causes(output: str, cause: str, remedy: str) -> None:
    told = cause_and_remedy(output, Path("/clone"))
    assert told[0] == cause and remedy in told[1] and AGAIN.split(" ", 2)[2] in told[1]
