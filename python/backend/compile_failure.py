# SPDX-License-Identifier: Apache-2.0
"""Why a compilation failed, from what cmake, ninja and the compiler printed."""

from __future__ import annotations

import re
from pathlib import Path

_debian = "(Debian: apt-get install g++)"


def cause_and_remedy(output: str, root: Path) -> tuple[str, str]:
    """What could not be compiled, by which compiler, and what to do: each one line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", output)
    # Without one the build asks for that which Python was built with.
    named = re.search(r"environment\s+variable\s+CXX:\s+(\S+)\.\s", text)
    if named or "No CMAKE_CXX_COMPILER could be found" in text:
        name = f": {named[1]}" if named else ""
        return f"there was no C++ compiler{name}", f"install one {_debian}, then {_again()}"
    error = _error(text).replace(f"{root}/", "")
    compiler = _compiler(text)
    if "Killed" in error:
        return (
            f"{compiler} was killed in {_object(text)}: too little memory, probably",
            f"one file at a time takes less: {_again('CMAKE_BUILD_PARALLEL_LEVEL=1 ')}",
        )
    remedy = f"{_again(options=' -v')} shows all"
    if "No space left" in text:
        return f"the compilation failed: {error}", f"make room, then {_again()}"
    if _is_too_old(text):
        remedy = f"install GCC 12 or newer and name it: {_again('CXX=g++-12 ')}"
    is_of_compiler = re.search(r"\berror: |cannot find -l|undefined reference", error)
    return f"{compiler if is_of_compiler else 'the compilation'} failed: {error}", remedy


def _again(before: str = "", options: str = "") -> str:
    install = f"pip install{options} --force-reinstall --no-deps ."
    return f"`{before}{install}` in the clone of tailrace"


def _error(text: str) -> str:
    """The first error: of the compiler, of the linker, of cmake; else the last line."""
    for pattern in (
        r"^(\S+:\d+(?::\d+)?: (?:fatal )?error: .+)$",
        r"^(.*(?:Killed signal|cannot find -l|undefined reference).*)$",
        r"^(.*\berror: .+)$",
        r"^CMake Error[^\n]*:\n((?:[ \t][^\n]*\n|\n)+)",
    ):
        if found := re.search(pattern, text, re.MULTILINE):
            return " ".join(found.group(1).split())[:300]
    return (text.strip().splitlines() or ["it said nothing"])[-1].strip()


def _object(text: str) -> str:
    found = re.search(r"^FAILED: (?:\[code=\d+\] )?(\S+)", text, re.MULTILINE)
    return Path(found.group(1)).name.removesuffix(".o") if found else "a file"


def _compiler(text: str) -> str:
    kind = re.search(r"CXX compiler identification is (.+)", text)
    path = re.search(r"Check for working CXX compiler: (\S+)", text)
    names = [found.group(1).strip() for found in (path, kind) if found]
    return f"the C++ compiler {' '.join(names)}".strip()


def _is_too_old(text: str) -> bool:
    found = re.search(r"CXX compiler identification is GNU (\d+)", text)
    return found is not None and int(found.group(1)) < 12
